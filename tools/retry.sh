#!/usr/bin/env bash
# Runs a command up to three times, with a growing pause between the tries.
#
#   tools/retry.sh go mod download
#
# For commands that talk to a network, where one refusal means little.
# RETRY_TRIES and RETRY_PAUSE (seconds) change the defaults 3 and 3.
set -uo pipefail

tries=${RETRY_TRIES:-3}
pause=${RETRY_PAUSE:-3}

for ((try = 1; ; try++)); do
	"$@" && exit 0
	code=$?
	if ((try >= tries)); then
		echo "retry: '$*' failed $tries times, giving up (exit code $code)" >&2
		exit "$code"
	fi
	echo "retry: '$*' failed (exit code $code), try $((try + 1)) of $tries in $((pause * try)) s" >&2
	sleep "$((pause * try))"
done
