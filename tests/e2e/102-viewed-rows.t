#!/bin/bash
# The viewer on a runtime of tasks: where the task of an event was; calls by file and by category.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export POET_QUIET=1
poetcc -trace -profile -g -I"$root/examples/ucpp" "$root/examples/ucpp/fibonacci.c" "$root/examples/ucpp/ucpp.c" -o fibonacci || exit 1
UCPP_PROCESSORS=2 UCPP_CLUSTERS=2 UCPP_SEED=7 UCPP_SCHEDULE=random POET_OUTPUT=work.poet timeout 60 ./fibonacci >/dev/null
until_true finished work.poet
# one event while its task was surely somewhere, of each of two processors
poet states work.poet --list --json | perl -MJSON::PP -ne '$o = decode_json($_); $r = $o->{row} or next;
    print "$o->{lines}[0] $r->{from_ns} $r->{duration_ns} $r->{worker}\n" if $r->{state} eq "running" && $r->{worker}' >spells
poet dump work.poet --json | perl -MJSON::PP -e '
    for (`cat spells`) { chomp; push @s, [split / /, $_, 4] }
    while (<STDIN>) { $e = decode_json($_); next unless $e->{event} && ($e->{state} // "") eq "ordered"; ($t) = ($e->{thread} // "") =~ /(\d+)/; $at = $e->{time_ns} // next;
        for (@s) { next unless $_->[0] == ($t // 0) && $at - 1 > $_->[1] && $at + 1 < $_->[1] + $_->[2]; ($p) = split / /, $_->[3]; next if $seen{$p}++; print "$e->{event}\t$_->[3]\n" } }' >events
{
    echo 'action show-event'
    while IFS=$'\t' read -r at _; do printf 'goto %s\nlabels said.%s\n' "$at" "${at/:/-}"; done <events
    printf 'drawer calls\ntable flat.tab\naction calls-shape file\ntable file.tab\nsave-page file.svg\naction calls-shape category\ntable category.tab\naction calls-shape flat\ntable again.tab\nquit\n'
} >script
check 'the viewer does it' timeout 200 poet view work.poet --script script
while IFS=$'\t' read -r at on; do
    is "the page of $at says where its task was" "$(grep -A1 '^Ran on$' "said.${at/:/-}" | tail -n 1)" "$on"
done <events
check 'of both processors there is such an event' test "$(wc -l <events)" -ge 2
poet calls work.poet --by file --json | perl -MJSON::PP -ne '$r = decode_json($_)->{row} or next; print "$r->{calls}\n"' | sort -n | tail -n 1 >most
check 'by file there are source files' grep -q 'ucpp\.c' file.tab
check 'and their calls, as poet calls has them' grep -qw "$(cat most)" file.tab
check 'a function stands below its file' grep -q 'choose_processor' file.tab
check 'by category there is a table' test -s category.tab
check 'functions as before' cmp flat.tab again.tab
done_testing
