module github.com/sluice-limiter/sluice/contrib/client

go 1.26.0
