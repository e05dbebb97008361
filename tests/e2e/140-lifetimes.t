#!/bin/bash
# The lifetime of a process-shared object: it lasts from its initialization to the next initialization at the same
# address; an object that follows is another line, in whatever process, thread, file or kind.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# Marks are notes. Order that no traced call shows: a byte in shared memory.
cat >mark.h <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define MARK(x) poet_text("mark %s", x)
#define MUST(x) do { if (!(x)) abort(); } while (0)
static volatile unsigned char *unseen;
static void pause_until(int i) { while (!unseen[i]) usleep(1000); }
static void go(int i) { unseen[i] = 1; }
static void *shared_bytes(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    return p;
}
static void mutex_make(pthread_mutex_t *m, int robust)
{
    pthread_mutexattr_t a;
    MUST(!pthread_mutexattr_init(&a) && !pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    MUST(!robust || !pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
    MUST(!pthread_mutex_init(m, &a));
}
static void mutex_use(pthread_mutex_t *m, const char *mark) { MUST(!pthread_mutex_lock(m)); MARK(mark); MUST(!pthread_mutex_unlock(m)); }
static void rwlock_make(pthread_rwlock_t *l)
{
    pthread_rwlockattr_t a;
    MUST(!pthread_rwlockattr_init(&a) && !pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    MUST(!pthread_rwlock_init(l, &a));
}
/* An object of each kind is initialized, used and destroyed at one address. */
static void use_all(char *at, const char *name)
{
    char mark[80];
    for (int robust = 0; robust < 2; robust++) {
        pthread_mutex_t *m = (void *)(at + 64 * robust);
        mutex_make(m, robust);
        snprintf(mark, sizeof mark, "%s-mutex%d", name, robust);
        mutex_use(m, mark);
        MUST(!pthread_mutex_destroy(m));
    }
    pthread_rwlock_t *l = (void *)(at + 128);
    rwlock_make(l);
    MUST(!pthread_rwlock_wrlock(l));
    snprintf(mark, sizeof mark, "%s-rwlock", name);
    MARK(mark);
    MUST(!pthread_rwlock_unlock(l) && !pthread_rwlock_destroy(l));
    pthread_spinlock_t *spin = (void *)(at + 256);
    MUST(!pthread_spin_init(spin, PTHREAD_PROCESS_SHARED) && !pthread_spin_lock(spin));
    snprintf(mark, sizeof mark, "%s-spin", name);
    MARK(mark);
    MUST(!pthread_spin_unlock(spin) && !pthread_spin_destroy(spin));
    sem_t *s = (void *)(at + 320);
    MUST(!sem_init(s, 1, 1) && !sem_wait(s));
    snprintf(mark, sizeof mark, "%s-semaphore", name);
    MARK(mark);
    MUST(!sem_post(s) && !sem_destroy(s));
}
C
# orders.py TRACE TRUTH...: TRUTH is "a<b" or "a|b" of marks; prints each that poet order answers differently, and
# "done"
cat >orders.py <<'P'
import json, re, subprocess, sys
trace, marks = sys.argv[1], {}
for text in subprocess.run(["poet", "dump", "--json", trace], capture_output=True, text=True).stdout.splitlines():
    f = json.loads(text)
    for t in f.get("annotations") or []:
        if t.startswith("mark "):
            marks[t[5:]] = f["event"]
truths = [re.fullmatch(r"([\w-]+)([<|])([\w-]+)", t).groups() for t in sys.argv[2:]]
answers = subprocess.run(["poet", "order", trace, "-"], capture_output=True, text=True,
                         input="".join("%s %s\n" % (marks[a], marks[b]) for a, _, b in truths)).stdout.split()
for (a, how, b), got in zip(truths, answers, strict=True):
    if got != {"<": "before", "|": "concurrent"}[how]:
        print("%s%s%s: %s" % (a, how, b, got))
print("done")
P
orders() { python3 orders.py "$@"; }
KINDS="mutex0 mutex1 rwlock spin semaphore"
pairs() { for k in $KINDS; do echo "$1-$k$2$3-$k"; done; } # pairs A RELATION B
run() { # run NAME PROGRAM ARG...: its trace is NAME.poet
    trace=$1
    shift
    check "$trace: the program exits with status 0" env POET_OUTPUT="$trace.poet" ./"$@"
    check "$trace: the trace passes poet check" sound "$trace.poet"
}

# ---- threads that reinitialize objects at the same address ----
cat >threads.c <<'C'
#include "mark.h"
static char *at;
static void *first(void *p) { use_all(at, "a"); go(0); return p; }
static void *second(void *p) { pause_until(0); use_all(at, "b"); return p; }
int main(void)
{
    unseen = shared_bytes(), at = shared_bytes();
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
C
poetcc -trace -g threads.c -o threads
run threads threads
is "threads: uses of an object before and after reinitialization are concurrent" "$(orders threads.poet $(pairs a '|' b))" done

# ---- processes: one of them knows the object from before ----
cat >processes.c <<'C'
#include "mark.h"
int main(void)
{
    unseen = shared_bytes();
    char *at = shared_bytes();
    pthread_mutex_t *m = (void *)(at + 1024);
    sem_t *s = (void *)(at + 2048);
    if (fork() == 0) {
        use_all(at, "a");
        mutex_make(m, 0);
        mutex_use(m, "first");
        MUST(!sem_init(s, 1, 1) && !sem_wait(s));
        MARK("taken");
        MUST(!sem_post(s));
        go(0);
        pause_until(1);
        mutex_use(m, "again"); /* the mutex that the other process initialized */
        MUST(!sem_wait(s));
        MARK("retaken");
        return 0;
    }
    if (fork() == 0) {
        pause_until(0);
        use_all(at, "b");
        mutex_make(m, 0); /* replaces one that was not destroyed */
        mutex_use(m, "second");
        MUST(!sem_init(s, 1, 0));
        MARK("posting");
        MUST(!sem_post(s));
        go(1);
        return 0;
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
C
poetcc -trace -g processes.c -o processes
run processes processes
is "processes: uses of different objects at one address are concurrent, uses of the same object are ordered" \
    "$(orders processes.poet $(pairs a '|' b) 'first|second' 'second<again' 'first<again' 'taken|posting' 'posting<retaken' 'taken<retaken')" done

# ---- files: one that is truncated and reused, and one that gets the inode number of another ----
cat >files.c <<'C'
#include "mark.h"
static void use(const char *name, const char *mark, int again)
{
    int f = open(name, O_RDWR | O_CREAT | (again ? 0 : O_EXCL), 0600);
    MUST(f >= 0 && !ftruncate(f, 4096));
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0), locked[80];
    MUST(at != MAP_FAILED);
    use_all(at, mark);
    MUST(!flock(f, LOCK_EX));
    snprintf(locked, sizeof locked, "%s-flock", mark);
    MARK(locked);
    MUST(!flock(f, LOCK_UN));
    munmap(at, 4096);
    close(f);
}
int main(void)
{
    unseen = shared_bytes();
    const char *marks[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            if (i)
                pause_until(i);
            if (i == 2)
                MUST(!unlink("the-file"));
            use("the-file", marks[i], i == 1);
            go(i + 1);
            return 0;
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
C
poetcc -trace -processes -g files.c -o files
run files files
is "files: objects in a reused file are new objects" "$(orders files.poet $(pairs a '|' b))" done
is "files: objects in another file with the same inode number are new objects" "$(orders files.poet $(pairs a '|' c) $(pairs b '|' c))" done
is "files: a flock orders uses of the same file only" "$(orders files.poet 'a-flock<b-flock' 'a-flock|c-flock' 'b-flock|c-flock')" done

# ---- an untraced library initializes the object ----
cat >makes.c <<'C'
#include <pthread.h>
void makes(pthread_mutex_t *m)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(m, &a);
}
C
cat >unrecorded.c <<'C'
#include "mark.h"
void makes(pthread_mutex_t *m);
int main(void)
{
    unseen = shared_bytes();
    pthread_mutex_t *m = shared_bytes();
    if (fork() == 0) {
        makes(m);
        mutex_use(m, "a");
        go(0);
        return 0;
    }
    if (fork() == 0) {
        pause_until(0);
        makes(m);
        mutex_use(m, "b");
        return 0;
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
C
cc -shared -fPIC makes.c -o libmakes.so
poetcc -trace -g unrecorded.c -o unrecorded -L. -lmakes -Wl,-rpath,"$PWD"
run unrecorded unrecorded
is "untraced initialization: uses before and after it are concurrent" "$(orders unrecorded.poet 'a|b')" done

# ---- random programs, compared with vector clocks that they keep themselves ----
poetcc -trace -g -O1 "$root/tests/e2e/lifetimes.c" -o lifetimes
for shape in "1 6" "3 3"; do
    run "random-${shape/ /x}" lifetimes $shape 700 "${SEED:-1}"
    python3 "$root/tests/e2e/lifetimes.py" "random-${shape/ /x}.poet" 15000 1 >answers
    is "random programs $shape: poet order gives no wrong answer" "$(grep -v '^[a-z]* [0-9].* ' answers)" "wrong 0"
    like "random programs $shape: 100 pairs of events or more are concurrent" "$(cat answers)" 'concurrent [1-9][0-9][0-9]'
done
done_testing
