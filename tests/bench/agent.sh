# Read by bench.sh: what an agent costs to forward what it has in its journal.
processor_ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
bytes_sent() { ss -tinH state established "( dport = :$1 )" 2>/dev/null | sed -n 's/.*bytes_sent:\([0-9]*\).*/\1/p' | sort -n | tail -n 1; }

# forward NAME RECORDS EVENTS-A-RECORD PROGRAM...: from a journal that is there, to a server that takes and does not order
forward() {
    local name=$1 records=$2 events=$3 port=$((20000 + RANDOM % 20000)) agent before ticks wire last=-1 file still
    shift 3
    rm -rf kept served
    poet server -q --to "poet://127.0.0.1:$port" -l "unix:$work/agent.sock" -o kept/ 2>>agent.log &
    agent=$!
    started="$started $agent"
    for _ in $(seq 1200); do [ -S agent.sock ] && break; sleep 0.05; done
    POET_SERVER=unix:$work/agent.sock POET_RUN=bench "$@" >/dev/null
    file=$(ls kept/bench-*.poet)
    until [ "$(processor_ticks $agent)" = "$last" ]; do last=$(processor_ticks $agent); sleep 0.2; done
    before=$last
    touch pause
    POET_TEST_ORDER_PAUSE=$work/pause poet server -q -o served/ -l "unix:$work/run/poet.sock" -l "poet://127.0.0.1:$port" 2>>server.log &
    started="$started $!"
    until wire=$(bytes_sent $port) && [ -n "$wire" ]; do sleep 0.02; done
    for still in $(seq 3); do # the same chunks are in its journal, and no more come
        until [ "$wire" = "$last" ] && [ "$(stat -c %s served/bench-*.poet 2>/dev/null || echo 0)" -gt "$(($(stat -c %s "$file") * 8 / 10))" ]; do
            last=$wire
            sleep 0.2
            wire=$(bytes_sent $port)
        done
        sleep 0.2
        wire=$(bytes_sent $port)
    done
    ticks=$(($(processor_ticks $agent) - before))
    rm -f pause agent.sock
    row "agent: $name, on one core" "$(calc '%.1f M events/s' "$records * $events / (($ticks > 0 ? $ticks : 1) / 100) / 1e6"), $(calc '%.1f bytes each on the wire' "$wire / $records")" \
        "$(calc '%.1f in its journal' "$(stat -c %s "$file") / $records")"
    stop
}

part_agent() {
    local n
    if ! command -v ss >/dev/null || poet server --to poet://127.0.0.1:1 2>&1 | grep -q 'built without'; then
        lacks "an agent: GnuTLS and zstd, and ss (iproute2)"
        return
    fi
    bench_programs
    poet key >/dev/null
    n=$(scaled 4000000)
    cat >single.c <<'EOF'
#include <poet.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    poet_line_t line = poet_line("actor", "bench", &argc, 0);
    poet_type_t type = poet_type("tick", NULL);
    for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--)
        poet_event(line, type, 0, 0);
    return 0;
}
EOF
    poetcc -trace -O2 single.c -o single
    forward "lock/unlock pairs (5 events)" "$n" 5 ./traced 1 "$n"
    forward "single events" "$n" 1 ./single "$n"
}

