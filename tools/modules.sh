#!/usr/bin/env bash
# Prints the folders of all modules that go.work uses, one per line, the root as ".".
set -euo pipefail

cd "$(dirname "$0")/.."
awk '
	{ sub(/\/\/.*/, "") }
	$1 == "use" && $2 == "(" { block = 1; next }
	block && $1 == ")" { block = 0; next }
	$1 == "use" { print clean($2); next }
	block && NF { print clean($1) }
	function clean(dir) { gsub(/"/, "", dir); sub(/^\.\//, "", dir); return dir }
' go.work
