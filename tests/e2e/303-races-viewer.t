#!/bin/bash
# Data races in the viewer: among the key findings, and the later access is where one leads to.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

poetcc -trace=races -processes -g "$root/tests/e2e/races/races.c" -o races
for kind in bad good; do
    POET_OUTPUT=$kind.poet ./races heap $kind
    order_ends $kind.poet
    printf '%s\n' 'state panel first' quit >script
    rm -f first
    poet view --script script $kind.poet >said 2>&1
    mv first $kind.first
done
like "a key finding" "$(tr -s ' \n' ' ' <bad.first)" \
    'Key findings.* Data race write of 8 bytes at offset 8 of a heap block by T:setting(#2)? at setting \(races.c:[0-9]+\)'
is "none without a race" "$(grep -c 'Data race' good.first)" 0
done_testing
