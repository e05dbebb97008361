#!/bin/bash
# poet path, waits and states of a run with known times; and a report at the end of a run.
. "$(dirname "$0")/lib.sh"
mkdir conf
cat >conf/three.conf <<'CONF'
name = "three";
version = 1;
line_types = ( { name = "one"; letter = "P"; title = "one"; color = "#1b4f8f"; } );
events = (
    { name = "begin"; line_types = ["one"]; label = "begins"; shape = "square"; allowed_after_on_line = [""]; },
    { name = "tell"; line_types = ["one"]; label = "tells"; shape = "circle"; relation = "send"; },
    { name = "ask"; line_types = ["one"]; label = "asks"; shape = "circle"; thread_state = "blocked"; wait_class = "rendezvous"; },
    { name = "get"; line_types = ["one"]; label = "gets"; shape = "circle"; relation = "receive"; thread_state = "running"; }
);
CONF
export POET_CONFIG="$work/conf"
check "three.conf is valid" poet check conf/three.conf
start_server -o three.poet -q
check "a client sends three threads with fixed times" python3 "$root/tests/e2e/fixed.py"
until_true finished latest
stop_server

poet path three.poet --json >path.json
is "path: the segments with total, share and slack" \
    "$(json 'rows | cells(.segment, .critical_path_ns, .total_ns, .slack_ns)' path.json)" \
    "0xa0 → 0xa1 50000000 50000000 0
0xb2 → 0xb3 40000000 40000000 0
0xc2 → 0xc3 35000000 35000000 0
0xa1 → 0xa2 0 30000000 45000000
0xc0 → 0xc1 0 25000000 65000000
0xb0 → 0xb1 0 20000000 30000000"
is "path: length, total work, longest chain and hops" \
    "$(json 'total | cells(.length_ns, .work_ns, .span_ns, .bound_n, .hops)' path.json)" \
    "125000000 200000000 125000000 1.6 3"
is "path: the segments in their order" \
    "$(poet path three.poet --by piece --json | json 'rows | cells(.thread, .critical_path_ns, .end_event)')" \
    "P:p0 50000000 1:2
P:p1 40000000 2:4
P:p2 35000000 3:4"
would() { poet path three.poet --json "$@" | json 'total | .if_ns'; }
is "path --what-if: without the first segment" "$(would --what-if '0xa0 → 0xa1')" 95000000
is "path --what-if: without all segments at a place" "$(would --what-if 0xb3)" 85000000
is "path --what-if: half of one segment" "$(would --what-if '0xb2 → 0xb3=0.5')" 105000000
is "path --what-if: without the last segment" "$(would --what-if 0xc3)" 90000000
is "path --what-if: without a segment off the path" "$(would --what-if '0xa1 → 0xa2')" 125000000
is "path: the what-if gain of each segment" \
    "$(poet path three.poet --gains=3 --json | json 'rows.whatif_gain_ns' | head -n 3 | tr '\n' ' ')" \
    "30000000 40000000 35000000 "
is "path --to: until an event" \
    "$(poet path three.poet --to 2:4 --json | json 'total | cells(.length_ns, .hops)')" "90000000 1"

poet waits three.poet --json >waits.json
is "waits: length, class and waker of each" \
    "$(json 'rows | cells(.waited_ns, .wait_class, .unblocked_at)' waits.json | grep -v '^-')" \
    "65000000 rendezvous 0xb3
45000000 rendezvous 0xc3
30000000 rendezvous 0xa1"
is "waits: totals of wait time and lifetime" \
    "$(json 'total | cells(.waited_ns, .unattributed_ns, .lifetime_ns)' waits.json)" "140000000 0 340000000"
is "waits: the attribution of each wait" \
    "$(json 'rows | cells(.attributed_ns, .segment, .thread, .direct)' waits.json | grep -v '^-' | sort)" \
    "21000000 0xc2 → 0xc3 P:p2 direct
24000000 0xb2 → 0xb3 P:p1 propagated
28888889 0xb2 → 0xb3 P:p1 direct
30000000 0xa0 → 0xa1 P:p0 direct
36111111 0xa0 → 0xa1 P:p0 propagated"
is "waits --while: what ran during the waits" \
    "$(poet waits three.poet --while --json | json 'rows | cells(.attributed_ns, .segment)' | grep -v '^-' |
        awk '{ sum[$2] += $1 } END { for (s in sum) print s, sum[s] }' | sort)" \
    "0xa0 55000000
0xb2 50000000
0xc2 35000000"
is "states add up to each lifetime" \
    "$(poet states three.poet --json | json 'rows | cells(.thread, .running_ns, .blocked_ns, .lifetime_ns)')" \
    "P:p0 80000000 45000000 125000000
P:p1 60000000 30000000 90000000
P:p2 60000000 65000000 125000000"
check "waits and path print the same bytes each time" sh -c 'poet waits three.poet --json | cmp - waits.json && poet path three.poet --json | cmp - path.json'
check "path -o writes a PDF" poet path three.poet -o path.pdf
like "path as PDF has the segments" "$(pdftotext -layout path.pdf -)" "0xa0 → 0xa1 +50.000"

out=$(poet path three.poet --what-if nowhere 2>&1)
is "path --what-if with an unknown segment exits with 2" "$?" 2
like "path --what-if with an unknown segment is reported" "$out" "no segment on the path starts or ends there"
out=$(poet path three.poet --what-if 0xa1=x 2>&1)
is "path --what-if with an invalid factor exits with 2" "$?" 2
out=$(poet path three.poet --cpus 0 2>&1)
is "path with zero CPUs exits with 2" "$?" 2
unset POET_CONFIG

# ---- a report at the end ----
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
cat >slow.c <<'C'
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void come(long number), hold(long number, int round);
static void *work(void *a)
{
    for (int i = (come((long)a), 0); i < 5; i++) {
        pthread_mutex_lock(&m);
        hold((long)a, i);
        pthread_mutex_unlock(&m);
    }
    return a;
}
static struct sleeper sleepers[3];
static atomic_int held;
static void come(long number) /* while the first thread holds the lock, which waits for the others */
{
    if (number)
        until_set(&held, 1), about_to_wait(&sleepers[number]);
}
static void hold(long number, int round)
{
    held = 1;
    for (int i = 1; i < 3 && !number && !round; i++)
        until_asleep(&sleepers[i], 1);
    nanosleep(&(struct timespec){0, 5000000}, 0);
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -g slow.c -o slow
POET_REPORT=1 ./slow 2>report.txt
until_true grep -q "^Critical path" report.txt
like "POET_REPORT prints the report where the program has its own server" "$(cat report.txt)" "lock contention \([23] threads\): M:m at work"
like "POET_REPORT: the report has the critical path" "$(cat report.txt)" "slow.c:7 → slow.c:9 \(work\)"
start_server -o there.poet -q
POET_REPORT=1 ./slow 2>hint.txt
like "POET_REPORT with a running server asks for a file" "$(cat hint.txt)" "specify a file"
mkdir elsewhere
(cd elsewhere && POET_REPORT=report.txt ../slow)
check "POET_REPORT=FILE: the running server writes the report" until_true test -s elsewhere/report.txt
like "POET_REPORT=FILE: the file is the report" "$(cat elsewhere/report.txt)" "lock contention \([0-9]+ threads\)"
stop_server
done_testing
