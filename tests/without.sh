#!/bin/sh
# make check-without: builds Poet without the libraries for remote connections; checks that make and
# the server report what is missing, and that local programs are recorded.
root=$(cd "$(dirname "$0")/.." && pwd)
all=${B:-$root/build}
count=0
result() { # result NAME STATUS DETAILS
    count=$((count + 1))
    [ "$2" = 0 ] && echo "ok $count - $1" && return
    echo "not ok $count - $1"
    echo "$3" | sed 's/^/# /'
}
like() { result "$1" "$(printf '%s\n' "$2" | grep -Eq -- "$3"; echo $?)" "$2"; } # like NAME TEXT PATTERN
work=$(mktemp -d "${TMPDIR:-/tmp}/poet-without.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset POET_SERVER POET_RUN MAKEFLAGS MAKELEVEL
export HOME="$work" XDG_RUNTIME_DIR="$work"
# without NAME VARIABLE NOT-BUILT LIBRARY OPTIONS...
without() {
    name=$1 variable=$2 left=$3 library=$4
    shift 4
    built=$(make -C "$root" --no-print-directory -j2 B="$all/without-$name" "$variable=no" 2>&1)
    result "$variable=no: built" $? "$built"
    like "$variable=no: make reports what is not built" "$built" "^not built: $left"
    for said; do
        like "$variable=no: $said: one line" "$("$all/without-$name/bin/poet" server -q -l "unix:$work/s" $said 2>&1)" "^poet server: this Poet was built without $library"
    done
    (cd "$work" && "$all/without-$name/bin/poetcc" -trace "$root/examples/prodcons.c" -o prodcons -pthread && POET_KEEP=1 ./prodcons && "$all/without-$name/bin/poet" check ./prodcons.*.poet) >"$work/log" 2>&1
    result "$variable=no: a program is recorded" $? "$(cat "$work/log")"
    rm -f "$work"/prodcons*
}
without far HAVE_FAR "remote connections" "GnuTLS and zstd" "--to nats://x" "--from nats://x#run" "--to poet://127.0.0.1:1" "-l poet://127.0.0.1:1"
without nats HAVE_NATS "NATS" "libnats" "--to nats://x" "--from nats://x#run"
echo "1..$count"
