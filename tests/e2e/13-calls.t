#!/bin/bash
# Each traced call has the result, errno and side effects of the real call, and
# the trace has the order that docs/order.md states.
. "$(dirname "$0")/lib.sh"
cat >calls.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#define SHOW(call) do { errno = 77; long e_ = (long)(call); printf("%-58s %ld %d\n", #call, e_, errno); } while (0)
static const struct timespec past = {1, 0}, bad = {0, 2000000000};
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int made;
static void init(void) { made++; errno = 5; }
static once_flag flag = ONCE_FLAG_INIT;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static mtx_t plain, timed, rec;
static cnd_t cnd;
static void *tries(void *a)
{
    SHOW(pthread_rwlock_tryrdlock(&rw));
    SHOW(pthread_rwlock_trywrlock(&rw));
    SHOW(pthread_rwlock_timedrdlock(&rw, &past));
    SHOW(pthread_rwlock_timedwrlock(&rw, &past));
    SHOW(pthread_rwlock_timedwrlock(&rw, &bad));
    SHOW(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &past));
    SHOW(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &past));
    SHOW(pthread_rwlock_clockwrlock(&rw, CLOCK_PROCESS_CPUTIME_ID, &past));
    SHOW(mtx_trylock(&plain));
    SHOW(mtx_timedlock(&timed, &past));
    return a;
}
static int gives(void *a) { return *(int *)a; }
static int leaves(void *a) { (void)a; thrd_exit(-7); }
static void *holds(void *a) { pthread_mutex_lock(a); return NULL; }
int main(void)
{
    pthread_t t;
    pthread_spinlock_t spin;
    pthread_barrier_t barrier;
    pthread_mutex_t m;
    pthread_mutexattr_t ma;
    void *r;
    int v = 42, old;
    thrd_t c;
    SHOW(pthread_rwlock_rdlock(&rw));
    SHOW(pthread_rwlock_rdlock(&rw));
    SHOW(pthread_rwlock_trywrlock(&rw));
    SHOW(pthread_rwlock_unlock(&rw));
    SHOW(pthread_rwlock_unlock(&rw));
    SHOW(pthread_rwlock_wrlock(&rw));
    SHOW(pthread_rwlock_wrlock(&rw));
    SHOW(pthread_rwlock_rdlock(&rw));
    SHOW(mtx_init(&plain, mtx_plain));
    SHOW(mtx_init(&timed, mtx_timed));
    SHOW(mtx_init(&rec, mtx_recursive | mtx_timed));
    SHOW(mtx_init(&rec, 99));
    SHOW(mtx_lock(&plain));
    SHOW(mtx_lock(&timed));
    SHOW(mtx_lock(&rec));
    SHOW(mtx_trylock(&rec));
    SHOW(mtx_unlock(&rec));
    SHOW(mtx_unlock(&rec));
    SHOW(mtx_timedlock(&timed, &bad));
    pthread_create(&t, NULL, tries, &v);
    SHOW(pthread_join(t, &r));
    SHOW(r == &v);
    SHOW(pthread_rwlock_unlock(&rw));
    SHOW(pthread_rwlock_destroy(&rw));
    SHOW(pthread_rwlock_init(&rw, NULL));
    SHOW(pthread_rwlock_trywrlock(&rw));
    SHOW(pthread_rwlock_unlock(&rw));
    SHOW(cnd_init(&cnd));
    SHOW(cnd_signal(&cnd));
    SHOW(cnd_broadcast(&cnd));
    SHOW(cnd_timedwait(&cnd, &timed, &past));
    SHOW(mtx_unlock(&timed));
    SHOW(mtx_unlock(&plain));
    cnd_destroy(&cnd);
    mtx_destroy(&plain);
    SHOW(thrd_create(&c, gives, &v));
    SHOW(thrd_join(c, &old));
    SHOW(old);
    SHOW(thrd_create(&c, leaves, NULL));
    SHOW(thrd_join(c, &old));
    SHOW(old);
    SHOW(thrd_create(&c, gives, &v));
    SHOW(thrd_join(c, NULL));
    SHOW(thrd_create(&c, gives, &v));
    SHOW(thrd_detach(c));
    SHOW((call_once(&flag, init), made));
    SHOW((call_once(&flag, init), made));
    SHOW(pthread_once(&once, init));
    SHOW(pthread_once(&once, init));
    SHOW(made);
    SHOW(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    SHOW(pthread_spin_lock(&spin));
    SHOW(pthread_spin_trylock(&spin));
    SHOW(pthread_spin_unlock(&spin));
    SHOW(pthread_spin_trylock(&spin));
    SHOW(pthread_spin_unlock(&spin));
    SHOW(pthread_spin_destroy(&spin));
    SHOW(pthread_barrier_init(&barrier, NULL, 0));
    SHOW(pthread_barrier_init(&barrier, NULL, 1));
    SHOW(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    SHOW(pthread_barrier_destroy(&barrier));
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&ma, PTHREAD_PRIO_INHERIT);
    SHOW(pthread_mutex_init(&m, &ma));
    pthread_create(&t, NULL, holds, &m);
    SHOW(pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, NULL));
    SHOW(pthread_mutex_lock(&m));
    SHOW(pthread_mutex_unlock(&m));
    SHOW(pthread_mutex_lock(&m));
    SHOW(pthread_mutex_trylock(&m));
    SHOW(pthread_mutex_destroy(&m));
    char name[64];
    snprintf(name, sizeof name, "/poet-test-%d", (int)getpid());
    sem_unlink(name);
    SHOW(sem_open(name, 0) == SEM_FAILED);
    sem_t *s = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    SHOW(s != SEM_FAILED);
    SHOW(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED);
    SHOW(sem_open(name, 0) == s);
    SHOW(sem_wait(s));
    SHOW(sem_trywait(s));
    SHOW(sem_post(s));
    SHOW(sem_close(s));
    SHOW(sem_close(s));
    SHOW(sem_unlink(name));
    return 0;
}
C
gcc -w -O1 calls.c -o plain -pthread
poetcc -trace -w -O1 calls.c -o traced
./plain >want
start_server -o c/ -q
./traced >got 2>err
is "results and errno of every call are those of an untraced run" "$(diff got want)" ""
is "a traced program prints nothing on standard error" "$(cat err)" ""
check "the trace of every call is sound" sound latest
check "poet check accepts the trace of every call" poet check latest
poet record -- ./plain >got 2>err
is "poet record: results and errno of every call are those of an untraced run" "$(diff got want)$(cat err)" ""
check "poet record: the trace of every call is sound" sound latest
poetcc -trace -static -w -O1 calls.c -o static
./static >got 2>err
is "a static program: results and errno of every call are those of an untraced run" "$(diff got want)$(cat err)" ""
check "a static program: the trace of every call is sound" sound latest
stop_server

