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

# 10^8 events: the order of 10^4 lines from memory, then a program of 30 threads and 30 mutexes, recorded and looked at.  20
# minutes, 9 GB of disk: its trace, and what the zoomed-out view keeps beside memory.
part_huge() {
    local events
    scale uniform 10000 100000000 0.01
    trace 30 30 100000000
    events=$(figure view.poet events)
    row "a program, 60 lines, $(calc %.0e "$events") events" "$(calc '%.1f bytes an event' "$(on_disk view.poet) / $events")"
    TMPDIR=$work "$B/tests/look" view.poet "$(calc %.0f "$SIZE < 1 ? 5 : 100")" "$(calc %.0f "$SIZE < 1 ? 10 : 300")" >look.out
    while IFS=: read -r what value; do row "  $what" "${value# }" "$(wanted "$what")"; done <look.out
}

wanted() { # wanted FIGURE: what we want of it at 10^8 events
    case $1 in
    opening) echo "wanted: 2 s" ;;
    "strip of all"* | "strip after"*) echo "wanted: 50 ms, 60 rows x 1920 pixels" ;;
    "order of a random pair") echo "wanted: p50 3 ms, p99 20 ms" ;;
    esac
}
