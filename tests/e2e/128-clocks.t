#!/bin/sh
# Clocks of hosts that are seconds apart and drift: bounds hold what is true, and no message is there before it went.
. "$(dirname "$0")/lib.sh"

if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
    done_testing
    exit 0
fi
# ring ME ALL ROUNDS: datagrams to whoever is next and back, each told by a key
cat >ring.c <<'C'
#include <arpa/inet.h>
#include <poet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int port_of(int fd)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &size);
    return ntohs(at.sin_port);
}
int main(int argc, char **argv)
{
    int me = atoi(argv[1]), all = atoi(argv[2]), rounds = atoi(argv[3]), one_way = argc > 4;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), port = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(fd, (struct sockaddr *)&at, sizeof at);
    char name[32];
    snprintf(name, sizeof name, "port.%d.new", me);
    FILE *f = fopen(name, "w");
    fprintf(f, "%d", port_of(fd));
    fclose(f);
    char is[32];
    snprintf(is, sizeof is, "port.%d", me);
    rename(name, is);
    int next = (me + 1) % all;
    snprintf(is, sizeof is, "port.%d", next);
    while (!port) {
        f = fopen(is, "r");
        if (!f || fscanf(f, "%d", &port) != 1)
            usleep(1000);
        if (f)
            fclose(f);
    }
    at.sin_port = htons((unsigned short)port);
    poet_environment("actors");
    poet_line_t line = poet_line("actor", is, NULL, 0);
    poet_type_t sends = poet_type("send", NULL), receives = poet_type("receive", NULL);
    for (long i = 0; i < rounds; i++) { /* round and round, each waits for its turn */
        long got = i;
        if (me || (i && !one_way)) {
            if (recv(fd, &got, sizeof got, 0) != sizeof got)
                return 1;
            poet_receive_key(line, receives, 128, (uint64_t)(got * all + (me + all - 1) % all));
        }
        if (i % 16 == 0)
            usleep(2000);
        if (one_way && me == all - 1)
            continue;
        poet_send_key(line, sends, 128, (uint64_t)(i * all + me));
        sendto(fd, &i, sizeof i, 0, (struct sockaddr *)&at, sizeof at);
    }
    if (!me && !one_way) {
        long got;
        recv(fd, &got, sizeof got, 0);
        poet_receive_key(line, receives, 128, (uint64_t)(got * all + all - 1));
    }
    while (access("go", F_OK) != 0) /* all are there */
        usleep(1000);
    return 0;
}
C
poetcc -trace -g ring.c -o ring || { not_ok "it compiles"; done_testing; exit 1; }

cat >true.py <<'P'
"""Is each bound true, and no receive before its send?  true.py STAT DUMP HOST=OFFSET,PPM,SINCE..."""
import json, sys
stat = json.load(open(sys.argv[1]))
set_to = {}
for a in sys.argv[3:]:
    host, numbers = a.split('=')
    set_to[host] = [int(n) for n in numbers.split(',')]
clocks = {c['host']: c for c in stat['clocks']}
first = next(c for c in stat['clocks'] if c['first'])['host']
wrong, unknown, widest = [], 0, 0
o, p, since = set_to[first]
for host, c in clocks.items():
    at = c['at_clock_ns']
    real = (at - o + since * p * 1e-6) / (1 + p * 1e-6)       # on the machine's clock, to far below a us
    o2, p2, since2 = set_to[host]
    ahead = real + o2 + (real - since2) * p2 * 1e-6 - at
    drift = ((1 + p2 * 1e-6) / (1 + p * 1e-6) - 1) * 1e9
    if not c['known']:
        unknown += 1
        continue
    widest = max(widest, c['ahead_most_ns'] - c['ahead_least_ns'])
    if not c['ahead_least_ns'] <= ahead + 1 or not ahead - 1 <= c['ahead_most_ns']:
        wrong.append('%s is ahead by %.0f, not %d to %d' % (host, ahead, c['ahead_least_ns'], c['ahead_most_ns']))
    if not c['drift_least_ppb'] <= drift <= c['drift_most_ppb']:
        wrong.append('%s drifts by %.1f ppb, not %d to %d' % (host, drift, c['drift_least_ppb'], c['drift_most_ppb']))
    if c['uneven']:
        wrong.append(host + ' went unevenly')
time, sends, receives, early = {}, 0, 0, 0
events = [json.loads(l) for l in open(sys.argv[2])]
events = [e for e in events if 'event' in e]
for e in events:
    time[e['event']] = e['time_ns']
for e in events:
    if e['type'] == 'receive':
        for s in e['partner'] if isinstance(e['partner'], list) else [e['partner']]:
            receives += 1
            early += time[e['event']] < time[s]
