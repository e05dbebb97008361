# What tests share that play a program of which every nanosecond is known (stage.py), and look at what is reported of it.
# played NAME < SCRIPT: the program runs; $run is its trace, which is sound
played() {
    python3 "$root/tests/e2e/stage.py" "$1" || not_ok "$1 is played"
    run=
    until_true ls traces/"$1"-*.poet
    run=$(ls traces/"$1"-*.poet)
    check "$1 is sound" sound "$run"
}
# waits [OPTION...]: the longest first: MS THREAD CLASS KINDS; what is charged: MS STEP THREAD HOW; in all
waits() {
    poet waits --by wait --sort waited --json "$run" "$@" | json '.[] |
        if .total then .total | "of \(.waited_ns | ms) unexplained \(.unattributed_ns | ms)"
        elif .row and .depth == 0 then .row | "\(.waited_ns | ms) \(.thread) \(.wait_class) \(.cause // ""):" +
            if (.ambiguous // 0) != 0 then " ambiguous" else "" end
        elif .row then .row | "  \(.attributed_ns | ms) \(.segment) \(.thread // "") \(.direct // "")"
        else empty end'
}
path() { # each step on the path: STEP MS; its length, work, hops
    poet path --json "$run" "$@" | json '
        (rows | select((.critical_path_ns // 0) != 0) | "\(.segment) \(.critical_path_ns | ms)"),
        (total | "\(.length_ns | ms) of \(.work_ns // 0 | ms), \(.hops // 0) hops")'
}
# cells NAME...: of each row, for human beings: times in ms
cells() {
    json 'rows as $row | "'"$*"'" / " " | map(. as $name | $row[$name] |
        if . == null then "-" elif $name | endswith("_ns") then . / 1e6 else . end) | join(" ")'
}
