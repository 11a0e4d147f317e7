//go:build race

package httplimit_test

const counted = false
