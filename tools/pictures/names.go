package main

import "strings"

// name returns the algorithm of a limit that is written out.
func name(limit string) string {
	name, _, _ := strings.Cut(limit, " ")
	return name
}
