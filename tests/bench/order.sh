# Read by bench.sh: the order alone, from memory, at scale.
# scale WORKLOAD LINES EVENTS LATE: the rows of one run of tests/scale
scale() {
    local events=$(scaled "$3")
    "$B/tests/scale" "$1" "$2" "$events" "$4" >scale.out
    of() { sed -n "s/^  $1  *//p" scale.out; }
    row "order: $1, $2 lines, $(calc %.0e "$events") events" "$(of 'intake from memory, order and store')" "$(of 'reference: 32 bytes appended an event')"
    row "  a random pair" "$(of 'order of a random pair' | tr -s ' ')" "nearby: $(of 'order of a nearby pair' | tr -s ' ')"
    row "  window of 60 rows x 200 columns" "$(of 'window of 60 rows x 200 columns' | tr -s ' ')" "10 columns on: $(of 'the same, 10 columns further' | tr -s ' ')"
    row "  bytes an event" "$(of 'bytes an event on disk') on disk" "$(of 'resident bytes an event, live') in memory, $(of 'the same, at rest') at rest"
    ! grep 'RESTORE FAILED' scale.out
}

part_order() {
    scale uniform 10000 10000000 0.01
    scale uniform 1000 10000000 0.01
}

part_kinds() {
    for kind in torus clustered ring monitors; do scale $kind 10000 10000000 0.01; done
    scale semaphores 10000 10000000 0
}

# 10^8 events: a quarter of an hour, 3 GB of disk.
part_huge() { scale uniform 10000 100000000 0.01; }

# Why threads waited: of that many events a tenth are waits; then of a hundredth more.
part_waits() {
    local events=$(scaled 10000000)
    "$B/tests/waiting" "$events" >waiting.out
    of() { sed -n "s/^$1 //p" waiting.out | sed -n "${2:-1}p"; }
    row "waits: $(of waits) of $(calc %.0e "$events") events" "$(of first) s, $(calc '%.0f MB' "$(of bytes) / 1e6")" \
        "explained in $(of first_explained) s; without $(calc '%.0f MB' "$(of before) / 1e6")"
    row "  a hundredth more" "$(calc '%.0f ms' "$(of further) * 1000")"
}
