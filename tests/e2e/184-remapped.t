#!/bin/bash
# Objects in mapped files: after munmap, another file mapped at the same address has other objects, the same file
# has the same ones; a named semaphore that is created again is another one.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >remapped.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define MUST(x) do { if (!(x)) abort(); } while (0)
enum { BYTES = 4096, FILES = 4, THREADS = 9 };
static const char *const files[FILES] = {"mutex-1", "mutex-2", "semaphore-1", "semaphore-2"};
static const char *const named = NAME;
static volatile int *turn;
static void *place; /* where all files are mapped: within a large free range, in which nothing else is mapped meanwhile */
static void find_place(void)
{
    size_t room = (size_t)64 << 30;
    char *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(p != MAP_FAILED && munmap(p, room) == 0);
    place = p + room / 2;
}
static void *map(int which)
{
    int fd = open(files[which], O_RDWR | O_CREAT, 0600);
    MUST(fd >= 0 && ftruncate(fd, BYTES) == 0);
    void *p = mmap(place, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);
    MUST(p != MAP_FAILED);
    close(fd);
    return p;
}
static void unmap(void *p) { MUST(munmap(p, BYTES) == 0); }
/* Another process creates all objects. */
static void make_all(void)
{
    if (fork() == 0) {
        for (int i = 0; i < 2; i++) {
            pthread_mutexattr_t a;
            MUST(!pthread_mutexattr_init(&a) && !pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
            MUST(!pthread_mutex_init(map(i), &a));
        }
        MUST(!sem_init(map(2), 1, 0) && !sem_init(map(3), 1, 1));
        _exit(0);
    }
    MUST(wait(NULL) > 0);
}
static void use_mutex(int which, const char *note)
{
    pthread_mutex_t *m = map(which);
    MUST(!pthread_mutex_lock(m));
    poet_text("%s", note);
    MUST(!pthread_mutex_unlock(m));
    unmap(m);
}
static void post(int which, const char *note)
{
    sem_t *s = map(which);
    poet_text("%s", note);
    MUST(!sem_post(s));
    unmap(s);
}
static void take(int which, const char *note)
{
    sem_t *s = map(which);
    MUST(!sem_wait(s));
    poet_text("%s", note);
    unmap(s);
}
static sem_t *open_named(unsigned value)
{
    sem_t *s = sem_open(named, O_CREAT, 0600, value);
    MUST(s != SEM_FAILED);
    return s;
}
static void post_named(const char *note, int closes)
{
    sem_t *s = open_named(0);
    poet_text("%s", note);
    MUST(!sem_post(s) && (!closes || !sem_close(s)));
    MUST(!sem_unlink(named));
}
static void take_named(const char *note)
{
    sem_t *s = open_named(1);
    MUST(!sem_wait(s));
    poet_text("%s", note);
}
/* In sequence, which no traced call shows. */
static void *work(void *number)
{
    int me = (int)(long)number;
    while (*turn != me)
        usleep(500);
    if (me == 0) use_mutex(0, "one");
    if (me == 1) use_mutex(1, "two");
    if (me == 2) use_mutex(0, "three");
    if (me == 3) post(2, "four");
    if (me == 4) take(3, "five");
    if (me == 5) take(2, "six");
    if (me == 6) post_named("seven", 1);
    if (me == 7) post_named("eight", 0);
    if (me == 8) take_named("nine");
    *turn = me + 1;
    return NULL;
}
int main(void)
{
    pthread_t t[THREADS];
    turn = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    make_all();
    find_place();
    for (long i = 0; i < THREADS; i++)
        MUST(!pthread_create(&t[i], NULL, work, (void *)i));
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    sem_unlink(named);
    return 0;
}
C
poetcc -trace -g "-DNAME=\"/remapped-$$\"" remapped.c -o remapped
POET_SERVER= POET_OUTPUT=remapped.poet ./remapped
is "the program exits with status 0" $? 0
until_true finished remapped.poet
at() { poet dump --json remapped.poet | sed -n 's/^{"event":"\([0-9:]*\)".*"annotations":\["'"$1"'"\].*/\1/p'; }
order() { poet order remapped.poet "$(at "$1")" "$(at "$2")" 2>/dev/null; }
is "mutex at the address of another file: the uses are concurrent" "$(order one two) $(order two three)" "concurrent concurrent"
is "mutex of the same file mapped again: the uses are ordered" "$(order one three)" before
is "semaphore at the address of another file: the uses are concurrent" "$(order four five)" concurrent
is "semaphore of the same file mapped again: the uses are ordered" "$(order four six)" before
is "named semaphore created again, closed before or not: the uses are concurrent" "$(order seven eight) $(order seven nine) $(order eight nine)" \
    "concurrent concurrent concurrent"
check "the trace passes poet check" sound remapped.poet
done_testing
