module github.com/sluice-limiter/sluice/e2e

go 1.26.0

replace (
	github.com/sluice-limiter/sluice => ../
	github.com/sluice-limiter/sluice/contrib/goredis => ../contrib/goredis
	github.com/sluice-limiter/sluice/contrib/rueidis => ../contrib/rueidis
)

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/goccy/go-yaml v1.19.2
	github.com/google/jsonschema-go v0.4.3
	github.com/lib/pq v1.12.3
	github.com/redis/go-redis/v9 v9.23.0
	github.com/redis/rueidis v1.0.79
	github.com/sluice-limiter/sluice v0.0.0-00010101000000-000000000000
	github.com/sluice-limiter/sluice/contrib/goredis v0.0.0-00010101000000-000000000000
	github.com/sluice-limiter/sluice/contrib/rueidis v0.0.0-00010101000000-000000000000
	go.uber.org/goleak v1.3.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
