//go:build race

package algotest

func init() { slow = 5 }
