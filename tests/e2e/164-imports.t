#!/bin/sh
# poet import reads logs as they are found: with their expression in the first lines, with clocks first, several of one
# execution, and with bytes that are no text; what cannot be written is said.
. "$(dirname "$0")/lib.sh"
printf 'p {"p":1}\nfirst\np {"p":2}\nsecond\n' >bare.log
{ printf '(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n' && cat bare.log; } >headed.log
printf 'q {"q":1}\nbegin\nq {"q":2, "p":1}\nend\000here\n' >other.log
for log in bare headed; do
    is "$log: read" "$(poet import shiviz $log.log -o $log.poet 2>&1)" "$log.poet: 2 events of 1 host"
    is "$log: each event with its text" "$(poet dump $log.poet | sed 's/.*"\(.*\)"/\1/' | tr '\n' ' ')" "first second "
done
is "standard input" "$(poet import shiviz - -o in.poet <headed.log 2>&1)" "in.poet: 2 events of 1 host"
is "several logs of one execution" "$(poet import shiviz headed.log other.log -o two.poet 2>&1)" "two.poet: 4 events of 2 hosts"
like "which meet" "$(poet dump two.poet)" '^1:1 .* H:p <> 2:2 "first"'
like "a byte 0 ends no text" "$(poet dump two.poet)" '"end␀here"'
check "that trace is sound" sound two.poet
printf '(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n^=== (?<trace>.*) ===$\n=== one ===\n' >runs.log
{ cat bare.log && echo '=== two ===' && cat bare.log; } >>runs.log
is "what stands between executions is in the second line" "$(poet import shiviz runs.log -o runs.poet 2>&1)" "runs.poet: 2 events of 1 host, one
runs-2.poet: 2 events of 1 host, two"
said=$(poet import shiviz bare.log -o x.poet --parser '(?<event>.*)\n(?<host>\S*) (?<clock>{.*})' 2>&1)
like "an expression that does not fit: another is named" "$said" \
    '^poet import: bare.log:3: rule: .*; the expression does not match the first line, this one does: \(\?<host>'
said=$(poet import shiviz bare.log -o missing/x.poet 2>&1)
is "where nothing can be written: a failure" "$? $said" "1 poet import: missing: No such file or directory"
check "and nothing is" test ! -e missing -a ! -e x.poet
poet import shiviz bare.log other.log -s '^==' -o x.poet 2>/dev/null
is "several logs are not split" $? 2
said=$(poet import shiviz bare.log headed.log -o x.poet 2>&1)
like "complaints name the file" "$said" '^poet import: headed.log:3: rule: a host counts its events'
done_testing
