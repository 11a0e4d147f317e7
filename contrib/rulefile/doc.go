// Package rulefile reads rules from YAML: from one file or a directory, strictly, with
// the place of everything that is wrong; and watches them for changes.
//
// A file holds rules, what happens to requests that none of them matches, and tests of
// its own:
//
//	default: allow
//	rules:
//	  - name: login
//	    match: {methods: [POST], paths: [/login]}
//	    key: [ip]
//	    limits: [5/m, 50/h]
//	tests:
//	  - name: the sixth attempt of a minute is refused
//	    steps:
//	      - {request: POST /login ip=192.0.2.1, repeat: 5, expect: allow}
//	      - {request: POST /login ip=192.0.2.1, expect: deny, retry_after: 12s}
//
// [Load] reads and compiles, [RunTests] runs the tests on a virtual clock, [Watch] does
// the former again after every change. docs/RULES.md tells of every field, and [Schema]
// tells editors. The folder example holds a server that puts all of it together.
package rulefile
