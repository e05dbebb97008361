#!/bin/bash
# A diagram in bands: a deadlock cycle stays in one band, and no text is cut.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# Three threads that meet, take their own lock, meet again, and request the next one.
cat >ring.c <<'C'
#include <pthread.h>
static pthread_mutex_t account[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t all;
static void *teller(void *a)
{
    long i = (long)a;
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&account[i]);
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&account[(i + 1) % 3]);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&all, 0, 3);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, teller, (void *)i);
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
# The marks of an SVG have their event in the title. A band is as high as its rows are together: 8 rows of 26 points.
bands() { # bands WIDTH: the number of the bands in which events of the cycle are
    poet export ring.poet --labels name --no-title --no-legend --width $1 --wrap -o ring.svg
    sed -n 's/.*<circle cx="[0-9.]*" cy="\([0-9.]*\)".*(\([0-9]*:[0-9]*\)).*/\2 \1/p' ring.svg | sort >marks
    grep -F -w -f cycle marks | awk -v high=$(band) '{ print int($2 / high) }' | sort -u | wc -l
}
# The distance of bands: that of the names of one line.
band() { sed -n 's/.*<text [^>]*y="\([0-9.]*\)"[^>]*>T:main<.*/\1/p' ring.svg | sort -n | awk 'NR == 2 { print $1 - last } { last = $1 }'; }
for width in 90mm 100mm 110mm 120mm 130mm; do
    is "at $width the cycle is in one band" "$(bands $width)" 1
    texts=$(grep -o '>requests M:[^<]*<' ring.svg | sort)
    is "at $width each text is drawn once" "$texts" "$(sort -u <<<"$texts")"
    is "at $width all texts are drawn" "$(wc -l <<<"$texts")" 3
done
done_testing