cat >child.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int lock(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
int main(void)
{
    lock();
    if (!fork()) _exit(lock());
    wait(0);
    if (!_Fork()) _exit(lock());
    wait(0);
    return 0;
}
C
for static in "" -static; do
    rm -f child.poet
    poetcc -trace $static -w child.c -o child && POET_QUIET=1 POET_OUTPUT=child.poet ./child
    until_true finished child.poet
    is "children of fork and _Fork are recorded${static:+, too, in a static program}" "$(poet stat child.poet | grep -E '^(lines|program)' | wc -l) $(poet check child.poet | grep -c OK)" "4 1"
done

# One thread and each kind of object: exactly these events on each line.
cat >each.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;
pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void) {}
static int child(void *a) { return a != NULL; }
int main(void)
{
    thrd_t c;
    pthread_spin_init(&spin, 0);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    pthread_spin_lock(&spin);
    pthread_rwlock_unlock(&lock);
    pthread_spin_unlock(&spin);
    pthread_once(&once, init);
    pthread_once(&once, init);
    thrd_create(&c, child, NULL);
    thrd_join(c, NULL);
    char name[40];
    snprintf(name, sizeof name, "/poet-test-%d", (int)getpid());
    sem_t *s = sem_open(name, O_CREAT, 0600, 1);
    sem_wait(s);
    sem_close(s);
    sem_unlink(name);
    return 0;
}
C
poetcc -trace -w each.c -o each
./each 2>/dev/null
until_true finished each.*.poet
events_of() { # events_of FILE: each line that is not hidden, with the types of its events
    poet dump "$1" --json | json 'map(select(.event)) as $events | [.[] | select(.hidden == false)] | sort_by(.name)[] |
        "\(.line):" as $number | [.name + ":", ($events[] | select(.event | startswith($number)).type)] |
        select(length > 1) | join(" ")'
}
is "each line has exactly the events of its calls" "$(events_of each.*.poet | sed 's|^/poet-test-[0-9]*:|named:|')" "named: acquired sem_acquired released
child: create start exit close
lock: read_acquired acquire relock unlock_inner read_released write_acquired acquire lock write_released
main: start acquire lock unlock acquire lock unlock acquire initialize initialized ready join joined lock unlock exit close
spin: acquired unlock released"

