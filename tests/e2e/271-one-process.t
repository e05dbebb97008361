#!/bin/bash
# What only threads of one process can end, as all processes that inherited it are traced: waits at a socket pair, an eventfd,
# and objects in unnamed shared memory. Nothing is concluded if a process that is not traced has inherited it.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >waits.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
struct shared {
    sem_t sem;
    pthread_mutex_t m;
    pthread_cond_t c;
};
static struct shared *s;
static const char *kind;
static char many[1 << 20];
static int pair[2], counter;
static void *waits(void *p)
{
    int end = pair[p != 0];
    uint64_t n;
    ssize_t done = 0;
    if (!strcmp(kind, "read"))
        done = read(end, &n, 1); // it reads
    if (!strcmp(kind, "write"))
        done = write(end, many, sizeof many); // it writes
    if (!strcmp(kind, "eventfd"))
        done = read(counter, &n, sizeof n); // it takes
    if (!strcmp(kind, "sem"))
        sem_wait(&s->sem); // it acquires
    if (!strcmp(kind, "cond")) {
        pthread_mutex_lock(&s->m);
        pthread_cond_wait(&s->c, &s->m); // it waits
    }
    return done < 0 ? p : 0;
}
/* waits KIND [child]: with a child that makes no traced call */
int main(int argc, char **argv)
{
    pthread_t t[2];
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    kind = argv[1];
    s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    counter = eventfd(0, 0);
    sem_init(&s->sem, 1, 0);
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->m, &m);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&s->c, &c);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 2;
    if (argc > 2 && fork() == 0)
        for (;;)
            syscall(SYS_pause);
    pthread_create(&t[0], 0, waits, 0);
    pthread_create(&t[1], 0, waits, pair);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}
C
cc -g -pthread waits.c -o waits
at() { echo "waits.c:$(grep -n "// $1" waits.c | cut -d: -f1)"; }
begin() {
    poet record -o "$1$2.poet" -- ./waits "$@" >/dev/null 2>&1 &
    pids="$pids $!"
}
says() { poet blocked "$1.poet" 2>/dev/null >said; grep -Eq "$2" said; }
both() { poet blocked "$1.poet" 2>/dev/null >said; [ "$(grep -Ec "^T:waits.* at $2" said)" = 2 ]; }

for each in read write eventfd sem cond; do
    begin $each
    begin $each child
done
hang() { # NAME WORDS DIAGNOSIS
    check "$1: both threads wait" until_true both $1 "$(at "$2")"
    check "$1: a diagnosis" until_true says $1 "$3"
    check "$1: with a child that is not traced: both threads wait" until_true both $1child "$(at "$2")"
    is "$1: with a child that is not traced: no diagnosis" "$(grep -E 'HANG|DEADLOCK|never resume' said)" ""
}
hang read "it reads" '^HANG: no remaining thread can read from, or write to, S:socketpair'
hang write "it writes" '^HANG: no remaining thread can read from, or write to, S:socketpair'
hang eventfd "it takes" '^LIKELY HANG: no traced thread can still wake the waiters of E:'
like "eventfd: why it is uncertain" "$(until_true says eventfd LIKELY; cat said)" 'uncertain: the kernel could wake them, at the end of an asynchronous call'
hang sem "it acquires" '^(LIKELY )?HANG: no (remaining|traced) thread can (still )?wake the waiters of Sem:'
hang cond "it waits" '^HANG: no remaining thread can wake the waiters of CV:'
end_own_processes waits
done_testing
