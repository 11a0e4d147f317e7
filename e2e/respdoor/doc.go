// Package respdoor holds tests that ask a real server through real Redis clients:
// redis-cli, redis-benchmark, go-redis, rueidis, and those of other languages.
package respdoor
