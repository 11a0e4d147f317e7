// Package postgres holds the tests of sluice's database guard on a real PostgreSQL:
// what counts is what the server itself has seen.
package postgres
