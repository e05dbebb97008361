# Read by bench.sh: what atomic operations cost (poetcc -trace=atomics).
part_atomics() {
    local rounds what beside
    rounds=$(scaled 2000000)
    cc -O2 -pthread "$here/atomics.c" -o atomics-plain
    poetcc -trace=atomics -O2 "$here/atomics.c" -o atomics-traced
    cc -O2 -pthread -fsanitize=thread "$here/atomics.c" -o atomics-tsan 2>/dev/null || lacks "ThreadSanitizer"
    for what in "add" "release" "load" "add 2" "release 2"; do
        # shellcheck disable=SC2086
        beside="plain $(median ./atomics-plain "$rounds" $what) ns"
        # shellcheck disable=SC2086
        [ ! -e atomics-tsan ] || beside="$beside, ThreadSanitizer $(median ./atomics-tsan "$rounds" $what) ns"
        # shellcheck disable=SC2086
        row "atomics: $what$([ "$what" = "${what% 2}" ] || echo " threads")" \
            "$(POET_OUTPUT=atomics.poet median ./atomics-traced "$rounds" $what) ns" "$beside"
    done
}
