package lint

import "testing"

func TestSnippets(t *testing.T) {
	code := "package a\n\nfunc f() {\n\tif true {\n\t\tg()\n\t}\n}\n"
	page := "text\n\n```go\nif true {\n\tg()\n}\n```\n\n```\nnot Go\n```\n"
	expect(t, tree{"examples/a/a.go": code, "docs/A.md": page})
	expect(t, tree{"examples/a/a.go": code, "docs/A.md": page + "```go\nh()\n```\n"},
		"docs/A.md:12: stands in no Go file")
	expect(t, tree{"examples/a/a.go": code, ".hidden/A.md": "```go\nh()\n```\n"})
}
