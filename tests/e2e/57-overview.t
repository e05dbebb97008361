#!/bin/bash
# The overview of the diagram: the critical path over the state bands, waits by class, and states of threads; each equals
# the tables, by order and by time.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
. "$root/tests/e2e/display.sh"

# Waits of each class: two threads acquire a lock in turn, each while the other waits for it; one sleeps; one waits for an untraced flag;
# main joins all of them.
cat >kinds.c <<'C'
#define _GNU_SOURCE
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static struct sleeper at[2];
static atomic_int has_had[2], slept;
static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void *holder(void *a)
{
    int me = *(char *)a == 't';
    pthread_setname_np(pthread_self(), a);
    for (int i = 0; i < 12; i++) {
        until_set(&has_had[!me], i + me);
        about_to_wait(&at[me]);
        pthread_mutex_lock(&m);
        has_had[me] = i + 1;
        if (me && i == 11)
            until_set(&slept, 1); /* the last one of all */
        else
            until_asleep(&at[!me], i + 1 + me);
        nap(8);
        pthread_mutex_unlock(&m);
        nap(1);
    }
    return a;
}
static void *sleeper(void *a)
{
    pthread_setname_np(pthread_self(), a);
    pthread_mutex_lock(&own);
    for (int i = 0; i < 4; i++) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 30000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&never, &own, &t);
    }
    pthread_mutex_unlock(&own);
    slept = 1;
    return a;
}
int main(void)
{
    pthread_t t[3];
    nap(20);
    pthread_create(&t[0], 0, holder, "one");
    pthread_create(&t[1], 0, holder, "two");
    pthread_create(&t[2], 0, sleeper, "sleeper");
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
}
C
poetcc -trace -g kinds.c -o kinds
POET_OUTPUT=kinds.poet ./kinds
until_true finished kinds.poet

cat >script <<'E'
action time 0; action end
action fit
state overlay first
state selection state
action tint-waits
action show-states
action fit
state overview-bands by-order.strips
state overlay by-order
state bands by-order.bands
image by-order.png
action time 6
action fit
state overview-bands by-time.strips
state overlay by-time
state bands by-time.bands
action hide-line 1
state overlay hidden
action undo
action cluster-kind
image cluster.png
state overlay cluster
state bands cluster.bands
action undo
action drawer
action critical-path
action tint-waits
state overlay off
action critical-path
action zoom 0.6 600 300
action fit
state selection state
quit
E
timeout 100 poet view kinds.poet --script script >log 2>&1

# The figures of the tables for each thread, and the sums of the diagram, in ms.
poet states kinds.poet --json >states.json
poet path kinds.poet --by thread --json >path.json
overview() { python3 "$root/tests/e2e/overview.py" "$@"; }
# hops TO FROM: the path has a hop from the row of FROM to that of TO
hops() { overview hops by-time | grep -qx "$1 $2"; }
check "overview: the critical path is shown at first" grep -q '^path ' first
is "overview by time: the path's length on each row is that of poet path" "$(overview path by-time)" alike
is "overview by time: the path covers the full width" "$(overview covered by-time)" alike
is "overview by order: the path covers the full width" "$(overview covered by-order)" alike
is "overview: wait times of each thread are those of poet states" "$(overview kinds by-time)" alike
is "overview by time: each thread waits mostly by its class" "$(overview most by-time | tr '\n' ' ')" \
    "T:main rendezvous T:one contention T:sleeper timeout T:two contention "
is "overview by order: each thread waits mostly by its class" "$(overview most by-order | tr '\n' ' ')" \
    "T:main rendezvous T:one contention T:sleeper timeout T:two contention "
is "overview: states below the bands are those of poet states" "$(overview states by-time)" alike
is "overview: what the order calls running is divided as in poet states" "$(overview measured by-time)" alike
is "overview by order: state bands have a row per thread" "$(cut -d' ' -f3 by-order.bands | tr '\n' ' ')" "T:main T:one T:two T:sleeper "
like "overview: the share of the path on hidden rows is shown" "$(head -n 1 hidden)" "hidden 0[.][0-9]*[1-9]"
is "overview: a line group has a state band" "$(wc -l <cluster.bands)" 1
is "overview: a line group has the whole path" "$(awk '
    /^trail of / { pixels = $3 }
    /^path 0 / { path += ($4 - $3) * $5 }
    END { print (path > 0.97 * pixels && path < 1.01 * pixels) ? "all" : path " of " pixels }' cluster)" all
check "overview: the path has a hop from one to two" hops T:two T:one
check "overview: the path has a hop from two to one" hops T:one T:two
is "overview: switched off, no overlay is drawn" "$(cat off)" ""
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "the viewer logs no message" quiet

# The overlay survives the change between overview and marks.
cat >script <<'E'
action time 0; action end
action critical-path
action tint-waits
action show-states
action start
state overlay near
action fit
state overlay far
action zoom-in
action fit
state overlay again
quit
E
timeout 100 poet view kinds.poet --script script >log 2>&1
check "with marks the path is a line through marks" grep -q ^along near
check "in the overview the path is a line through bands" grep -q ^path far
is "the overview after the change is the same" "$(cat again)" "$(cat far)"
check "the viewer logs no message during the change" quiet

# What a finished run opens with: in marks if all of them are legible, else state bands of the whole run along time, threads
# first, with the critical path; of a hang its diagnosis.
cat >lost.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&m);
    for (;;)
        pthread_cond_wait(&never, &m);
}
C
poetcc -trace -g lost.c -o lost
POET_OUTPUT=lost.poet ./lost &
lost=$!
is_lost() { poet blocked lost.poet 2>/dev/null | grep -q 'lost.c:8'; }
until_true is_lost
{ kill -9 $lost; wait $lost; } 2>/dev/null
until_true finished lost.poet
printf '%s\n' 'state scene opened' 'state overlay overlay' 'state overview-bands bands' 'state status opened.status' \
    'state panel opened.panel' quit >script
opened() { rm -f opened && timeout 100 poet view $1.poet --script script >log 2>&1 && head -n 1 opened; }
like "a run that does not fit opens with all of it, along time" "$(opened kinds)" ' time [1-9][0-9]* follow 0 far 1 '
check "a run opens with its critical path" grep -q '^path ' overlay
is "a run opens with its threads before its objects" "$(sed -n 's/^row .* \([A-Z]*\):.*/\1/p' bands | uniq | tr '\n' ' ')" "T M "
like "a short run opens in marks" "$(opened lost)" ' time 0 follow . far 0 '
check "all marks of a short run are shown" test "$(grep -c '^mark' opened)" -ge 4
like "a run that hangs opens with the diagnosis" "$(cat opened.status)" 'Hang detected'
done_testing
