#!/bin/bash
# docs/adapting.md does what it says, letter by letter; so does the client without a library.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
block() { # LANGUAGE N: the text of the Nth code block in it
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
check "the description is good" poet check conf/channel.conf
cc -c -I"$(dirname "$(command -v poet)")/../include" -Wall -Wextra -Werror channel.c || not_ok "the library compiles"
poetcc -trace -g -Wall -Wextra -Werror sum.c channel.o -o channel || not_ok "and links"
is "it runs" "$(POET_OUTPUT=channel.poet ./channel)" 15
check "its trace is sound" sound channel.poet
check "its own test passes" timeout 300 sh channel.t
is "six receives have their sends" \
    "$(poet dump --json channel.poet | grep -c '"type":"receive".*"relation":"async","partner":"')" 6
like "waiting is about a channel" "$(poet dump --json channel.poet)" '"kind":"channel".*"name":"sums"'
unset POET_CONFIG

# ---- by the protocol alone ----
start_server -o python.poet -q
check "a client in Python" python3 "$root/examples/python/events.py"
check "is sound" sound latest
poet show latest --labels name --footnotes >show.txt
is "two lines" "$(grep -c '^A:' show.txt)" 2
is "one ends early" "$(poet dump --json latest | grep '"type":"destroyed"' | head -n 1 | grep -o '"event":"1:[0-9]*"')" '"event":"1:9"'
like "each throw is before its catch" "$(poet dump --json latest)" '"type":"receive".*"relation":"async","partner":"1:2"'
like "named events, later too" "$(cat show.txt)" "the first throw"
is "what comes after the other's end is concurrent with it" "$(poet order latest 1:9 2:10)" concurrent
stop_server
done_testing
