#!/bin/bash
# A diagram in bands: a deadlock cycle stays in one band, and no text is cut.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# Three threads that meet, take their own lock, one after the other, meet again, and request the next one. The main thread
# meets them, so that it waits for their ends only after that: else the columns, and with them the bands, would depend on
# which of them comes first.
cat >ring.c <<'C'
#include <pthread.h>
#include <sched.h>
static volatile int turn;
static pthread_mutex_t account[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t all;
static void *teller(void *a)
{
    long i = (long)a;
    pthread_barrier_wait(&all);
    while (turn != i)
        sched_yield();
    pthread_mutex_lock(&account[i]);
    turn = i + 1;
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&account[(i + 1) % 3]);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&all, 0, 4);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, teller, (void *)i);
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
}
C
poetcc -trace -g ring.c -o ring
POET_SERVER= POET_OUTPUT=ring.poet ./ring &
hung=$!
pids="$pids $hung"
cycle() { poet blocked ring.poet | grep -q ^DEADLOCK; }
until_true cycle
kill -KILL $hung
until_true finished ring.poet

# The events of the cycle: each request, and where the requested lock was acquired.
poet blocked ring.poet --json | jq -r '.blocked[] | select(.type == "acquire") | .event, .held_by[].acquired_event' | sort -u >cycle
is "the deadlock cycle has six events" "$(wc -l <cycle)" 6
# The marks of an SVG have their event in the title; each band begins with the name of the first line.
export_svg() { poet export "$1" --labels name --no-title --no-legend --width $2 --wrap -o ring.svg; }
bands() { # bands WIDTH: the number of the bands in which events of the cycle are
    export_svg ring.poet $1
    sed -n 's/.*<text [^>]*y="\([0-9.]*\)"[^>]*>T:main<.*/\1/p' ring.svg | sort -n >tops
    sed -n 's/.*<circle cx="[0-9.]*" cy="\([0-9.]*\)".*(\([0-9]*:[0-9]*\)).*/\2 \1/p' ring.svg | sort >marks
    grep -F -w -f cycle marks |
        awk 'NR == FNR { top[NR] = $1; n = NR; next } { i = n; while (i > 1 && $2 < top[i] - 10) i--; print i }' tops - | sort -u | wc -l
}
for width in 90mm 100mm 110mm 120mm 130mm; do
    is "at $width the cycle is in one band" "$(bands $width)" 1
    texts=$(grep -o '>requests M:[^<]*<' ring.svg | sort)
    is "at $width each text is drawn once" "$texts" "$(sort -u <<<"$texts")"
    is "at $width all texts are drawn" "$(wc -l <<<"$texts")" 3
done

# ---- lines with nothing in a band, and a cycle that does not fit ----
export_svg ring.poet 110mm
first=$(sed -n 's/.*>\([0-9]*\) lines\? left out: nothing here<.*/\1/p' ring.svg | head -n 1)
names() { grep -o ">$1<" ring.svg | wc -l; }
check "the first band leaves out the locks, which no thread has requested yet, and says so" test "${first:-0}" -ge 3
check "a lock is named in fewer bands than a thread that waits through all" test "$(names 'M:account\[0\]')" -lt "$(names T:main)"
is "each lock is named in the band with the cycle" "$(for i in 0 1 2; do names "M:account\[$i\]"; done | sort -u | grep -c '^0')" 0
is "no cycle is torn there" "$(grep -c 'the deadlock continues' ring.svg)" 0
export_svg ring.poet 45mm 2>errors
check "a band that tears the cycle says that it continues" test "$(grep -c 'the deadlock continues below' ring.svg)" -ge 1
done_testing
