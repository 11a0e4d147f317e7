module github.com/sluice-limiter/sluice

go 1.26.0
