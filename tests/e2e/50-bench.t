#!/bin/sh
# make bench: each part runs, at a thousandth of its size, and prints figures.
. "$(dirname "$0")/lib.sh"
make -s -C "$root" B="$B" "$B/tests/scale" "$B/tests/waiting" "$B/tests/look" || exit 1
# (a part that hangs ends with all that it started, and what it printed is shown)
bench() { B=$B PARTS=$1 SIZE=0.001 TMPDIR=$work timeout 120 "$root/tests/bench/bench.sh" >out 2>err; }

for part in $(sed -n 's/^DEFAULT="\([^"]*\)".*/\1/p; s/^ALL="$DEFAULT \(.*\)"/\1/p' "$root/tests/bench/bench.sh"); do
    if bench "$part" && ! [ -s err ]; then
        is "$part: each row has its figure" "$(sed 1,2d out | grep -v '^missing here' | cut -c47- | grep -vc '[0-9]')" 0
    else
        not_ok "$part" "$(cat out err)"
    fi
done
bench next
is "of the next event, the first frame and the exact one" "$(grep -c 'from the key to the \(first frame\|exact\)' out)" 2
bench "pair nix"
is "a part that is not there is a wrong usage" "$?" 2
like "and the ones that are there are named" "$(cat out)" "there are: pair burst"
is "it leaves nothing behind" "$(ls -d "$work"/poet-bench.* 2>/dev/null)" ""
done_testing
