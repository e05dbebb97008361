#!/bin/bash
# pthread_once and std::call_once: an initializer that does not return, because it throws or its thread is
# canceled, happens before the initializer that is called next.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >thrown.cc <<'C'
#include <mutex>
#include <poet.h>
#include <sched.h>
#include <thread>
#define MARK(x) poet_text("mark %s", x)
static std::once_flag flag;
static volatile int runs, begun;
static void init()
{
    if (runs++ == 0) {
        begun = 1;
        MARK("thrown");
        throw 1;
    }
    MARK("initialised");
}
int main()
{
    std::thread a([] { try { std::call_once(flag, init); } catch (int) { MARK("caught"); } });
    std::thread b([] { while (!begun) sched_yield(); std::call_once(flag, init); MARK("after-b"); });
    std::thread c([] { while (!begun) sched_yield(); std::call_once(flag, init); MARK("after-c"); });
    a.join();
    b.join();
    c.join();
    return 0;
}
C
cat >cancelled.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#define MARK(x) poet_text("mark %s", x)
static pthread_once_t once = PTHREAD_ONCE_INIT, other = PTHREAD_ONCE_INIT;
static volatile int runs, begun, used;
static void init(void)
{
    if (runs++) {
        MARK("initialised");
        return;
    }
    MARK("cancelled");
    begun = 1;
    for (;;)
        pthread_testcancel(), sched_yield();
}
static void init_first(void) { MARK("first"); }
static void init_second(void) { MARK("second"); }
static void *first(void *p) { pthread_once(&once, init); return p; }
static void *second(void *p) { while (!begun) sched_yield(); pthread_once(&once, init); MARK("after"); return p; }
/* Two threads without order: the flag is reset, which makes it another object. */
static void *third(void *p) { pthread_once(&other, init_first); used = 1; return p; }
static void *fourth(void *p)
{
    while (!used)
        sched_yield();
    usleep(1000);
    other = (pthread_once_t)PTHREAD_ONCE_INIT;
    pthread_once(&other, init_second);
    return p;
}
int main(void)
{
    void *(*const work[])(void *) = {first, second, third, fourth};
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work[i], 0);
    while (!begun)
        sched_yield();
    pthread_cancel(t[0]);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
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
try() { # try NAME: runs the program and checks its trace
    check "$1: the program exits with status 0" env POET_OUTPUT="$1.poet" "./$1"
    check "$1: the trace passes poet check" sound "$1.poet"
}
poetcc++ -trace -g thrown.cc -o thrown
try thrown
is "an initializer that throws happens before the next initializer" \
    "$(python3 orders.py thrown.poet 'thrown<initialised' 'thrown<after-b' 'thrown<after-c' 'initialised<after-b' 'initialised<after-c' 'caught|initialised')" done
poetcc -trace -g cancelled.c -o cancelled
try cancelled
is "a canceled initializer happens before the next one; after a completed one and a reset, there is no order" \
    "$(python3 orders.py cancelled.poet 'cancelled<initialised' 'initialised<after' 'first|second')" done
done_testing
