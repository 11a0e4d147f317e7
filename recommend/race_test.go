//go:build race

package recommend

// raced: everything takes ten times as long.
const raced = true
