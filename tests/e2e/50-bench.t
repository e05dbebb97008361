#!/bin/bash
# make bench: each part runs, at a thousandth of its size, and prints figures.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
make -s -C "$root" B="$B" "$B/tests/scale" "$B/tests/waiting" "$B/tests/look" || exit 1
# A part that hangs is ended with all its children, and its output is shown.
bench() { B=$B PARTS=$1 SIZE=0.001 TMPDIR=$work timeout 120 "$root/tests/bench/bench.sh" >out 2>err; }

for part in $(sed -n 's/^DEFAULT="\([^"]*\)".*/\1/p; s/^ALL="$DEFAULT \(.*\)"/\1/p' "$root/tests/bench/bench.sh"); do
    if bench "$part" && ! [ -s err ]; then
        is "$part: each row has its figure" "$(sed 1,2d out | grep -v '^missing here' | cut -c47- | grep -vc '[0-9]')" 0
    else
        not_ok "$part" "$(cat out err)"
    fi
done
bench next
is "make bench PARTS=next: figures of the first frame and of the exact one" "$(grep -c 'from the key to the \(first frame\|exact\)' out)" 2
bench "pair nix"
is "make bench: an unknown part exits with 2" "$?" 2
like "make bench: an unknown part lists the known ones" "$(cat out)" "there are: pair burst"
is "make bench leaves no file behind" "$(ls -d "$work"/poet-bench.* 2>/dev/null)" ""
done_testing