# Barriers: the threads that pass one round are simultaneous; readers are not ordered, writers are.
cat >rounds.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
static pthread_barrier_t b;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int rounds;
static void *work(void *a)
{
    for (int i = 0; i < rounds; i++) {
        pthread_rwlock_rdlock(&lock);
        pthread_barrier_wait(&b);
        pthread_rwlock_unlock(&lock);
        if (a) { pthread_rwlock_wrlock(&lock); pthread_rwlock_unlock(&lock); }
        if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD && i == rounds - 1) {
            pthread_barrier_destroy(&b);
            puts("done");
        }
    }
    return a;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), waits = atoi(argv[2]);
    pthread_t t[16];
    rounds = atoi(argv[3]);
    pthread_barrier_init(&b, NULL, (unsigned)waits);
    for (int i = 0; i < n; i++) pthread_create(&t[i], NULL, work, i ? NULL : argv);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    return argc == 0;
}
C
poetcc -trace -w rounds.c -o rounds
start_server -o r/ -q
check "barriers and readers: four threads, fifty rounds" ./rounds 4 4 50
check "barriers and readers: the trace is sound" sound latest
is "barriers: each round is one group of four" "$(poet dump latest --json | grep -o '"group":[0-9][0-9]*' | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | awk '{ print $1 "x" $2 }')" "100x4"
cat >crowd.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
static pthread_barrier_t b;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int done;
static void *work(void *a) /* two at a time, all live until the end */
{
    long turn = (long)a / 2;
    pthread_mutex_lock(&m);
    while (done / 2 != turn) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 40; i++) pthread_barrier_wait(&b);
    pthread_mutex_lock(&m);
    done++;
    pthread_cond_broadcast(&c);
    while (done < 6) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return a;
}
int main(void)
{
    pthread_t t[6];
    pthread_barrier_init(&b, NULL, 2);
    for (long i = 0; i < 6; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
    return 0;
}
C
check "barriers and readers with the largest queues" env POET_QUEUE_KIB=65536 ./rounds 4 4 2000
check "barriers and readers with the largest queues: the trace is sound" sound latest
is "barriers and readers with the largest queues: every event is recorded" "$(figure latest events)" $((4 * 2000 * (3 + 4 + 2) + 2000 * 5 + 4 * 4 + 4 * 2 + 4))
# Six threads at a barrier for two, two at a time: no thread arrives before the previous round has released one.
poetcc -trace -w crowd.c -o crowd
check "six threads at a barrier for two run to the end" ./crowd
check "six threads at a barrier for two: the trace is sound" sound latest
is "six threads at a barrier for two: no event is pending" "$(figure latest pending)" 0
is "six threads at a barrier for two: each round is one group of two" "$(poet dump latest --json | grep -o '"group":[0-9][0-9]*' | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | awk '{ print $1 "x" $2 }')" "120x2"
stop_server

# Coroutines: a generator, two that call each other, one that moves between threads.
cat >co.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t main_ctx, gen_ctx, ping_ctx, pong_ctx, mover, home[2];
static int value;
static void generator(int n, int step) { for (int i = 0; i < n; i++) { value = i * step; swapcontext(&gen_ctx, &main_ctx); } value = -1; }
static void ping(void) { for (int i = 0; i < 3; i++) swapcontext(&ping_ctx, &pong_ctx); }
static void pong(void) { for (;;) swapcontext(&pong_ctx, &ping_ctx); }
static void wander(void) { for (int i = 0; ; i++) { swapcontext(&mover, &home[i % 2]); } }
static pthread_barrier_t b;
static void *carrier(void *a)
{
    long me = (long)a;
    for (int i = 0; i < 6; i++) {
        if (i % 2 == me) swapcontext(&home[me], &mover);
        pthread_barrier_wait(&b);
    }
    return NULL;
}
static void make(ucontext_t *c, void (*f)(void), int n, int x, int y)
{
    getcontext(c);
    c->uc_stack.ss_sp = malloc(65536); c->uc_stack.ss_size = 65536; c->uc_link = &main_ctx;
    makecontext(c, f, n, x, y);
}
int main(void)
{
    make(&gen_ctx, (void (*)(void))generator, 2, 3, 7);
    do { swapcontext(&main_ctx, &gen_ctx); printf("%d ", value); } while (value >= 0);
    make(&ping_ctx, ping, 0, 0, 0); make(&pong_ctx, pong, 0, 0, 0);
    swapcontext(&main_ctx, &ping_ctx);
    make(&mover, wander, 0, 0, 0);
    pthread_t t[2];
    pthread_barrier_init(&b, NULL, 2);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, carrier, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    puts("done");
    return 0;
}
C
gcc -w co.c -o plain -pthread
poetcc -trace -w -g co.c -o co
is "coroutines: the output is that of an untraced run" "$(./co 2>/dev/null)" "$(./plain)"
until_true finished co.*.poet
check "coroutines: the trace is sound" sound co.*.poet
is "coroutines: each line has exactly the events of its calls" "$(events_of co.*.poet | grep -v '^carrier')" "generator: create resumed suspend resumed suspend resumed suspend resumed exit
main: start resume suspended resume suspended resume suspended resume suspended resume suspended join joined join joined exit close
ping: create resumed resume suspended resume suspended resume suspended exit
pong: create resumed suspend resumed suspend resumed suspend
wander: create resumed suspend resumed suspend resumed suspend resumed suspend resumed suspend resumed suspend"

lines_of() { poet dump "$1" --json | grep '"hidden":false' | sed -n 's/^{"line".*"name":"\([^"]*\)".*/\1/p' | sort | xargs; }
# A library that was compiled with -trace, opened and closed by a program that was not.
cat >plugin.c <<'C'
#include <pthread.h>
static pthread_mutex_t in = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a) { pthread_mutex_lock(&in); pthread_mutex_unlock(&in); return a; }
void plugin(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); work(0); }
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int status;
    void *l = dlopen("./libplugin.so", RTLD_NOW);
    ((void (*)(void))dlsym(l, "plugin"))();
    dlclose(l);
    if (fork() == 0) _exit(6);
    wait(&status);
    return WEXITSTATUS(status);
}
C
poetcc -trace -g -shared -fPIC plugin.c -o libplugin.so
gcc -w opens.c -o opens -ldl
./opens 2>/dev/null
is "a program opens, calls and closes a traced library" $? 6
until_true finished opens.*.poet
is "the calls of a closed library are in the trace" "$(poet dump opens.*.poet | grep -c 'plugin.c:3')" 12

