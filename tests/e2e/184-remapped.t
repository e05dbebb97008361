#!/bin/bash
# What is mapped at an address after a file that was unmapped is another object, unless it is the same file; a named
# semaphore that is made again is another one.
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
static void *place; /* where all are mapped: amid much room, where nothing else comes meanwhile */
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
/* Another process makes all objects. */
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
/* One after another, and no call shows it. */
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
is "the program does what it does" $? 0
until_true finished remapped.poet
at() { poet dump --json remapped.poet | sed -n 's/^{"event":"\([0-9:]*\)".*"annotations":\["'"$1"'"\].*/\1/p'; }
order() { poet order remapped.poet "$(at "$1")" "$(at "$2")" 2>/dev/null; }
is "a mutex of another file at that address" "$(order one two) $(order two three)" "concurrent concurrent"
is "of the same file there" "$(order one three)" before
is "a semaphore of another file at that address" "$(order four five)" concurrent
is "of the same file there" "$(order four six)" before
is "a named semaphore that is made again, closed or not" "$(order seven eight) $(order seven nine) $(order eight nine)" \
    "concurrent concurrent concurrent"
check "nothing contradicts" sound remapped.poet
done_testing
