# Read by bench.sh: what accesses of memory cost where they are examined (poetcc -trace=races).
part_races() {
    local rounds what beside
    cc -O2 -pthread "$here/races.c" -o races-plain
    poetcc -trace -O2 "$here/races.c" -o races-traced
    poetcc -trace=races -O2 "$here/races.c" -o races-examined
    cc -O2 -pthread -fsanitize=thread "$here/races.c" -o races-tsan 2>/dev/null || lacks "ThreadSanitizer"
    for what in access lock hand; do
        case $what in access) rounds=$(scaled 20000000) ;; lock) rounds=$(scaled 300000) ;; *) rounds=$(scaled 20000) ;; esac
        beside="plain $(median ./races-plain "$rounds" $what) ns"
        beside="$beside, -trace $(POET_OUTPUT=races.poet median ./races-traced "$rounds" $what) ns"
        [ ! -e races-tsan ] || beside="$beside, ThreadSanitizer $(median ./races-tsan "$rounds" $what) ns"
        row "races: $what" "$(POET_OUTPUT=races.poet median ./races-examined "$rounds" $what) ns" "$beside"
    done
}