# Names of objects: elements and members of variables; on the heap the source line where the object was made.
cat >names.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct table { int n; pthread_mutex_t forks[3]; };
static struct table tables[2];
static pthread_mutex_t grid[2][3];
int main(void)
{
    static pthread_rwlock_t inner[4];
    pthread_mutex_t *heap = malloc(sizeof *heap);
    pthread_mutex_init(heap, NULL);
    pthread_mutex_lock(heap);
    pthread_mutex_lock(&tables[1].forks[2]);
    pthread_mutex_lock(&grid[1][2]);
    pthread_rwlock_rdlock(&inner[3]);
    return 0;
}
C
for compiler in gcc clang; do
    CC=$compiler poetcc -trace -g names.c -o names-$compiler
    ./names-$compiler 2>/dev/null
    until_true finished names-$compiler.*.poet
    is "$compiler: objects are named after their variables" "$(lines_of names-$compiler.*.poet | sed 's/main\.inner/inner/; s/main inner\(...\)/inner\1 main/')" "grid[1][2] inner[3] main names.c:10 tables[1].forks[2]"
done

# A deadlock through a read-write lock with several readers, one of which is blocked itself.
cat >cycle.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_rwlock_t book = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static void *reads(void *a) { pthread_rwlock_rdlock(&book); pthread_barrier_wait(&b); for (;;) pause(); return a; }
static void *locks(void *a) { pthread_rwlock_rdlock(&book); pthread_barrier_wait(&b); pthread_mutex_lock(&desk); return a; }
int main(void)
{
    pthread_t t[2];
    pthread_mutex_lock(&desk);
    pthread_barrier_init(&b, NULL, 3);
    pthread_create(&t[0], NULL, reads, NULL);
    pthread_create(&t[1], NULL, locks, NULL);
    pthread_barrier_wait(&b);
    pthread_rwlock_wrlock(&book);
    return 0;
}
C
poetcc -trace cycle.c -o cycle
start_server -o d/ -q
./cycle & pids="$pids $!"
found() {
    poet blocked latest >answer && grep -q "^DEADLOCK:" answer &&
        grep -q "^    T:main.* waits for RW:book.*, read-locked by T:locks" answer &&
        grep -q "^    T:locks.* waits for M:desk.*, held by T:main" answer
}
check "a deadlock through a read-write lock is found" until_true found
both() { poet blocked latest >answer && [ "$(grep -c '^    read-locked by T:\(reads\|locks\)' answer)" = 2 ]; }
check "the deadlock names both readers" until_true both || cat answer
stop_server

