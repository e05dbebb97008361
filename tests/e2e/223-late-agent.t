#!/bin/bash
# An agent that is slower than another one, or than a program of the server's own host: what its programs sent is known
# to those that received it, although they have long ended.
. "$(dirname "$0")/lib.sh"

if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
    done_testing
    exit 0
fi
cat >half.c <<'C'
/* half send|receive: one half of a hundred messages */
#include <poet.h>
#include <string.h>
int main(int argc, char **argv)
{
    int sends = argc > 1 && strcmp(argv[1], "send") == 0;
    poet_environment("actors");
    poet_line_t line = poet_line("actor", argv[argc - 1], NULL, 0);
    poet_type_t type = poet_type(argv[argc - 1], NULL);
    poet_event(line, poet_type("created", NULL), 0, 0);
    for (int i = 0; i < 100; i++)
        sends ? poet_send_key(line, type, 7, (uint64_t)i) : poet_receive_key(line, type, 7, (uint64_t)i);
    poet_event(line, poet_type("destroyed", NULL), 0, POET_CLOSES);
    return 0;
}
C
poetcc -trace -g half.c -o half 2>compile.log || { not_ok "half.c compiles" "$(cat compile.log)"; done_testing; exit 1; }

poet key >/dev/null
far=$(free_port)
slow=$(free_port)
python3 "$root/tests/e2e/proxy.py" $slow $far wire.log 2>proxy.err &
proxy=$!
pids="$pids $proxy"
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
server=$!
pids="$pids $server"
until_true poet runs "unix:$work/server.sock"
agent() { # agent NAME PORT
    poet server --to "poet://127.0.0.1:$2" -l "unix:$work/$1.sock" -o "$1-kept/" 2>>"$1.log" &
    pids="$pids $!"
    until_true grep "connected to" "$1.log"
}
agent late $slow
agent early $far
half() { POET_SERVER="unix:$work/$1.sock" POET_RUN="$2" POET_QUIET=1 ./half "$3"; }
listed() { poet runs "unix:$work/server.sock" | grep " $1 "; }
received() { [ "$(figure "unix:$work/server.sock#$1" pending)" -ge 100 ]; }
# Nothing of the late agent arrives before all of the receiver is there.
late_by() { # late_by RUN RECEIVER
    stop_process $proxy
    half late "$1" send
    half "$2" "$1" receive
    check "$1: the receives wait for their sends" until_true received "$1"
    # The receiver has hung up, and what another agent says now comes after that.
    half "${3:-early}" "other-$1" receive
    until_true received "other-$1"
    like "$1: the run has not ended" "$(listed "$1")" " live "
    kill -CONT $proxy
    until_true finished served/"$1"-*.poet
    check "$1: the trace is sound" sound served/"$1"-*.poet
    is "$1: each receive has its send" \
        "$(poet dump --json served/"$1"-*.poet | json '[.[] | select(.type == "receive")] | "\(length) \([.[] | select(.partner != null)] | length)"')" "100 100"
    is "$1: nothing is uncertain" "$(figure served/"$1"-*.poet uncertain)" 0
}
late_by agents early
late_by local server
done_testing
