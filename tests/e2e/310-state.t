#!/bin/bash
# The state at a cut: threads that wait for a lock, a condition, a semaphore and a join, one that has exited, one that was
# only created; what each holds; units of a semaphore; messages in flight in a pipe.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
cat >all.c <<'C'
#define _GNU_SOURCE
#include "asleep.h"
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t units, marks;
static int ends[2];
static struct sleeper at[4];
static void *holder(void *a) /* holds lock, waits for a unit */
{
    pthread_setname_np(pthread_self(), "holder");
    pthread_mutex_lock(&lock);
    sem_wait(&units);
    about_to_wait(&at[0]);
    sem_wait(&units);
    return a;
}
static void *locker(void *a) /* waits for lock */
{
    pthread_setname_np(pthread_self(), "locker");
    about_to_wait(&at[1]);
    pthread_mutex_lock(&lock);
    return a;
}
static void *waiter(void *a) /* waits for a condition, and has released its mutex */
{
    pthread_setname_np(pthread_self(), "waiter");
    pthread_mutex_lock(&inner);
    about_to_wait(&at[2]);
    pthread_cond_wait(&ready, &inner);
    return a;
}
static void *brief(void *a)
{
    pthread_setname_np(pthread_self(), "brief");
    return a;
}
int main(void)
{
    pthread_t t[4];
    char bytes[2] = "ab";
    sem_init(&units, 0, 0);
    sem_init(&marks, 0, 0);
    if (pipe(ends) < 0) return 2;
    sem_post(&units);
    pthread_create(&t[3], NULL, brief, NULL);
    pthread_join(t[3], NULL);
    pthread_create(&t[0], NULL, holder, NULL);
    until_asleep(&at[0], 1);
    pthread_create(&t[1], NULL, locker, NULL);
    until_asleep(&at[1], 1);
    pthread_create(&t[2], NULL, waiter, NULL);
    until_asleep(&at[2], 1);
    if (write(ends[1], bytes, 1) != 1) return 2;
    sem_post(&marks); /* the first mark */
    if (read(ends[0], bytes, 1) != 1) return 2;
    sem_post(&marks); /* the second one */
    _exit(0);
}
C
poetcc -trace -processes -g all.c -o all || exit 1
POET_OUTPUT=all.poet ./all
until_true finished all.poet
marks=$(poet dump all.poet --json | json '.[] | select(.type == "sem_post") | .event' | tr -d '"' | grep -v h)
first=$(echo "$marks" | sed -n 2p)
second=$(echo "$marks" | sed -n 3p)
ns=$(poet dump all.poet --json | json ".[] | select(.event == \"$first\") | .time_ns")
poet state all.poet --time "${ns}ns" --json >then
expect then <<'E'
a thread that waits for a lock | outer_rows | select(.thread == "T:locker") | cells(.state, .class, .object) => blocked contention M:lock
a thread that waits for a unit | outer_rows | select(.thread == "T:holder") | cells(.state, .class, .object) => blocked rendezvous Sem:units
a thread that waits for a condition | outer_rows | select(.thread == "T:waiter") | cells(.state, .class, .object) => blocked rendezvous CV:ready
the main thread | outer_rows | select(.thread == "T:main") | cells(.state, .class) => running -
a thread that has exited | outer_rows | select(.thread == "T:brief") | .state => exited
one lock is held | inner_rows | cells(.object, .state) => M:lock held
the units of a semaphore | rows | select(.object == "Sem:units" and .units_posted != null) | cells(.units_posted, .units_acquired, .waiters) => 1 1 1
a lock has a holder and a waiter | rows | select(.object == "M:lock" and .holders != null) | cells(.holders, .waiters) => 1 1
the other lock has no holder | [rows | select(.object == "M:inner" and .holders != null and .holders > 0)] | length => 0
a message in flight | [rows | select(.in_flight != null) | .in_flight] | add => 1
E
like "the holder's lock is below it" "$(grep -A1 'T:holder' then | sed -n 2p)" '"state":"held".*"depth":1'
is "by an event, only what happened before it" \
    "$(poet state all.poet --at "$second" --json | json '[outer_rows | select(.thread) | cells(.thread, .state)] | sort | join(", ")' | tr -d '"')" \
    "T:brief exited, T:holder created, T:locker created, T:main running, T:waiter created"
is "after its receive the message is not in flight" \
    "$(poet state all.poet --at "$second" --json | json '[rows | select(.in_flight != null) | .in_flight] | length')" 0
start=$(poet dump all.poet | sed -n 's/^\([0-9:]*\) .* create *T:locker .*/\1/p')
is "before an event, without it" \
    "$(poet state all.poet --past-of "$start" --json | json '[outer_rows | select(.thread == "T:locker")] | length')" 0
like "an event that does not exist" "$(poet state all.poet --at 1:999 2>&1)" 'no event 1:999'
poet state all.poet --at 1:1 --time 1ms >/dev/null 2>&1
is "two states at once" $? 2
poet state all.poet --from 1ms >/dev/null 2>&1
is "a range is not a state" $? 2
done_testing
