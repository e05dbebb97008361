#!/bin/bash
# Objects in memory that other processes can use: while one that is not traced can still end a wait, nothing is concluded;
# if all that inherited the memory are traced, a hang of them is one, and in memory with a name a likely one.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >shared.h <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
struct shared {
    int word, ready;
    sem_t sem;
    pthread_mutex_t m;
    pthread_cond_t c;
    pthread_barrier_t b;
};
void wake(struct shared *s, const char *kind, const char *go);
C
# What is not traced: it waits until a file is there, then ends the wait.
cat >helper.c <<'C'
#include "shared.h"
void wake(struct shared *s, const char *kind, const char *go)
{
    while (access(go, F_OK))
        usleep(1000);
    if (!strcmp(kind, "sem"))
        sem_post(&s->sem);
    else if (!strcmp(kind, "barrier"))
        pthread_barrier_wait(&s->b);
    else
        pthread_mutex_lock(&s->m);
    s->word = s->ready = 1;
    if (!strcmp(kind, "cond"))
        pthread_cond_signal(&s->c);
    pthread_mutex_unlock(&s->m);
    syscall(SYS_futex, &s->word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}
C
# shared KIND PEER FILE GO: a thread waits at an object in shared memory, without FILE in memory of no name, with -private in
# private memory; PEER: a child that is not traced (helper), or that waits, too (twin), another program (other), or none.
cat >shared.c <<'C'
#include "shared.h"
static struct shared *s;
static const char *kind;
static void *waits(void *p)
{
    if (!strcmp(kind, "futex"))
        syscall(SYS_futex, &s->word, FUTEX_WAIT, 0, 0, 0, 0); // line 7
    if (!strcmp(kind, "sem"))
        sem_wait(&s->sem);
    if (!strcmp(kind, "barrier"))
        pthread_barrier_wait(&s->b);
    if (!strcmp(kind, "cond")) {
        pthread_mutex_lock(&s->m);
        while (!s->ready)
            pthread_cond_wait(&s->c, &s->m);
        pthread_mutex_unlock(&s->m);
    }
    return p;
}
int main(int argc, char **argv)
{
    const char *peer = argv[2], *file = argv[3], *go = argv[argc - 1];
    int fd = *file == '/' ? open(file, O_RDWR | O_CREAT, 0600) : -1, shared = strcmp(file, "-private");
    kind = argv[1];
    if (fd >= 0 && ftruncate(fd, 4096))
        return 1;
    s = mmap(0, 4096, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (!strcmp(peer, "other-begins"))
        return wake(s, kind, go), 0;
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_barrierattr_t b;
    pthread_mutexattr_init(&m), pthread_mutexattr_setpshared(&m, shared != 0);
    pthread_condattr_init(&c), pthread_condattr_setpshared(&c, shared != 0);
    pthread_barrierattr_init(&b), pthread_barrierattr_setpshared(&b, shared != 0);
    pthread_mutex_init(&s->m, &m), pthread_cond_init(&s->c, &c);
    pthread_barrier_init(&s->b, &b, strcmp(peer, "twin") ? 2 : 3), sem_init(&s->sem, shared != 0, 0);
    pid_t child = !strcmp(peer, "helper") || !strcmp(peer, "twin") ? fork() : 1;
    if (!child && !strcmp(peer, "helper"))
        wake(s, kind, go), _exit(0);
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    pthread_join(t, 0);
    return child > 1 ? waitpid(child, 0, 0) < 0 : 0;
}
C
gcc -g -c helper.c -o helper.o
poetcc -trace -g shared.c helper.o -o shared
gcc -g -pthread shared.c helper.o -o shared-recorded
here=$PWD
# begins HOW KIND PEER FILE
begins() {
    local name=$1-$2-$3-$(basename -- "$4")
    if [ "$1" = record ]; then
        poet record -o "$name.poet" -- ./shared-recorded "$2" "$3" "$4" "$here/go-$name" >/dev/null 2>&1 &
    else
        POET_OUTPUT=$name.poet ./shared "$2" "$3" "$4" "$here/go-$name" &
    fi
    pids="$pids $!"
    names="$names $name"
}
blocked() { poet blocked "$1.poet" 2>/dev/null >said; [ "$(grep -c "to join" said)" = "${2:-1}" ]; }
waits_at() { blocked "$1" "$3" && [ "$(grep -Ec "$2" said)" = "${3:-1}" ]; }
concludes() { grep -E '^(LIKELY |POSSIBLE )?(HANG|DEADLOCK)' said | head -n 1 | sed 's/:.*//'; }
finished() { poet stat --json "$1.poet" | grep -q '"finished":true'; }
kinds="sem cond barrier"
can_look() { cat /proc/$(own_processes shared | head -n 1)/syscall >/dev/null 2>&1; }

for kind in $kinds futex; do
    begins traced $kind helper -anonymous
    begins traced $kind other "$here/file-$kind"
    begins record $kind other "$here/recorded-$kind"
    begins traced $kind twin -anonymous
    begins traced $kind none -private
done
if can_look; then
    kinds="$kinds futex"
else
    skip "the call in which a thread sleeps cannot be read here"
fi
for kind in $kinds; do
    at="T:waits[#0-9]* (waits|arrives)"
    [ $kind = futex ] && at="waits .*at shared.c:7[ ,]"
    for each in traced-$kind-helper--anonymous traced-$kind-other-file-$kind record-$kind-other-recorded-$kind; do
        check "$each: a thread waits" until_true waits_at $each "$at"
        is "$each: nothing is concluded while an untraced process can end the wait" "$(concludes)" ""
    done
    check "$kind in private memory: a thread waits" until_true waits_at traced-$kind-none--private "$at"
    like "$kind in private memory: a hang" "$(concludes)" '^(LIKELY )?HANG$'
done
for kind in sem cond barrier; do
    check "two traced processes wait: $kind" until_true waits_at traced-$kind-twin--anonymous "T:waits[#0-9]* (waits|arrives)" 2
    is "$kind: all processes that inherited the memory are traced: a hang" "$(concludes)" HANG
done
for kind in sem cond; do
    begins traced $kind twin "$here/twin-$kind"
    check "two traced processes wait in a file: $kind" until_true waits_at traced-$kind-twin-twin-$kind "T:waits[#0-9]* (waits|arrives)" 2
    is "$kind: others may map the file: a likely hang" "$(concludes)" "LIKELY HANG"
    like "$kind: for that reason" "$(cat said)" 'uncertain: processes that are not traced may use its memory'
done

# ---- the untraced processes end the waits ----
for kind in $kinds; do
    ./shared-recorded $kind other-begins "$here/file-$kind" "$here/go-traced-$kind-other-file-$kind" &
    ./shared-recorded $kind other-begins "$here/recorded-$kind" "$here/go-record-$kind-other-recorded-$kind" &
    for each in traced-$kind-helper--anonymous traced-$kind-other-file-$kind record-$kind-other-recorded-$kind; do
        touch go-$each
        check "$each: the wait ends" until_true finished $each
        is "$each: no thread is blocked" "$(poet blocked $each.poet)" "no thread is blocked"
    done
done
end_own_processes shared
end_own_processes shared-recorded
done_testing