print('%d clocks, %d unknown, wrong: %s; %d messages, %d before they went; %s' % (
    len(clocks), unknown, '; '.join(wrong) or 'none', receives, early,
    'within 1 s' if widest < 1e9 else 'within %d ns' % widest))
P

since=$(python3 -c 'import time; print(time.monotonic_ns())')
set_of() { # set_of HOST: how its clock is set
    case $1 in
    A) echo 0,0 ;; B) echo 4999871000,198 ;; C) echo -4700000123,-200 ;; D) echo 1234567,57 ;;
    esac
}
on() { # on HOST COMMAND...
    host=$1
    shift
    POET_TEST_CLOCK="$(set_of "$host"),$since,$host" "$@"
}
truth() { # truth FILE HOST...
    file=$1
    shift
    args=
    for h in "$@"; do args="$args $h=$(set_of "$h"),$since"; done
    poet stat --json "$file" >stat.json
    poet dump --json "$file" >dump.json
    python3 true.py stat.json dump.json $args 2>&1
}
ring() { # ring RUN ROUNDS HOST...: one program on each, by the agent of that host
    name=$1 rounds=$2 me=0
    shift 2
    rm -f port.* go
    ring_pids=
    for h in "$@"; do
        POET_SERVER="unix:$work/$h.sock" POET_RUN=$name on "$h" ./ring $me $# "$rounds" $one_way &
        ring_pids="$ring_pids $!"
        me=$((me + 1))
    done
    all_there() { [ "$(poet runs --json "unix:$work/server.sock" | grep "\"$name\"" | grep -o '"connected":[0-9]*')" = "\"connected\":$me" ]; }
    until_true all_there # or who is there alone may end the run
    touch go
    wait $ring_pids
}
served() { ls served/"$1"-*.poet 2>/dev/null | head -n 1; }
ended() { [ -s "$(served "$1")" ] && finished "$(served "$1")"; }

poet key >/dev/null
far=$(free_port)
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
pids="$pids $!"
until_true poet runs "unix:$work/server.sock"
for h in A B C D; do
    on $h poet server --to "poet://127.0.0.1:$far" -l "unix:$work/$h.sock" -o "kept-$h/" 2>$h.log &
    pids="$pids $!"
    until_true test -S $h.sock
    until_true grep "the agent of $h is there" server.log
done
one_way=
ring four 400 A B C D
until_true ended four
is "four hosts: all is there" "$(figure "$(served four)" lost)$(figure "$(served four)" pending)$(figure "$(served four)" contradictions)" 000
is "bounds of four hosts hold, and nothing came before it went" "$(truth "$(served four)" A B C D)" \
    "4 clocks, 0 unknown, wrong: none; 1600 messages, 0 before they went; within 1 s"
like "poet stat says them" "$(poet stat "$(served four)" | grep '^host')" 'clock [+-][0-9.]+ s, within [0-9.]+ us, drift [+-][0-9.]+ ppm, within'
is "and of the first one that times are told by it" "$(poet stat "$(served four)" | grep -c 'that all times are told by')" 1

ring long 5000 A B C D
until_true ended long
is "and in a run in which clocks drift far" "$(truth "$(served long)" A B C D)" \
    "4 clocks, 0 unknown, wrong: none; 20000 messages, 0 before they went; within 1 s"

# One after the other says something: what the server and its agents told each other ties their clocks.
one_way=yes
ring once 30 B C
until_true ended once
is "messages one way, and what the server asked" "$(truth "$(served once)" B C)" \
    "2 clocks, 0 unknown, wrong: none; 30 messages, 0 before they went; within 1 s"

# What the agents wrote, and nothing else: as through NATS, where no server asks them.
poet merge kept-B/once-*.poet kept-C/once-*.poet -o merged.poet
is "messages one way alone: unknown" "$(truth merged.poet B C)" \
    "2 clocks, 1 unknown, wrong: none; 30 messages, 0 before they went; within 1 s"
like "poet stat says so" "$(poet stat merged.poet)" "clock unknown: no messages both ways tie it"
poet merge kept-?/four-*.poet -o merged4.poet
is "messages round a ring alone: no two of them talk both ways" "$(truth merged4.poet A B C D | sed 's/.*messages, //')" \
    "0 before they went; within 1 s"
one_way=
ring two 400 D A
until_true ended two
poet merge kept-D/two-*.poet kept-A/two-*.poet -o merged2.poet
is "messages both ways alone" "$(truth merged2.poet D A)" \
    "2 clocks, 0 unknown, wrong: none; 800 messages, 0 before they went; within 1 s"
done_testing