# A program that was compiled without Poet.
cat >library.c <<'C'
#include <pthread.h>
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
void in_library(void) { pthread_mutex_lock(&inner); pthread_mutex_unlock(&inner); }
C
cat >user.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
    void *l = dlopen("./libinner.so", RTLD_NOW);
    void (*f)(void) = (void (*)(void))dlsym(l, "in_library");
    f();
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    return 5 + argc * 0 + !argv;
}
C
gcc -g -shared -fPIC library.c -o libinner.so && gcc -g -w user.c -o user -ldl -pthread
record() { poet record -o "$@" 2>err; }
record own.poet ./user
is "poet record: the exit status is that of the program" $? 5
until_true finished own.poet
is "poet record: the program's own calls are recorded" "$(lines_of own.poet)" "main outer"
record all.poet --libraries -- ./user
until_true finished all.poet
is "poet record --libraries: the calls of a library opened later are recorded" "$(lines_of all.poet)" "inner main outer"
like "poet record --libraries: call sites in the library are known" "$(poet dump all.poet)" "library.c:3"
record some.poet --include 'libinner*' ./user
until_true finished some.poet
is "poet record --include: the calls of the named library are recorded" "$(lines_of some.poet)" "inner main outer"
record less.poet -l --exclude user -x libc.so.6 ./user
until_true finished less.poet
is "poet record --exclude: the calls of the named library are left out" "$(lines_of less.poet)" "inner main"
gcc -w -static user.c -o static 2>/dev/null || gcc -w -static -x c - -o static <<<'int main(void) { return 7; }'
poet record -o s.poet ./static 2>err
is "poet record refuses a static program" "$? $(cat err)" "1 poet record: ./static: it is statically linked; link it dynamically, or compile it with poetcc -trace; not started (--force starts it)"
poet record ./nothing 2>err
is "poet record: a missing program exits with 127" "$? $(cat err)" "127 poet record: ./nothing: No such file or directory"
poet record 2>/dev/null
is "poet record without a program exits with 2" $? 2
gcc -g -w -fsanitize=address user.c -o user-asan -ldl -pthread
record asan.poet ./user-asan
is "poet record: a program with AddressSanitizer keeps its exit status" "$?" 5
until_true finished asan.poet
is "poet record: a program with AddressSanitizer is recorded" "$(lines_of asan.poet)" "main outer"
cat >threads.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *a)
{
    for (int i = 0; i < 100; i++) { pthread_mutex_lock(&lock); n++; pthread_mutex_unlock(&lock); }
    return a;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return n == 200 ? 0 : 1;
}
C
for sanitizer in thread address; do
    gcc -g -fsanitize=$sanitizer threads.c -o threads -pthread
    poetcc -trace -g -fsanitize=$sanitizer threads.c -o traced
    start_server -o "$sanitizer.poet" -q
    ./traced >log 2>&1
    is "poetcc -trace -fsanitize=$sanitizer: the sanitizer reports nothing" "$? $(cat log)" "0 "
    stop_server
    is "poetcc -trace -fsanitize=$sanitizer: all threads are in the trace" "$(lines_of "$sanitizer.poet")" "lock main work work"
    is "poetcc -trace -fsanitize=$sanitizer: the sanitizer is not taken for a Rust runtime" "$(poet stat "$sanitizer.poet" | grep -c 'Rust')" 0
    [ $sanitizer = thread ] || record recorded.poet ./threads
    [ $sanitizer = thread ] || until_true finished recorded.poet
done
is "poet record: threads under AddressSanitizer are recorded once each" "$(lines_of recorded.poet | wc -w)" 4
gcc -g -fsanitize=thread threads.c -o threads -pthread
poet record -o no.poet ./threads 2>err
is "poet record refuses a program with ThreadSanitizer" $? 1
like "poet record: the refusal of ThreadSanitizer suggests poetcc -trace" "$(cat err)" "compile it with poetcc -trace -fsanitize=thread"
done_testing
