#!/bin/bash
# poet locks: a semaphore that other threads post is not a lock; a semaphore that its waiter posts is one.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >queue.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t items, guard, kept;
static void *consumer(void *a)
{
    for (int i = 0; i < 5; i++) {
        sem_wait(&items);
        sem_wait(&guard);
        sem_post(&guard);
    }
    sem_wait(&kept);
    return a;
}
int main(void)
{
    pthread_t t;
    sem_init(&items, 0, 0);
    sem_init(&guard, 0, 1);
    sem_init(&kept, 0, 1);
    pthread_create(&t, 0, consumer, 0);
    for (int i = 0; i < 5; i++)
        sem_post(&items);
    return pthread_join(t, 0);
}
C
poetcc -trace -g queue.c -o queue && POET_OUTPUT=queue.poet ./queue
until_true finished queue.poet
poet locks queue.poet --json >locks.json
is "the semaphore that is acquired and posted by one thread is a lock" \
    "$(json 'outer_rows | select(.object == "Sem:guard") | .acquisitions' <locks.json)" 5
is "the semaphore that another thread posts is not listed" "$(json 'outer_rows | .object' <locks.json | sort)" \
    "Sem:guard
Sem:kept"
is "the semaphore that no thread posted is held at the end" \
    "$(json 'outer_rows | select(.object == "Sem:kept") | .held_at_end' <locks.json)" held
run_ns=$(poet report queue.poet --json | json 'table("run") | rows.duration_ns')
is "it is held for no longer than the run took" "$(json "outer_rows | select(.held_ns > $run_ns) | .object" <locks.json)" ""
done_testing
