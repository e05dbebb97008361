# Read by bench.sh: what recording costs a program, and what the server takes in.
bench_programs() {
    [ -x traced ] && return
    poetcc -trace -O2 "$here/bench.c" -o traced
    poetcc -O2 "$here/bench.c" -o plain -pthread
}

# beside NAME NS-A-PAIR UNTRACED OURS: what another adds to a pair
beside() { row "  $1" "$(calc '+%.1f ns a pair' "$2 - $3")" "$(calc 'ours adds %.2f of it' "($4 - $3) / ($2 - $3)")"; }

# lttng_session EVENTS: a session of LTTng-UST that has begun
lttng_session() {
    export LTTNG_HOME=$work
    lttng-sessiond --no-kernel >lttng.log 2>&1 &
    started="$started $!"
    for _ in $(seq 100); do lttng list >/dev/null 2>&1 && break; sleep 0.05; done
    { lttng create bench --output="$work/lttng" && lttng enable-event --userspace "$1" && lttng start; } >>lttng.log 2>&1
}

beside_lttng() { # UNTRACED OURS, then the same contended
    local wrapper trace=lttng_ust_pthread:*
    wrapper=$(ls /usr/lib/*/liblttng-ust-pthread-wrapper.so 2>/dev/null | head -n 1) || true
    if ! command -v lttng-sessiond >/dev/null || [ -z "$wrapper" ]; then
        lacks "LTTng-UST's pthread wrapper (lttng-tools, liblttng-ust-dev)"
        return
    fi
    with_wrapper() { LD_PRELOAD=$wrapper "$@"; }
    if lttng_session "$trace"; then
        beside "LTTng-UST's pthread wrapper, 3 events" "$(median with_wrapper ./plain 1 "$n")" "$1" "$2"
        beside "the same, contended" "$(median with_wrapper ./plain 2 "$few" contended)" "$3" "$4"
        lttng destroy >/dev/null 2>&1 || true
    else
        lacks "LTTng-UST: $(grep -i error lttng.log | head -n 1)"
    fi
}

beside_uftrace() {
    if ! command -v uftrace >/dev/null; then
        lacks uftrace
        return
    fi
    with_uftrace() { uftrace record -d "$work/uftrace" "$@" 2>/dev/null; rm -rf "$work/uftrace"; }
    cc -pg -O2 "$here/bench.c" -o profiled -pthread
    beside "uftrace" "$(median with_uftrace ./profiled 1 "$(scaled 200000)")" "$1" "$2"
}

part_pair() {
    local n few ring untraced ours fight fought
    bench_programs
    serve
    n=$(scaled 800000) few=$(scaled 300000)
    ring=$(median ./plain 0 "$(scaled 5000000)")
    untraced=$(median ./plain 1 "$n")
    ours=$(median ./traced 1 "$n")
    row "pair: lock/unlock, 1 thread, uncontended" "$(calc '%.1f ns an event' "($ours - $untraced) / 5"), $(calc '+%.1f a pair' "$ours - $untraced")" \
        "$untraced ns a pair untraced"
    row "  a bare ring: a time and 32 bytes" "$ring ns a record" "$(calc 'ours takes %.2f of it an event' "($ours - $untraced) / 5 / $ring")"
    fight=$(median ./plain 2 "$few" contended)
    fought=$(median ./traced 2 "$few" contended)
    row "pair: one mutex, 2 threads, time" "$(calc '+%.1f ns a pair' "$fought - $fight")" "$fight ns a pair untraced"
    row "pair: no server to be had" "$(POET_SERVER=none median ./traced 1 "$n") ns a pair" "$untraced ns a pair untraced"
    beside_lttng "$untraced" "$ours" "$fight" "$fought"
    beside_uftrace "$untraced" "$ours"
    if cc -fsanitize=thread -O2 "$here/bench.c" -o tsan -pthread 2>/dev/null; then
        beside "ThreadSanitizer" "$(median ./tsan 1 "$n")" "$untraced" "$ours"
    else
        lacks "ThreadSanitizer"
    fi
}

# measure_rate THREADS: a server, a program at full rate for three seconds, its figures
measure_rate() {
    local begin end
    bench_programs
    serve
    begin=$(now)
    read -r pair_ns pairs <<<"$(./traced "$1" "$(calc %.4f "3 * $SIZE")s")"
    end=$(now)
    journal=$(on_disk runs/*.poet)
    until_ordered latest
    seconds=$(calc %.6f "$end - $begin") after=$(calc %.2f "$(now) - $end")
    events=$(figure latest events) lost=$(figure latest lost)
}

part_burst() {
    local untraced
    measure_rate 1
    read -r untraced _ <<<"$(./plain 1 "$(calc %.4f "$SIZE")s")"
    row "burst: lock/unlock for 3 s, 1 thread" "$pair_ns ns a pair, $(calc '%.1f M pairs' "$pairs / 1e6")" "$untraced ns a pair untraced"
    row "burst: its journal" "$(calc '%.0f MB, ' "$journal / 1e6")$(calc '%.1f bytes an event' "$journal / $events")" "$lost events lost"
    row "burst: in order, after its end" "$after s" "$(calc 'the program ran %.2f s' "$seconds")"
}

part_sustained() {
    local dd
    measure_rate 2
    dd=$( { dd if=/dev/zero of=dd.out bs=1M count="$(scaled 1024)" conv=fdatasync; } 2>&1 | perl -ne 'print $1 / $2 if /^(\d+) bytes.* ([\d.]+) s,/')
    rm -f dd.out
    row "sustained: 2 threads beside the server" "$(calc '%.2f M events/s journalled' "$events / $seconds / 1e6")" \
        "$(calc '%.0f MB/s; ' "$journal / $seconds / 1e6")$(calc 'dd here %.0f MB/s, ' "$dd / 1e6")$(calc '%.2f of it' "$journal / $seconds / $dd")"
    row "sustained: in order, after its end" "$after s" "$lost events lost"
}

# What a program pays for being linked with libpoet: true.
part_start() {
    serve
    echo 'int main(void) { return 0; }' >true.c
    poetcc -trace true.c -o true-traced
    poetcc true.c -o true-plain
    row "start-up of true, a server running" "$(perl -MTime::HiRes=time -e '
        my %t; for my $p ("./true-plain", "./true-traced") { my @r; for (1 .. 21) { my $t = time; system $p; push @r, time - $t } $t{$p} = (sort { $a <=> $b } @r)[10] }
        printf "+%.1f ms", 1e3 * ($t{"./true-traced"} - $t{"./true-plain"})')"
}

part_programs() {
    local begin eight= n
    bench_programs
    serve
    n=$(scaled 250000)
    begin=$(now)
    for _ in 1 2 3 4 5 6 7 8; do ./traced 1 "$n" >/dev/null & eight="$eight $!"; done
    wait $eight
    until [ "$(poet runs | grep -c '  ended ')" = 8 ]; do sleep 0.05; done
    row "programs: 8 at full rate" "$(calc '%.2f M events/s until stored' "8 * 5 * $n / ($(now) - $begin) / 1e6")"
}

part_open() {
    local file begin events
    bench_programs
    serve
    ./traced 2 "$(scaled 1000000)" >/dev/null
    until_ordered latest
    file=$(ls runs/*.poet)
    begin=$(now)
    events=$(figure "$file" events)
    row "open: a file of $events events, its figures" "$(calc '%.0f ms' "1e3 * ($(now) - $begin)")" "$(calc '%.1f bytes an event' "$(on_disk "$file") / $events")"
}
