#!/bin/bash
# make demo-cluster: records a run of three hosts over NATS, and leaves nothing behind, even if it is interrupted.
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
like "demo-cluster: the output names the trace and the picture" "$said" "^demo-cluster: cluster.poet, drawn in cluster.pdf"
like "demo-cluster: the output contains the diagram as text" "$said" "A:host3 "
check "demo-cluster: the trace passes poet check" sound cluster.poet
is "demo-cluster: the trace has three hosts" "$(poet stat --json cluster.poet | grep -o '"host":"[^"]*","first"' | sort -u | wc -l)" 3
is "demo-cluster: 24 received messages have their sends" "$(poet dump --json cluster.poet | grep '"type":"receive"' | grep -vc '"partner":null')" 24
like "demo-cluster: the picture is a PDF file" "$(head -c 5 cluster.pdf)" '%PDF-'
is "demo-cluster: no temporary files remain" "$(ls -A tmp)" ""
rm cluster.*

# Press Ctrl-C once the agents are running.
TMPDIR="$work/tmp" B="$B" env --default-signal=INT "$root/tests/democluster.sh" >interrupted 2>&1 &
demo=$!
pids="$pids $demo"
there() { ls tmp/poet-cluster.*/1.sock; }
until_true there
kill -INT $demo
wait $demo
is "interrupted demo-cluster: the exit status is 130" $? 130
none() { [ -z "$(own_processes)$(ls -A tmp)" ]; }
check "interrupted demo-cluster: no process and no temporary file remains" until_true none
is "interrupted demo-cluster: no files remain in the current directory" "$(ls | grep -c cluster)" 0
done_testing
