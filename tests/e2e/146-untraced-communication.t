#!/bin/bash
# Untraced communication that Poet detects: the answer concurrent of poet order names it as a reason for doubt.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

note_of() { poet dump "$1" --json | json ".[] | select(.annotations // [] | index(\"note $2\")).event"; }

# named NAME REASON COMMAND...: checks the relation of the two notes of the program
named() {
    program=$1 reason=$2
    shift 2
    POET_OUTPUT="$program.poet" "$@" >/dev/null 2>&1
    check "$program: the trace passes poet check" sound "$program.poet"
    is "$program: poet order answers concurrent" \
        "$(poet order "$program.poet" "$(note_of "$program.poet" p)" "$(note_of "$program.poet" q)" 2>why)" concurrent
    like "$program: poet order names the untraced communication" "$(cat why)" "$reason"
}

# The program passes something from note p to note q by PASS and TAKE.
program() { # program NAME INCLUDES PASS TAKE
    cat >"$1.${5:-c}" <<C
#define _GNU_SOURCE
#include <poet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
$2
static void *second(void *a)
{
    $4
    poet_text("note q");
    return a;
}
int main(void)
{
    pthread_t t;
    begin();
    pthread_create(&t, 0, second, 0);
    poet_text("note p");
    $3
    pthread_join(t, 0);
    return 0;
}
C
}

program signals '#include <sys/signalfd.h>
static int f;
static void begin(void)
{
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &s, 0);
    f = signalfd(-1, &s, 0);
}' 'kill(getpid(), SIGUSR1);' 'struct signalfd_siginfo i; if (read(f, &i, sizeof i) != sizeof i) abort();'
program rings '#include <sys/syscall.h>
#include <linux/io_uring.h>
static void begin(void)
{
    struct io_uring_params p = {0};
    syscall(SYS_io_uring_setup, 4, &p);
}' '' ''
program file 'static volatile int *there, *here;
static void begin(void)
{
    int f = open("shared", O_RDWR | O_CREAT, 0600);
    if (ftruncate(f, 4096) != 0) abort();
    there = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    here = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
}' '__atomic_store_n(there, 1, __ATOMIC_SEQ_CST);' 'while (!__atomic_load_n(here, __ATOMIC_SEQ_CST)) sched_yield();'
program place 'static int f;
static void begin(void) { f = open("place.data", O_RDWR | O_CREAT, 0600); }' \
    'if (pwrite(f, "x", 1, 0) != 1) abort();' 'char c; while (pread(f, &c, 1, 0) != 1) sched_yield();'
program flag '#include <stdatomic.h>
static atomic_int flag;
static void begin(void) { }' 'atomic_store(&flag, 1);' 'while (!atomic_load(&flag)) sched_yield();'
program flagxx '#include <atomic>
static std::atomic<int> flag;
static void begin(void) { }' 'flag = 1;' 'while (!flag) sched_yield();' cc
program plain 'static void begin(void) { }' '' ''

for program in signals rings file place flag plain; do
    check "$program: the program compiles" poetcc -trace -g $program.c -o $program
done
check "flagxx: the program compiles" poetcc++ -trace -g flagxx.cc -o flagxx
named signals 'reads from a signalfd' ./signals
named rings 'io_uring' ./rings
named file 'memory mapped from files' ./file
named place 'written and read at offsets' ./place
named flag 'atomic operations are not traced: <stdatomic.h>' ./flag
named flagxx 'atomic operations are not traced: <atomic>' ./flagxx
named plain '^$' ./plain
check "poet headers: no warnings with -Wall -Wextra -Wpedantic" \
    poetcc -trace -std=c11 -Wall -Wextra -Wpedantic -Werror -c flag.c -o flag.o

# ---- an event loop of a library, in a program that was not compiled with poetcc ----
if [ -e /usr/include/event2/thread.h ]; then
    program loop '#include <event2/event.h>
#include <event2/thread.h>
static struct event_base *base;
static struct event *event;
static void called(int f, short what, void *a) { (void)f, (void)what, (void)a; event_base_loopbreak(base); }
static void begin(void)
{
    evthread_use_pthreads();
    base = event_base_new();
    event = event_new(base, -1, EV_PERSIST, called, 0);
    event_add(event, 0);
}' 'event_active(event, EV_READ, 0);' 'event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);'
    check "loop: the program compiles" poetcc -trace -g loop.c -o loop -levent -levent_pthreads
    named loop 'work passed to an event loop' ./loop
    sed 's/poet_text("note \([pq]\)")/pthread_mutex_lock(\&\1), pthread_mutex_unlock(\&\1)/
        s/^static void begin/static pthread_mutex_t p = PTHREAD_MUTEX_INITIALIZER, q = PTHREAD_MUTEX_INITIALIZER;\n&/' loop.c >bare.c
    cc -g bare.c -o bare -I "$B/include" -levent -levent_pthreads -pthread
    poet record -o bare.poet -- ./bare 2>record.log
    check "event loop under poet record: the trace passes poet check" sound bare.poet
    like "event loop under poet record: poet stat names the untraced communication" "$(poet stat bare.poet)" 'work passed to an event loop'
fi

done_testing
