#!/usr/bin/env bash
# Installs Debian packages whose command is missing; does nothing when all are there.
#
#   tools/install-debian.sh gcc libc6-dev postgresql
#
# A package is there when the command of the same name is, or the command after "=".
# Packages without a command in PATH (libc6-dev, ca-certificates, postgresql) have a probe of their own below;
# libraries of other languages (python3-redis, php-redis) are there when Debian's package manager says so.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)

# have_libc_headers tells whether the C compiler finds the C library's headers.
have_libc_headers() {
	echo '#include <stdlib.h>' | "${CC:-cc}" -E - >/dev/null 2>&1 ||
		echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1
}

# have_certificates looks where Go looks for the roots of trust.
have_certificates() {
	[ -n "${SSL_CERT_FILE:-}" ] || [ "$(uname -s)" != Linux ] ||
		[ -s /etc/ssl/certs/ca-certificates.crt ] || [ -s /etc/pki/tls/certs/ca-bundle.crt ] ||
		[ -s /etc/ssl/ca-bundle.pem ] || [ -s /etc/ssl/cert.pem ]
}

# have_postgresql looks for the server, whose commands are not in PATH.
have_postgresql() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

# present PKG[=COMMAND] tells whether nothing needs to be installed.
present() {
	case $1 in
	libc6-dev) have_libc_headers ;;
	ca-certificates) have_certificates ;;
	postgresql) have_postgresql ;;
	python3-* | ruby-* | php-redis | node-*) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$' ;;
	*=*) command -v "${1#*=}" >/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# list_missing PKG... sets the array "missing" to the packages that are not present.
list_missing() {
	missing=()
	local item
	for item in "$@"; do
		present "$item" || missing+=("${item%%=*}")
	done
}

# give_up REASON ends with a message that a person can act on.
give_up() {
	{
		echo "install-debian: missing: ${missing[*]}"
		echo "install-debian: $1"
		echo "install-debian: install the packages above (or what your system calls them) and run again"
	} >&2
	exit 1
}

list_missing "$@"
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get >/dev/null || give_up "there is no apt-get here, so they cannot be installed for you"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || give_up "this is neither root nor is there a sudo to become root"
	as_root=(sudo)
fi
# "env" carries the setting through sudo, which drops the caller's environment.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q)

echo "install-debian: installing ${missing[*]}"
"$here/retry.sh" "${apt[@]}" update </dev/null || give_up "apt-get update failed; is the network there?"
"$here/retry.sh" "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null ||
	give_up "apt-get install failed; its message stands above"

list_missing "$@"
[ ${#missing[@]} -eq 0 ] || give_up "they were installed, but their command is still not found in PATH"
