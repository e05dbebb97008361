# Read by bench.sh: what it takes to repeat a run in its order.

# again NAME THREADS LOCKS EACH: a run and its repetition; sets recorded, repeated (seconds), cpu_recorded, cpu_repeated (of processor time) and changes
again() {
    rm -f again.poet repeated.poet
    POET_MAX_STALL_MS=10000 POET_SERVER= POET_OUTPUT=again.poet ./again "$2" "$3" "$4" >recorded.out
    until_ordered again.poet
    POET_MAX_STALL_MS=10000 poet replay -q again.poet -o repeated.poet -- ./again "$2" "$3" "$4" >repeated.out 2>repeated.err
    until_ordered repeated.poet
    read -r recorded changes cpu_recorded <recorded.out
    read -r repeated _ cpu_repeated <repeated.out
}

part_replay() {
    local locks=$(scaled 1000000) recorded repeated changes cpu_recorded cpu_repeated
    poetcc -trace -O2 "$here/again.c" -o again
    again one 1 "$locks" 0
    local more=$(calc %.0f "($cpu_repeated - $cpu_recorded) / $locks * 1e9")
    row "replay: $(calc %.1e "$locks") locks of one thread" "$(calc '%.0f ns more a ticket' "$more / 2")" "wanted: 100 ns; a lock and its unlock are two: $more ns"
    again seldom 4 "$((locks / 4))" 100
    row "  of 4 threads, each 100th in common" "$(calc '%.1f times as long' "$repeated / $recorded")" "wanted: 5 times; the lock changed $changes times"
    again often 4 "$((locks / 40))" 1
    row "  all in common" "$(calc '%.1f us a hand-over' "($repeated - $recorded) / ($changes > 0 ? $changes : 1) * 1e6")" "wanted: 10 us; $changes hand-overs"
    rm -f again.poet repeated.poet
}
