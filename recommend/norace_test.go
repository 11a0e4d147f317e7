//go:build !race

package recommend

const raced = false
