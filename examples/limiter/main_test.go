package main

import "testing"

func TestMainEnds(*testing.T) { main() }
