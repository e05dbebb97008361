#!/bin/bash
# Bursts: what a pair of lock and unlock takes, traced, at full rate, and how far the order was behind.
# B=build tests/bench/burst.sh [THREADS [SECONDS]]
set -eu
B=$(cd "${B:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
threads=${1:-1} seconds=${2:-3}
work=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work" PATH="$B/bin:$PATH" POET_WAIT_MS=10000
cd "$work"
poetcc -trace -O2 "$here/burst.c" -o traced
poetcc -O2 "$here/burst.c" -o plain -pthread
poet server -q -o burst.poet &
server=$!
for _ in $(seq 100); do [ -S run/poet.sock ] && break; sleep 0.05; done
figure() { poet stat --json "unix:$XDG_RUNTIME_DIR/poet.sock" | sed -n "s/.*\"$1\":\"*\\([^,\"}]*\\).*/\\1/p"; }
echo "load before: $(cut -d' ' -f1-2 /proc/loadavg)"
echo "untraced: $(./plain "$threads" 1) (ns a pair, pairs)"
begin=$(date +%s.%N)
out=$(./traced "$threads" "$seconds")
end=$(date +%s.%N)
echo "traced:   $out"
echo "when it ended: $(figure events) events ordered, journal ahead by $(figure journal_ahead_bytes) bytes, behind by $(figure behind_ns) ns, made to wait $(figure waited_ns) ns"
until [ "$(figure finished)" = true ]; do sleep 0.2; done
done=$(date +%s.%N)
echo "all:      $(figure events) events, $(figure lost) lost; $(du -k burst.poet | cut -f1) KiB on disk"
perl -e 'my ($b, $e, $d, $n) = @ARGV; printf "taken at %.1f M events/s; all ordered %.1f s after the end: %.1f x the run, %.1f M events/s\n",
    $n / ($e - $b) / 1e6, $d - $e, ($d - $b) / ($e - $b), $n / ($d - $b) / 1e6' "$begin" "$end" "$done" "$(figure events)"
