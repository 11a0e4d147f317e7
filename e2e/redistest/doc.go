// Package redistest starts real Redis servers for tests: a standalone server, a
// master and its replica under three Sentinels, a Cluster. They listen on free
// ports of this machine, keep their files in the test's temporary folder, and are
// gone when the test is over, also if it fails or the whole process is killed.
// When a test fails, the ends of its servers' logs are printed.
//
// A missing redis-server fails the test: what was not tested is not right.
package redistest
