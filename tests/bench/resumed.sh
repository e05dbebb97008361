# Read by bench.sh: a server that is killed and started again on its file.
resumed_server() { # from its start until it says how many events there are
    local before
    before=$(now)
    POET_TEST_ORDER_PAUSE=$work/pause poet server -q -o all.poet -l "unix:$work/run/poet.sock" 2>>server.log &
    server=$!
    started="$started $server"
    until said=$(figure "unix:$work/run/poet.sock#job" events 2>/dev/null) && [ -n "$said" ]; do :; done
    answered=$(calc %.2f "$(now) - $before")
}
resumed_cut() {
    kill -KILL "$server"
    wait "$server" 2>/dev/null || :
    rm -f run/poet.sock
}
all_there() { until [ "$(figure "unix:$work/run/poet.sock#job" events 2>/dev/null || echo 0)" -ge "$1" ]; do sleep 0.02; done; }

part_resumed() {
    local n events before
    bench_programs
    n=$(scaled 500000)
    cat >stays.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    getchar();
    return 0;
}
EOF
    poetcc -trace stays.c -o stays -pthread
    poet server -q --to "unix:$work/run/poet.sock" -o kept/ -l "unix:$work/agent.sock" 2>>agent.log &
    started="$started $!"
    for _ in $(seq 1200); do [ -S agent.sock ] && break; sleep 0.05; done
    mkfifo fifo
    POET_SERVER=unix:$work/agent.sock POET_RUN=job ./stays <fifo & # so that the run continues
    exec 7>fifo
    POET_SERVER=unix:$work/agent.sock POET_RUN=job ./traced 4 "$n" >/dev/null
    events=$(figure kept/job-*.poet events 2>/dev/null)
    before=$(now)
    resumed_server 2>/dev/null
    all_there "$events"
    row "resumed: $(calc '%.1f' "$events / 1e6") M events, from an agent's journal" "$(calc '%.1f M events/s' "$events / ($(now) - $before) / 1e6")"
    resumed_cut
    resumed_server
    row "resumed: killed when all was ordered" "answers after $answered s, with $(calc '%.1f %%' "100 * $said / $events")" "goal 1 s"
    resumed_cut
    rm -f all.poet
    touch pause
    resumed_server_taking "$events"
    resumed_cut
    resumed_server
    row "resumed: killed when nothing was ordered" "answers after $answered s, with $(calc '%.1f %%' "100 * $said / $events")" "goal 1 s"
    before=$(now)
    rm -f pause
    all_there "$events"
    row "resumed: and has caught up" "$(calc '%.1f M events/s' "$events / ($(now) - $before) / 1e6")" "as from the agent"
    exec 7>&-
    rm -f fifo agent.sock
}

# A new one, which takes all and orders nothing.
resumed_server_taking() {
    local size last=-1
    POET_TEST_ORDER_PAUSE=$work/pause poet server -q -o all.poet -l "unix:$work/run/poet.sock" 2>>server.log &
    server=$!
    started="$started $server"
    until size=$(stat -c %s all.poet 2>/dev/null || echo 0) && [ "$size" = "$last" ] && [ "$size" -gt "$(($(stat -c %s kept/job-*.poet) * 8 / 10))" ]; do
        last=$size
        sleep 0.5
    done
}
