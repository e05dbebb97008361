# Read by bench.sh: what user-defined metrics cost.
part_meters() {
    local rounds
    rounds=$(scaled 1000000)
    poetcc -trace -O2 "$here/meters.c" -o own-meters
    export POET_QUIET=1 POET_OUTPUT=own-meters.poet
    row "meters: poet_add" "$(median ./own-meters "$rounds" add) ns" "goal 3 ns"
    row "meters: poet_observe, a distribution" "$(median ./own-meters "$rounds" took) ns" "goal 8 ns"
    row "meters: a cell that is watched" "$(median ./own-meters "$rounds" watch) ns"
    row "meters: POET_MEASURE=none" "$(POET_MEASURE=none median ./own-meters "$rounds" add) ns"
    unset POET_OUTPUT
}
