#!/bin/bash
# Prints figures: medians of five runs, with a bare ring buffer and an untraced run beside.
set -eu
B=$(cd "$B" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work" PATH="$B/bin:$PATH"
cd "$work"
server=
if [ "${VIEW-}" = only ]; then
    . "$here/view.sh"
    exit
fi
poetcc -trace -O2 "$here/bench.c" -o traced
poetcc -O2 "$here/bench.c" -o plain -pthread
poet server -q -o runs/ &
server=$!
for _ in $(seq 100); do [ -S run/poet.sock ] && break; sleep 0.05; done
median() { for _ in 1 2 3 4 5; do "$@"; rm -f runs/*.poet; done | sort -n | sed -n 3p; }
echo "machine: $(nproc) cores, $(sed -n 's/model name.*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg)"
ring=$(median ./plain 0 5000000)
echo "bare ring buffer with clock_gettime           $ring ns a record"
for threads in 1 2 4; do
    n=$((800000 / threads))
    untraced=$(median ./plain $threads $n)
    traced=$(median ./traced $threads $n)
    perl -e 'my ($t, $u, $v, $r) = @ARGV; my $add = $v - $u;
        printf "lock/unlock pair, %d thread%s             %.1f ns untraced, +%.1f ns traced (5 events, %.1f ns an event, %.1f x ring)\n",
               $t, $t > 1 ? "s" : " ", $u, $add, $add / 5, $add / 2 / $r' $threads "$untraced" "$traced" "$ring"
done
. "$here/peers.sh"
off=$(POET_SERVER=none median ./traced 1 800000)
echo "the same, POET_SERVER=none                    $off ns a pair"
./traced 2 1000000 >/dev/null
until poet stat --json latest | grep -q '"finished":true'; do sleep 0.05; done
perl -e 'printf "2 threads at full rate, 2 000 000 pairs        made to wait: %s\n", $ARGV[0]' \
    "$(poet stat latest | sed -n 's/^made to wait *//p')"
file=$(ls -t runs/*.poet | head -n 1)
perl -MTime::HiRes=time -e 'my ($f) = @ARGV; my $t = time; my $s = `poet stat --json $f`; my ($n) = $s =~ /"events":(\d+)/; my $d = time - $t;
    printf "opening a file of %d events, its figures   %.0f ms, %.1f bytes an event on disk\n", $n, 1e3 * $d, (-s $f) / $n' "$file"
rm -f runs/*.poet

# Eight programs at once.
begin=$(date +%s.%N)
for _ in 1 2 3 4 5 6 7 8; do ./traced 1 250000 >/dev/null & eight="${eight-} $!"; done
wait $eight
until [ "$(for f in runs/*.poet; do poet stat --json "$f"; done | grep -c '"finished":true')" = 8 ]; do sleep 0.05; done
perl -e 'printf "8 programs at full rate, 10 000 000 events      %.1f M events/s until all is stored\n", 10 / ($ARGV[1] - $ARGV[0])' "$begin" "$(date +%s.%N)"
kill $server
wait $server || true
rm -f runs/*.poet

# The order alone, at scale.
for what in "uniform 0.01" "torus 0.01" "clustered 0.01" "ring 0.01" "monitors 0.01" "semaphores 0"; do
    set -- $what
    "$B/tests/scale" "$1" 10000 "${EVENTS:-10000000}" "$2"
done
"$B/tests/scale" uniform 1000 "${EVENTS:-10000000}" 0.01

# A log of 30 000 events to a picture.
perl -e 'srand 3; my (@c, @in); for my $i (1 .. 30000) { my $h = int rand 20; $c[$h][$h]++; my $t = "local";
    if (@{$in[$h] || []} && rand() < 0.6) { my $m = shift @{$in[$h]}; for (0 .. 19) { $c[$h][$_] = $m->[$_] if ($m->[$_] || 0) > ($c[$h][$_] || 0) } $t = "receive" }
    elsif (rand() < 0.6) { push @{$in[int rand 20]}, [@{$c[$h]}]; $t = "send" }
    print "$t\nhost$h {", join(", ", map { "\"host$_\": $c[$h][$_]" } grep { $c[$h][$_] } 0 .. 19), "}\n" }' >big.log
perl -MTime::HiRes=time -e 'my $t = time; system("poet import shiviz big.log -o big.poet 2>/dev/null && poet export big.poet -o big.png --all --width 3000mm") == 0 or die;
    printf "log of 30 000 events to a picture (PNG)         %.2f s\n", time - $t'

# The viewer.  `make bench VIEW=only` runs this part alone.
. "$here/view.sh"
