package rulefile

import _ "embed"

//go:embed rules.schema.json
var schema []byte

// Schema returns the JSON schema of rule files, for editors: put a copy beside the
// rules and begin them with the line
//
//	# yaml-language-server: $schema=rules.schema.json
//
// It covers what a schema can; Load finds more.
func Schema() []byte { return append([]byte(nil), schema...) }
