module github.com/sluice-limiter/sluice/contrib/rueidis

go 1.26.0

replace github.com/sluice-limiter/sluice => ../../

require (
	github.com/redis/rueidis v1.0.79
	github.com/sluice-limiter/sluice v0.0.0-00010101000000-000000000000
)

require golang.org/x/sys v0.47.0 // indirect
