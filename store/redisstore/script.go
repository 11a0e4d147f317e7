package redisstore

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by their SHA-1
	"embed"
	"encoding/hex"
	"strings"
	"sync"
)

//go:embed lua/*.lua
var files embed.FS

// source is the one script that does everything.
type source struct {
	text string
	sha  string
}

// script joins the files: main.lua names those that come in.
var script = sync.OnceValue(func() source {
	text := include("main.lua")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	return source{text, hex.EncodeToString(sum[:])}
})

// include returns a file with all that it includes.
func include(name string) string {
	text, err := files.ReadFile("lua/" + name)
	if err != nil {
		panic("redisstore: " + err.Error()) // a file that is missing here was missing when this was built
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if other, ok := strings.CutPrefix(strings.TrimSpace(line), "--include "); ok {
			b.WriteString(include(other))
		} else {
			b.WriteString(line)
		}
	}
	return b.String()
}
