#!/bin/bash
# Static programs with each linker: their calls are recorded.
. "$(dirname "$0")/lib.sh"
export POET_KEEP=1 POET_QUIET=1
cat >meets.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready;
static void *work(void *unused)
{
    jmp_buf back;
    if (setjmp(back) == 0)
        longjmp(back, 1);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    sem_post(&ready);
    return unused;
}
int main(void)
{
    pthread_t thread;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&ready);
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
C
for linker in bfd gold lld mold; do
    "${CC:-cc}" -static -fuse-ld=$linker meets.c -o plain -pthread 2>/dev/null || { skip "$linker cannot link static programs here"; continue; }
    check "$linker: poetcc -static links the program" poetcc -trace -static -g -fuse-ld=$linker meets.c -o "meets-$linker"
    is "$linker: the program runs" "$("./meets-$linker")" done
    trace=$(trace_of "meets-$linker")
    check "$linker: the trace passes poet check" sound "$trace"
    is "$linker: the events of the threads are recorded" "$(poet dump "$trace" | awk '$4 ~ /^T:work/ { print $3 }' | grep -xE 'start|lock|unlock' | sort -u | tr '\n' ' ')" "lock start unlock "
done
done_testing
