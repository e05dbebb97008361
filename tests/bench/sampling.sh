# Read by bench.sh: what it costs to know when threads were switched, and to sample them.
switched() { sed -n 's/.* \([0-9]*\) context-switch records lost.*/\1/p' | grep . || echo 0; }

# beside_sched ROUNDS: into recorded, the same with the kernel's records of perf
beside_sched() {
    recorded=
    if ! command -v perf >/dev/null; then
        lacks "perf (linux-perf)"
    elif ! perf sched record -o perf.data true >/dev/null 2>perf.err; then
        lacks "perf sched: $(head -n 1 perf.err)"
    else
        with_perf() { perf sched record -o perf.data "$@" 2>/dev/null; }
        recorded=", $(calc '%+.0f %%' "100 * ($(median with_perf ./switch "$1") / $plain - 1)") perf sched record"
    fi
    rm -f perf.data
}

part_switches() {
    local rounds few plain off on recorded
    rounds=$(scaled 200000) few=$(scaled 50000)
    cc -O2 "$here/switch.c" -o switch -pthread
    poetcc -trace -O2 "$here/switch.c" -o switch-traced -pthread
    poetcc -trace -O2 -DTASKS "$here/switch.c" -o switch-tasks
    row "switches: of tasks, poet_task_switch" "$(POET_OUTPUT=tasks.poet median ./switch-tasks "$rounds") ns" "goal 15 ns"
    plain=$(median ./switch "$rounds")
    off=$(POET_PERF=off POET_OUTPUT=off.poet median ./switch-traced "$rounds")
    on=$(POET_OUTPUT=on.poet median ./switch-traced "$rounds")
    beside_sched "$rounds"
    row "switches: ping-pong by futexes, one processor" "$(calc '%+.0f %%' "100 * ($on / $off - 1)") by switch records" \
        "$(calc %.2f "$off / 1000") us a round without, $(calc %.2f "$plain / 1000") untraced$recorded; goal 10 %"
    row "  of that many, lost" "$(poet states on.poet | switched) records" "$(calc %.0f "2e9 / $on") switches/s"
    on=$(POET_OUTPUT=paced.poet median ./switch-traced "$few" 8000)
    row "  at a pace, lost" "$(poet states paced.poet | switched) records" "$(calc %.0f "2e9 / $on") switches/s; goal: none at 100000"
}

# spent PID: ns of a processor that all threads of a process took until now
spent() { cat /proc/"$1"/task/*/schedstat | perl -ne '/^(\d+)/ and $n += $1; END { print $n }'; }

# share SECONDS COMMAND...: of a core that the server takes in that time, while a program runs for longer
share() {
    local seconds=$1 server program begin before
    shift
    serve
    server=${started##* }
    "$@" &
    program=$! started="$started $!"
    sleep "$(calc %.3f "0.3 * $seconds")"
    begin=$(now) before=$(spent "$server")
    sleep "$seconds"
    calc %.2f "($(spent "$server") - $before) / 1e7 / ($(now) - $begin)"
    wait $program
    stop
    rm -rf run/poet.sock runs
}

# What the server itself takes to look at a hundred threads, by the clock of its own processor time.
part_sampling() {
    local seconds long peer=
    seconds=$(calc %.3f "$SIZE < 1 ? 0.2 : 4") long=$(calc %.3f "$SIZE < 1 ? 0.5 : 6")
    poetcc -trace -O2 "$here/sampled.c" -o sampled
    if command -v pidstat >/dev/null; then
        POET_SERVER=none ./sampled 100 "$long" &
        peer=$(perl -MTime::HiRes=time -e 'my $t = time; system "pidstat -t -p $ARGV[0] 1 $ARGV[1] >/dev/null"; my @t = times;
            printf "%.2f %% pidstat -t once a second", 100 * ($t[2] + $t[3]) / (time - $t)' $! "$(calc %.0f "$SIZE < 1 ? 1 : 4")")
        wait $!
    else
        lacks "pidstat (sysstat)"
    fi
    row "sampling: nothing to sample" "$(POET_PERF=off POET_MEASURE=none share "$seconds" ./sampled 100 "$long") % of a core" \
        "what the server takes of them in any case"
    row "sampling: 100 threads at 100 Hz" "$(POET_PERF=off POET_MEASURE=states,rate=100 share "$seconds" ./sampled 100 "$long") % of a core" \
        "goal 1 %${peer:+, $peer}"
    row "sampling: as it does unasked" "$(POET_PERF=off share "$seconds" ./sampled 100 "$long") % of a core"
    row "sampling: by switch records" "$(share "$seconds" ./sampled 100 "$long") % of a core"
}
