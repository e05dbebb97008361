#!/bin/sh
# make demo-cluster: three machines, NATS between them; and nothing of it is left, also when it is interrupted.
. "$(dirname "$0")/lib.sh"

mkdir tmp
unset DISPLAY WAYLAND_DISPLAY
said=$(TMPDIR="$work/tmp" B="$B" "$root/tests/democluster.sh" 2>&1)
case $said in
*"demo-cluster: skipped: "*)
    skip "${said##*skipped: }"
    done_testing
    exit 0
    ;;
esac
like "it says where the picture is" "$said" "^demo-cluster: cluster.poet, drawn in cluster.pdf"
like "and shows it in words" "$said" "A:host3 "
check "the trace is sound" sound cluster.poet
is "three hosts" "$(poet stat --json cluster.poet | grep -o '"host":"[^"]*","first"' | sort -u | wc -l)" 3
is "every word that came was sent" "$(poet dump --json cluster.poet | grep '"type":"receive"' | grep -vc '"partner":null')" 24
like "a picture" "$(head -c 5 cluster.pdf)" '%PDF-'
is "nothing is left" "$(ls -A tmp)" ""
rm cluster.*

# Ctrl-C, once its agents are there
TMPDIR="$work/tmp" B="$B" perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$root/tests/democluster.sh" >interrupted 2>&1 &
demo=$!
pids="$pids $demo"
there() { ls tmp/poet-cluster.*/1.sock; }
until_true there
kill -INT $demo
wait $demo
is "interrupted" $? 130
none() { [ -z "$(own_processes)$(ls -A tmp)" ]; }
check "nothing runs on, nothing is left" until_true none
is "nor anything where it was started" "$(ls | grep -c cluster)" 0
done_testing
