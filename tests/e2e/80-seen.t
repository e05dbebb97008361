#!/bin/bash
# What is selected in the drawer is seen in the picture, and the other way round: waits and their sentence, functions and
# their share of the bars, blocks that were never freed; and what pages say of what they show.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

# Three threads in a ring, each step a function of its own: what is waited for was done in these.
cat >ring.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#define NI __attribute__((no_instrument_function))
static sem_t s[3];
NI static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void a1(void) { nap(100); }
static void a2(void) { nap(60); }
static void a3(void) { sem_wait(&s[0]); }
static void b2(void) { sem_wait(&s[1]); }
static void b3(void) { nap(80); }
static void c2(void) { sem_wait(&s[2]); }
static void c3(void) { nap(70); }
static void *one(void *a)
{
    pthread_setname_np(pthread_self(), "one");
    b2();
    b3();
    sem_post(&s[2]);
    return a;
}
static void *two(void *a)
{
    pthread_setname_np(pthread_self(), "two");
    c2();
    c3();
    sem_post(&s[0]);
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 3; i++) sem_init(&s[i], 0, 0);
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, two, 0); /* MADE */
    a1();
    sem_post(&s[1]);
    a2();
    a3();
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
C
poetcc -profile -g ring.c -o ring -pthread
POET_OUTPUT=ring.poet ./ring
until_true finished ring.poet
line() { grep -n -- "/\* $1 \*/" ring.c | cut -d: -f1; }
json() { perl -MJSON::PP -ne "my \$r = decode_json(\$_); my \$c = \$r->{row} or next; $1"; }

# ---- a wait in one sentence ----
until=$(poet waits ring.poet --by wait --json | json 'print $c->{until} if $c->{where} && $c->{where} =~ /^a3 /')
poet waits ring.poet --why "$until" --json >why.json
since=$(json 'print $c->{since_event}; exit' <why.json)
is "since when is an event, and the call that it is of" "$(json 'print $c->{since_where}; exit' <why.json)" "main (ring.c:$(line MADE))"
is "that made the one who was waited for" "$(poet dump --json ring.poet | grep "\"event\":\"$since\"" | grep -c '"type":"create"')" 1
charged() { json "printf '%.1f', \$c->{charge_ns} / 1e6 if (\$c->{step} // '') =~ /^$1 / && \$r->{depth} == 1" <why.json; }
cat >script <<E
select $until
reason
said
quit
E
timeout 100 poet view ring.poet --script script >log 2>&1
said=$(sed -n 's/^reason: //p' log)
like "the sentence has the functions of those who were waited for, and what each is charged" "$said" \
    "^waited [0-9.]* ms for T:two: T:one b3 \(ring.c:[0-9]*\) $(charged b3) ms, c3 \(ring.c:[0-9]*\) $(charged c3) ms"
like "since which event, and after which call" "$said" "; since $since at [0-9.]* .?s, when one made the other, in main \(ring.c:$(line MADE)\); "
like "and where it waited" "$said" "; it waited in a3 \(ring.c:[0-9]*\)$"
done_testing
