#!/bin/bash
# Call profiles of forked children start with the first call, even if the child has no other events. A child that
# calls no profiled function before exec has no line.
. "$(dirname "$0")/lib.sh"
calls_of() { awk -v name="$2" '$1 == name { print $3; found = 1 } END { if (!found) print 0 }' "$1"; } # calls_of TABLE FUNCTION

cat >children.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI __attribute__((noinline))
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long sink;
NI void pure(void) { sink++; }
NI void before_event(void) { sink++; }
NI void after_event(void) { sink++; }
NI void at_once(void) { sink++; }
static void wait_for(pid_t p) { waitpid(p, 0, 0); }
int main(void)
{
    pid_t p = fork();
    if (!p) { for (int i = 0; i < 10; i++) pure(); exit(0); }
    wait_for(p);
    if (!(p = fork())) {
        for (int i = 0; i < 11; i++) before_event();
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        for (int i = 0; i < 12; i++) after_event();
        exit(0);
    }
    wait_for(p);
    if (!(p = fork())) { for (int i = 0; i < 13; i++) at_once(); _exit(0); }
    wait_for(p);
    if (!(p = fork())) { execl("/bin/true", "true", (char *)0); _exit(1); }
    wait_for(p);
    return 0;
}
C
poetcc -profile -g children.c -o children
poet record -o children.poet -- ./children 2>record.err
until_true finished children.poet
poet calls children.poet >calls.out
is 'a child without events: its calls are counted' "$(calls_of calls.out pure)" 10
is 'a child with events: its calls before and after them are counted' "$(calls_of calls.out before_event) $(calls_of calls.out after_event)" '11 12'
is 'a child that ends by _exit: its calls are counted' "$(calls_of calls.out at_once)" 13
is 'the trace passes poet check' "$(poet check children.poet >/dev/null 2>&1 && echo yes)" yes

cat >returns.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
#define NI __attribute__((noinline))
static volatile long sink;
NI void work(void) { sink++; }
NI int starts(void) { return fork(); }
NI int parted(void) { int child = starts(); work(); return child; }
int main(void) { if (parted()) wait(0); return 0; }
C
poetcc -profile -g returns.c -o returns
poet record -o returns.poet -- ./returns 2>record.err
until_true finished returns.poet
poet calls returns.poet >calls.out
is 'parent and child: the calls of each are counted' "$(calls_of calls.out work)" 2
is 'a child that returns from calls of its parent: no exit without entry' "$(grep -c 'had no begin' calls.out)" 0

cat >daemons.c <<'C'
#include <stdlib.h>
#include <unistd.h>
#define NI __attribute__((noinline))
static volatile long sink;
NI void setup(void) { sink++; }
NI void serve(void) { sink++; }
int main(void)
{
    setup();
    if (daemon(1, 1)) return 1;
    for (int i = 0; i < 40; i++) serve();
    return 0;
}
C
poetcc -profile -g daemons.c -o daemons
start_server
POET_QUIET=1 ./daemons
served() { poet calls --json latest 2>/dev/null | grep -q '"function":"serve [^}]*"calls":40'; }
check 'a daemon: its calls are counted' until_true served
stop_server
done_testing