# alone N: what one server orders while a program of so many rounds in each of four threads runs
alone() {
    local n from took
    n=$(scaled "$1")
    rm -rf served
    poet server -q -o served/ -l "unix:$work/one.sock" 2>>server.log &
    started="$started $!"
    for _ in $(seq 1200); do poet runs "unix:$work/one.sock" >/dev/null 2>&1 && break; sleep 0.05; done
    from=$(now)
    POET_SERVER=unix:$work/one.sock POET_RUN=many ./traced 4 "$n" >/dev/null
    until_ordered served/*.poet
    took=$(calc %.3f "$(now) - $from")
    row "no agent, 4 threads, $(figure served/*.poet events) events" "$(calc '%.1f M events/s ordered' "$(figure served/*.poet events) / $took / 1e6")" "program and server on $(nproc) cores"
    stop
    rm -f one.sock
}

# many AGENTS N: one journal of N rounds in each of four threads, forwarded by so many agents at once (agents.c)
many() {
    local agents=$1 n events taken from file server peak took
    n=$(scaled "$2")
    rm -rf kept served merged.poet
    poet server -q --to "unix:$work/none.sock" -o kept/ -l "unix:$work/agent.sock" 2>>agent.log &
    started="$started $!"
    for _ in $(seq 1200); do [ -S agent.sock ] && break; sleep 0.05; done
    POET_SERVER=unix:$work/agent.sock POET_RUN=many ./traced 4 "$n" >/dev/null
    stop # (it is all there)
    file=$(ls kept/many-*.poet)
    poet merge "$file" -o merged.poet
    events=$(figure merged.poet events)
    poet server -q -o served/ -l "unix:$work/many.sock" 2>>server.log &
    server=$!
    started="$started $server"
    for _ in $(seq 1200); do poet runs "unix:$work/many.sock" >/dev/null 2>&1 && break; sleep 0.05; done
    from=$(now)
    taken=$("$B/tests/agents" "unix:$work/many.sock" "$agents" "$file")
    until_ordered served/*.poet
    took=$(calc %.3f "$(now) - $from")
    peak=$(awk '/VmHWM/ { print $2 }' "/proc/$server/status")
    row "$agents agents, $(figure merged.poet lines) lines and $events events each" \
        "$(calc '%.1f s until all is ordered' "$took"), $(calc '%.1f M events/s' "$(figure served/*.poet events) / $took / 1e6"), $(calc '%.0f MB' "$peak / 1024")" \
        "$(calc '%.1f M events' "$(figure served/*.poet events) / 1e6"), $(figure served/*.poet inconsistent) inconsistent; taken after $taken s"
    stop
    rm -rf agent.sock many.sock
}

# What the one server has to do, and to hold.
part_agents() {
    bench_programs
    alone 800000
    many 8 100000
    many "$([ "$SIZE" = 1 ] && echo 1000 || echo 20)" 5000
}

# An event that happens now, until a viewer has it in a frame: through an agent, NATS and the server that reads from it, on this machine.
part_late() {
    local nats url n=$(scaled 1000) seconds
    nats=$(command -v nats-server || PATH=/usr/sbin:/sbin command -v nats-server) || :
    if [ -z "$nats" ] || poet server --from nats://127.0.0.1:1 2>&1 | grep -q 'built without'; then
        lacks "events through NATS: nats-server, and libnats"
        return
    fi
    display || return 0
    cat >ticks.c <<'EOF'
#include <poet.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) {
        struct timespec t;
        nanosleep(&(struct timespec){0, 10000000 + (i * 7919 % 10) * 1000000}, NULL);
        clock_gettime(CLOCK_MONOTONIC, &t);
        poet_text("at %lld", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    }
    return 0;
}
EOF
    poetcc -trace -O2 ticks.c -o ticks
    mkdir -p ports
    "$nats" -js -a 127.0.0.1 -p -1 -sd "$work/nats" --ports_file_dir "$work/ports" >/dev/null 2>&1 &
    started="$started $!"
    until url=$(cat ports/*.ports 2>/dev/null | perl -ne 'print $1 if m{"(nats://[0-9.]+:[0-9]+)"}') && [ -n "$url" ]; do sleep 0.05; done
    poet server -q --to "$url" -l "unix:$work/agent.sock" -o kept/ 2>>agent.log &
    started="$started $!"
    poet server -q --from "$url#late" -l "unix:$work/far.sock" 2>>server.log &
    started="$started $!"
    for _ in $(seq 1200); do poet runs "unix:$work/far.sock" >/dev/null 2>&1 && break; sleep 0.05; done
    serve
    seconds=$(calc %.1f "$n * 0.0145 - 1 > 0.5 ? $n * 0.0145 - 1 : 0.5")
    for way in "unix:$work/run/poet.sock" "unix:$work/far.sock"; do
        [ "$way" = "unix:$work/far.sock" ] && through="through an agent, NATS and a server" POET_SERVER=unix:$work/agent.sock ||
            through="by one server" POET_SERVER=$way
        env POET_SERVER="$POET_SERVER" POET_RUN=late ./ticks "$n" &
        started="$started $!"
        for _ in $(seq 3000); do [ "$(poet runs "$way" 2>/dev/null | wc -l)" -gt 0 ] && break; sleep 0.02; done
        printf '%s\n' "late $seconds" quit | view "$way" "$through"
    done
    row "wanted, through NATS" "p99 150 ms" "GTK's frame, not the display"
    rm -rf agent.sock far.sock nats ports kept
}
