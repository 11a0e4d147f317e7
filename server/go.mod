module github.com/sluice-limiter/sluice/server

go 1.26.0

require (
	github.com/prometheus/client_golang v1.25.0
	github.com/redis/rueidis v1.0.79
	github.com/rogpeppe/go-internal v1.16.0
	github.com/sluice-limiter/sluice v0.0.0
	github.com/sluice-limiter/sluice/contrib/client v0.0.0
	github.com/sluice-limiter/sluice/contrib/prometheus v0.0.0
	github.com/sluice-limiter/sluice/contrib/rueidis v0.0.0
	github.com/sluice-limiter/sluice/contrib/rulefile v0.0.0
	github.com/spf13/cobra v1.10.2
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.48.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/kylelemons/godebug v1.1.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/tools v0.26.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/sluice-limiter/sluice => ../
	github.com/sluice-limiter/sluice/contrib/client => ../contrib/client
	github.com/sluice-limiter/sluice/contrib/prometheus => ../contrib/prometheus
	github.com/sluice-limiter/sluice/contrib/rueidis => ../contrib/rueidis
	github.com/sluice-limiter/sluice/contrib/rulefile => ../contrib/rulefile
)
