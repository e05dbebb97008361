#!/bin/sh
# Installs the packages of a list that are missing, as root or through sudo; where none is missing it
# does nothing and asks nobody.
set -u
if ! command -v dpkg-query >/dev/null; then
    echo "no Debian here: what is needed is named, by Debian's names, in $1" >&2
    exit 0
fi
wanted=$(grep -v '^#' "$1")
there=$(dpkg-query -W -f '${Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/.* ok installed //p')
missing=
for package in $wanted; do
    printf '%s\n' "$there" | grep -qxF "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "These packages are missing; install them with:" >&2
    echo "  su -c 'apt-get update && apt-get install -y$missing'" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "apt-get failed: install them yourself:$missing" >&2
    exit 1
fi
rm -f "$log"
