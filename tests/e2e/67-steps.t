#!/bin/bash
# Code segments between events, with the calls that led to them: causes of waits, and the contents of the critical path.
# Programs work by sleeping for some ms, and take stamps that the figures are compared with.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/tables.sh"

# The functions at the start of a segment: "A", "A after 9" (a source line), "D < B" where it was called
named() { sed -E 's/ \([^)]*\)//; s/( < [^ ]*) \([^)]*\)/\1/; s/, after [^:]*:([0-9]+)/ after \1/'; }

# Segments of calls alone: on a busy machine threads start late and resume late.
of_calls() { grep -vE '^(start latency|wake-up latency|before thread start)|→'; }

# As work() of work.h, and prints its start and end.
cat >stamped.h <<'C'
#include "work.h"
#include "asleep.h"
static NOT void stamped(const char *name, int ms)
{
    long long from = now(), to;
    rest(ms);
    to = now();
    printf("%s\t%lld\t%lld\t%lld\n", name, to - from, from, to);
}
#define work stamped
C
cat >blocks.c <<'C'
#include "stamped.h"
NI void D(const char *name, int ms) { work(name, ms); }
NI void B(void)
{
    work("B", 2);
    D("D in B", 6);
}
NI void C(void)
{
    work("C", 4);
    D("D in C", 7);
}
NI void A(void)
{
    work("A", 1);
    B();
    work("A after 16", 3);
    C();
    work("A after 18", 5);
}
NI void *body(void *p)
{
    work("begin", 0);
    A();
    work("end", 0);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, body, 0);
    pthread_join(t, 0);
    return 0;
}
C
cat >fig4.c <<'C'
#include "stamped.h"
sem_t s[3];
struct sleeper at[3];
pthread_barrier_t all;
static void await(const char *name, sem_t *sem)
{
    long long from = now();
    about_to_wait(&at[sem - s]);
    sem_wait(sem);
    said(name, from);
}
NI void A1(void) { work("A1", 50); }
NI void A2(void) { work("A2", 30); }
NI void B1(void) { work("B1", 20); }
NI void B3(void) { work("B3", 40); }
NI void C1(void) { work("C1", 25); }
NI void C3(void) { work("C3", 35); }
#define BEGIN pthread_barrier_wait(&all)
NI void *p0(void *p) { BEGIN; A1(); until_asleep(&at[1], 1); sem_post(&s[1]); A2(); await("p0 waits", &s[0]); return p; }
NI void *p1(void *p) { BEGIN; B1(); await("p1 waits", &s[1]); B3(); until_asleep(&at[2], 1); sem_post(&s[2]); return p; }
NI void *p2(void *p) { BEGIN; C1(); await("p2 waits", &s[2]); C3(); until_asleep(&at[0], 1); sem_post(&s[0]); return p; }
int main(void)
{
    pthread_t t[3];
    void *(*of[3])(void *) = {p0, p1, p2};
    for (int i = 0; i < 3; i++) sem_init(&s[i], 0, 0);
    pthread_barrier_init(&all, 0, 3);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, of[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C
for p in blocks fig4; do
    check "$p.c compiles with -profile" poetcc -profile -g -O1 -no-pie $p.c -o $p -lpthread
    poet record -o $p.poet ./$p >$p.out 2>/dev/null
done

# A segment is the function's work, its own sleep and what lies around it: never less, and little more.
# near NAME GOT DID OVER: prints nothing if that is so
near() { [ "$2" -ge "$3" ] && [ "$2" -lt $(($3 + $4)) ] || echo "$1: $2, its own stamps $3"; }

steps_of() { poet path "$1" --json | rows row segment critical_path_ns | named | sort; }
steps_of blocks.poet >steps
is "blocks: seven basic blocks are distinguished" "$(of_calls <steps | awk -F'\t' '$2 > 800000 { print $1 }' | grep -vE 'thread|^([BC] after|body|main)' | tr '\n' ' ')" \
    "A A after 16 A after 18 B C D < B D < C "
# around NAME: the most it can have taken, from the end of the work before it to the start of the work after it
around() { awk -F'\t' -v n="$1" '$1 == n { at = before } at && !done && $1 != n { print $3 - at; done = 1 } { before = $4 }' blocks.out; }
is "blocks: each segment has its time" "$(for name in A B "A after 16" C "A after 18"; do
    did=$(awk -F'\t' -v n="$name" '$1 == n { print $2 }' blocks.out)
    near "$name" "$(awk -F'\t' -v n="$name" '$1 == n { print $2 }' steps)" "$did" $(($(around "$name") - did + 1))
done)" ""
is "blocks: segments of D are distinguished by caller" \
    "$(awk -F'\t' '$1 ~ /^D < [BC]$/ { n++; ns += $2 } END { print n, (ns >= 13e6) }' steps)" "2 1"
# gap NAME: from its end to the start of what comes next
gap() { awk -F'\t' -v n="$1" 'to { print $3 - to; exit } $1 == n { to = $4 }' blocks.out; }
is "blocks: B and C after D take no more than the gap between D and what comes next" \
    "$(awk -F'\t' -v b="$(gap "D in B")" -v c="$(gap "D in C")" '/^B after/ && $2 <= b || /^C after/ && $2 <= c { n++ } END { print n + 0 }' steps)" 2
is "blocks: the path is as long as its segments" "$(awk -F'\t' '{ ns += $2 } END { printf "%.0f", ns }' steps)" \
    "$(poet path blocks.poet --json | rows total length_ns)"
is "blocks: poet check accepts the path and its segments" "$(poet check blocks.poet 2>&1 | grep -c OK)" 1

# Carnival's figure 4.
# Of the wait itself: the segments on its paths follow it.
why() { poet waits fig4.poet --why "$1" --json | rows row segment difference_ns attributed_ns waited_ns |
    awk -F'\t' '$4 != "-" && n++ { exit } { print }' | named; }
# waits_of: for each wait for a semaphore the thread's name, the event and the time
waits_of() {
    poet dump fig4.poet --json | json '
        ([.[] | select(.line) | {key: "\(.line)", value: .name}] | from_entries) as $names |
        [.[] | select(.event and .thread)] | group_by(.thread)[] |
        . as $events | range(1; length) | {wait: $events[. - 1], acquired: $events[.]} |
        select(.wait.type == "wait" and .acquired.type == "sem_acquired") |
        [$names["\(.wait.thread)"], .wait.event, .acquired.time_ns - .wait.time_ns] | @tsv'
}
waits_of | sort >each
# The program's stamps enclose the wait: never less.
for one in p0 p1 p2; do
    got=$(awk -F'\t' -v n="$one" '$1 == n { print $3 }' each)
    did=$(awk -F'\t' -v n="$one waits" '$1 == n { print $2 }' fig4.out)
    is "figure: $one waits as long as the program measured" \
        "$([ "$got" -le "$did" ] && [ $((2 * got)) -gt "$did" ] || echo "$got $did")" ""
done
event() { awk -F'\t' -v n="$1" '$1 == n { print $2 }' each; }
charged() { why "$(event "$1")" | of_calls | awk -F'\t' '$3 != "-" && $3 > 1500000 { print $1 }' | grep -E '^[ABC][1-3]$' | sort -u | tr '\n' ' '; }
is "figure: the wait of p1 is attributed to A1" "$(charged p1)" "A1 "
is "figure: the wait of p2 is attributed to A1 and B3" "$(charged p2)" "A1 B3 "
is "figure: the wait of p0 is attributed to B3 and C3" "$(charged p0)" "B3 C3 "
is "figure: attributions add up to the wait time" \
    "$(poet waits fig4.poet --json | json 'sum(.[] | select(.depth > 0).row.attributed_ns) - total.waited_ns')" 0
is "figure: what-if B3 takes no time, the path is shorter by it" \
    "$(poet path fig4.poet --what-if B3=0 --json | json '
        sum(rows | select(.segment // "" | test("^B3|\\(B3\\)$")).critical_path_ns) as $of_b3 |
        [total][0] | .length_ns - .if_ns | select((. > 0 and . <= $of_b3 + 1e6) | not) | "\(.) \($of_b3)"' 2>&1)" ""

# After a fork, in a recursion, and where calls are counted only.
cat >forks.c <<'C'
#include "work.h"
#include <sys/wait.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
NI int F(int n) { work("F", 2); return n ? F(n - 1) : 0; }
NI void *G(void *p) { pthread_mutex_lock(&m); F(2); pthread_mutex_unlock(&m); return p; }
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, G, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    if (!fork()) { G(0); _exit(0); }
    wait(0);
    return 0;
}
C
poetcc -profile -g -O1 forks.c -o forks -lpthread
poet record -o forks.poet ./forks >forks.out 2>/dev/null
POET_MEASURE=calls=counts poet record -o counts.poet ./forks >/dev/null 2>&1
check "forks: poet check accepts the trace of a program that forks" poet check forks.poet
is "forks: the time of F is that of its calls in parent and child" "$(near F \
    "$(poet path forks.poet --json | rows row segment total_ns | named | awk -F'\t' '/^F/ { n += $2 } END { printf "%.0f", n }')" \
    18000000 1000000000000)" ""
check "counts: poet check accepts a trace of counts" poet check counts.poet
is "counts: the path has no segments of calls" "$(steps_of counts.poet | of_calls | grep -c '^[FG]')" 0
done_testing
