#!/bin/bash
# The viewer on a tasking runtime: the page of an event names the processor of its task; the call table is grouped
# by file and by category.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export POET_QUIET=1
poetcc -trace -profile -g -I"$root/examples/ucpp" "$root/examples/ucpp/fibonacci.c" "$root/examples/ucpp/ucpp.c" -o fibonacci || exit 1
UCPP_PROCESSORS=2 UCPP_CLUSTERS=2 UCPP_SEED=7 UCPP_SCHEDULE=random POET_OUTPUT=work.poet timeout 60 ./fibonacci >/dev/null
until_true finished work.poet
# Choose one event on each of two processors while its task was running there.
{ poet states work.poet --list --json && poet dump work.poet --json; } | json '
    map(select(.row.state == "running" and .row.worker)) as $spells |
    [.[] | select(.event and .state == "ordered" and .time_ns) | . as $event | $spells[] | select(
        .lines[0] == $event.thread and $event.time_ns - 1 > .row.from_ns and
        $event.time_ns + 1 < .row.from_ns + .row.duration_ns) | {event: $event.event, on: .row.worker}] |
    unique_by(.on | first_word)[] | "\(.event)\t\(.on)"' >events
{
    echo 'action show-event'
    echo 'action time 0; action end'
    while IFS=$'\t' read -r at _; do printf 'action go %s\nstate panel said.%s\n' "$at" "${at/:/-}"; done <events
    printf 'action show-calls\nstate table flat.tab\naction calls-shape file\nstate table file.tab\naction save file.svg tab\naction calls-shape category\nstate table category.tab\naction calls-shape flat\nstate table again.tab\nquit\n'
} >script
check 'the viewer runs the script' timeout 200 poet view work.poet --script script
while IFS=$'\t' read -r at on; do
    is "page of event $at: the processor and cluster of its task" "$(grep -A1 '^Ran on$' "said.${at/:/-}" | tail -n 1)" "$on"
done <events
check 'events on both processors were found' test "$(wc -l <events)" -ge 2
poet calls work.poet --by file --json | json '[rows.calls] | max' >most
check 'calls by file: source files are listed' grep -q 'ucpp\.c' file.tab
check 'calls by file: the number of calls is that of poet calls --by file' grep -qw "$(cat most)" file.tab
check 'calls by file: a function is listed below its file' grep -q 'choose_processor' file.tab
check 'calls by category: the table is not empty' test -s category.tab
check 'calls by function: the table is as before the other groupings' cmp flat.tab again.tab
done_testing
