#!/bin/bash
# make bench [PARTS="pair burst"] [SIZE=0.001]: prints one table of figures, each beside what others
# reach on this machine.  It installs nothing, and says at the end what is missing.  SIZE scales the
# work; the test run uses it to see that every part still runs.
set -eu -o pipefail
B=$(cd "$B" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
DEFAULT="pair burst sustained order next pdf" # less than ten minutes in all
ALL="$DEFAULT agent agents late resumed atomics races calls context contexts heap meters switches sampling replay waits strips growing path saved why start programs open kinds viewer frames follow log huge"
PARTS=${PARTS:-$DEFAULT}
[ "$PARTS" = all ] && PARTS=$ALL
SIZE=${SIZE:-1}
for part in $PARTS; do
    case " $ALL " in *" $part "*) ;; *) echo "make bench: no part is called $part; there are: $ALL"; exit 2 ;; esac
done

work=$(mktemp -d "${TMPDIR:-/tmp}/poet-bench.XXXXXX")
started= # processes to end
stop() {
    for pid in $started; do kill "$pid" 2>/dev/null || :; wait "$pid" 2>/dev/null || :; done
    started=
    return 0
}
trap 'stop; rm -rf "$work"' EXIT
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work" HOME="$work" PATH="$B/bin:$PATH" POET_QUIET=1 POET_PREPARE_REPORT=0
unset POET_SERVER POET_RUN POET_KEEP POET_OUTPUT POET_MAX_STALL_MS
cd "$work"

# ---- what the parts share ----
missing=
lacks() { missing="$missing; $1"; } # lacks WHAT: a reference, or a part, that cannot be had here
row() { printf '%-46s %-40s %s\n' "$1" "$2" "${3-}"; } # row FIGURE HERE [BESIDE]
calc() { perl -e 'printf $ARGV[0], eval($ARGV[1]) // 0' -- "$1" "$2"; } # calc FORMAT EXPRESSION
scaled() { calc %.0f "$1 * $SIZE > 10 ? $1 * $SIZE : 10"; }
now() { date +%s.%N; }
median() { # median COMMAND...: of five runs; of one where the work is scaled down
    local runs=5
    [ "$SIZE" = 1 ] || runs=1
    for _ in $(seq $runs); do
        "$@"
        rm -f runs/*.poet
    done | sort -n | sed -n "$((runs / 2 + 1))p"
}
serve() { # a server of our own, traces in runs/
    poet server -q -o runs/ 2>>server.log &
    started="$started $!"
    for _ in $(seq 1200); do poet runs >/dev/null 2>&1 && return 0; sleep 0.05; done
    return 1
}
figure() { poet stat --json "$1" | perl -ne "print \$1 if /\"$2\":\"?([^,\"}]*)/"; }
until_ordered() { until [ "$(figure "$1" finished 2>/dev/null)" = true ]; do sleep 0.05; done; }
on_disk() { du -B1 --apparent-size "$@" | cut -f1; }

. "$here/programs.sh"
. "$here/order.sh"
. "$here/view.sh"
. "$here/waits.sh"
. "$here/calls.sh"
. "$here/atomics.sh"
. "$here/races.sh"
. "$here/meters.sh"
. "$here/agent.sh"
. "$here/resumed.sh"
. "$here/heap.sh"
. "$here/sampling.sh"
. "$here/replay.sh"

echo "$(nproc) cores, $(sed -n 's/model name.*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg)"
row FIGURE HERE "BESIDE IT"
for part in $PARTS; do
    "part_$part"
    stop
    rm -rf runs run/poet.sock
done
[ -z "$missing" ] || echo "missing here: ${missing#; }"
