#!/usr/bin/env bash
# Runs a command in every module of go.work that has packages, and stops at the first failure.
#
#   tools/each.sh go vet ./...
#
# MODULES="a b" narrows it to these folders. Modules without packages are passed over,
# because the go command calls an empty "./..." an error.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
modules=${MODULES:-$("$root/tools/modules.sh")}

for module in $modules; do
	cd "$root/$module"
	if [ -z "$(go list -e ./... 2>/dev/null)" ]; then
		echo "== $module: no packages"
		continue
	fi
	echo "== $module: $*"
	"$@" || {
		code=$?
		echo "each: '$*' failed in module $module (exit code $code)" >&2
		exit "$code"
	}
done
