module github.com/sluice-limiter/sluice/contrib/rulefile

go 1.26.0

require (
	github.com/expr-lang/expr v1.17.8
	github.com/fsnotify/fsnotify v1.10.1
	github.com/goccy/go-yaml v1.19.2
	github.com/google/jsonschema-go v0.4.3
	github.com/sluice-limiter/sluice v0.0.0
	go.uber.org/goleak v1.3.0
)

require golang.org/x/sys v0.13.0 // indirect

replace github.com/sluice-limiter/sluice => ../../
