module github.com/sluice-limiter/sluice/e2e

go 1.26.0

replace github.com/sluice-limiter/sluice => ../

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/sluice-limiter/sluice v0.0.0-00010101000000-000000000000
)
