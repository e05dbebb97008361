#!/bin/bash
# The steps of docs/adapting.md work literally, and so does the client that uses no library.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
block() { # block LANGUAGE N: the text of the Nth code block in that language
    awk -v begin="\`\`\`$1" -v n="$2" '$0 == begin { on = ++seen == n; next } $0 == "```" { on = 0 } on' \
        "$root/docs/adapting.md"
}
block conf 1 >channel.conf
block c 1 >channel.h
block c 2 >channel.c
block c 3 >sum.c
block sh 1 >channel.t
mkdir -p conf && mv channel.conf conf/
export POET_CONFIG="$work/conf"
check "the description of docs/adapting.md is valid" poet check conf/channel.conf
cc -c -I"$(dirname "$(command -v poet)")/../include" -Wall -Wextra -Werror channel.c || not_ok "the library of docs/adapting.md compiles"
poetcc -trace -g -Wall -Wextra -Werror sum.c channel.o -o channel || not_ok "the program of docs/adapting.md compiles"
is "the program of docs/adapting.md prints its result" "$(POET_OUTPUT=channel.poet ./channel)" 15
check "the program of docs/adapting.md: the trace is sound" sound channel.poet
check "the test of docs/adapting.md passes" timeout 300 sh channel.t
is "six receives are paired with their sends" \
    "$(poet dump --json channel.poet | grep -c '"type":"receive".*"relation":"async","partner":"')" 6
like "the wait event refers to the channel" "$(poet dump --json channel.poet)" '"kind":"channel".*"name":"sums"'
unset POET_CONFIG

# ---- a client that uses the protocol alone ----
start_server -o python.poet -q
check "the client in Python runs" python3 "$root/examples/python/events.py"
check "the client in Python: the trace is sound" sound latest
poet show latest --labels name --footnotes >show.txt
is "the client in Python: two lines" "$(grep -c '^A:' show.txt)" 2
is "the client in Python: one actor is destroyed early" "$(poet dump --json latest | grep '"type":"destroyed"' | head -n 1 | grep -o '"event":"1:[0-9]*"')" '"event":"1:9"'
like "the client in Python: each throw is before its catch" "$(poet dump --json latest)" '"type":"receive".*"relation":"async","partner":"1:2"'
like "the client in Python: an event has its annotation" "$(cat show.txt)" "the first throw"
is "events after another actor's end are concurrent with it" "$(poet order latest 1:9 2:10)" concurrent
stop_server
done_testing
