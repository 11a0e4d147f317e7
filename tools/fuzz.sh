#!/usr/bin/env bash
# Runs every fuzz target of the root module, one after the other.
#
#   FUZZTIME=30s tools/fuzz.sh [PACKAGE...]
#
# FUZZ=regex narrows it to matching targets. A failing input is written to the package's
# testdata/fuzz: commit it, it is a regression test from then on.
set -euo pipefail

cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-30s}
wanted=${FUZZ:-.}

targets=()
for package in $(go list "${@:-./...}"); do
	listed=$(go test -list '^Fuzz' "$package") || {
		echo "$listed" >&2
		echo "fuzz: the tests of $package do not compile" >&2
		exit 1
	}
	for name in $(grep '^Fuzz' <<<"$listed" | grep -E "$wanted" || true); do
		targets+=("$package $name")
	done
done

echo "fuzz: ${#targets[@]} targets, $fuzztime each"
number=0
for target in "${targets[@]}"; do
	number=$((number + 1))
	read -r package name <<<"$target"
	echo "== [$number/${#targets[@]}] $(date +%H:%M:%S) $package $name"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" "$package"
done
