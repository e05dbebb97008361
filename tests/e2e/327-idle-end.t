#!/bin/bash
# The first view by time of a run that hangs: what happened before the hang fills most of it, a break says how long
# nothing happened after it, and the ruler is true; the whole run is one key away.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
cat >hang.c <<'C'
#include <pthread.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;
static void *transfer(void *p)
{
    int own = *(int *)p;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&locks[own]);
        pthread_mutex_unlock(&locks[own]);
    }
    pthread_mutex_lock(&locks[own]);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&locks[!own]);
    return p;
}
int main(void)
{
    pthread_t t[2];
    int own[2] = {0, 1};
    pthread_barrier_init(&both, 0, 2);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, transfer, &own[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -g hang.c -o hang
poet record --hang-timeout=2s -o hang.poet ./hang >recorded 2>&1
until_true finished hang.poet
printf '%s\n' 'state overview-bands first' 'action fit' 'state overview-bands whole' quit >script
timeout 100 poet view hang.poet --script script >said 2>&1
head -n 12 first | sed 's/^/# /'
range() { sed -nE 's/^strips by time, (-?[0-9]+) to (-?[0-9]+),.*/\1 \2/p' "$1"; }
read -r from to <<<"$(range first)"
read -r idle_from idle_to <<<"$(sed -nE 's/^idle end ([0-9]+) to ([0-9]+)$/\1 \2/p' first)"
read -r whole_from whole_to <<<"$(range whole)"
check "the first view ends in the idle end" test "$idle_from" -le "$to" -a "$to" -lt "$idle_to"
check "what happened before fills half of it or more" test $((2 * (idle_from - from))) -ge $((to - from))
check "the break is at least as long as no event was recorded" test $((idle_to - idle_from)) -ge 1900000000
is "the ruler is true" "$(awk -v from="$from" -v to="$to" '
    /^tick/ { ns = $3 * ($4 == "s" ? 1e9 : $4 == "ms" ? 1e6 : $4 == "ns" ? 1 : 1e3); n++
              if (($2 - (ns - from) / (to - from)) ^ 2 > 1e-6) print }
    END { print (n > 1 ? "ticks" : "no ticks") }' first)" ticks
is "the whole run is shown by the action fit" "$whole_from $whole_to" "$from $idle_to"
is "which needs no break" "$(grep -c '^idle end' whole)" 0

# ---- a thread that runs at the end, and a wait that ends ----
cat >busy.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    struct timespec begin, now;
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 500000000);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
}
C
poetcc -trace -g busy.c -o busy
POET_OUTPUT=busy.poet ./busy
until_true finished busy.poet
printf '%s\n' 'state overview-bands worked' quit >script
timeout 100 poet view busy.poet --script script >said 2>&1
read -r from to <<<"$(range worked)"
check "time in which a thread runs without events is shown" test $((to - from)) -ge 500000000
is "without a break" "$(grep -c '^idle end' worked)" 0
done_testing
