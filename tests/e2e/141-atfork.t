#!/bin/bash
# fork: the prepare handlers of pthread_atfork, and what was done before under the locks that they take, happen
# before the child.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >prepared.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define MARK(x) poet_text("mark %s", x)
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;
static void prepare_outer(void) { MARK("prepares"); pthread_mutex_lock(&outer); MARK("has-outer"); }
static void parent_outer(void) { MARK("parent"); pthread_mutex_unlock(&outer); }
static void child_outer(void) { MARK("child"); pthread_mutex_unlock(&outer); }
static void prepare_inner(void) { pthread_mutex_lock(&inner); MARK("has-inner"); }
static void release_inner(void) { pthread_mutex_unlock(&inner); }
static void *work(void *p)
{
    pthread_mutex_lock(&outer);
    sem_post(&held);
    usleep(20000); /* makes it likely that the handler waits */
    MARK("worked");
    pthread_mutex_unlock(&outer);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    sem_init(&held, 0, 0);
    pthread_atfork(prepare_inner, release_inner, release_inner); /* runs second */
    pthread_atfork(prepare_outer, parent_outer, child_outer);
    pthread_create(&t, NULL, work, NULL);
    sem_wait(&held);
    MARK("calls");
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&outer); /* a copy */
        MARK("child-has-outer");
        pthread_mutex_unlock(&outer);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            MARK("grandchild");
            _exit(0);
        }
        waitpid(grandchild, NULL, 0);
        _exit(0);
    }
    pthread_mutex_lock(&outer);
    MARK("parent-has-outer");
    pthread_mutex_unlock(&outer);
    waitpid(child, NULL, 0);
    pthread_join(t, NULL);
    return argc > 9 && argv;
}
C
cat >plain.c <<'C'
#include <poet.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    poet_text("mark before");
    if (fork() == 0) {
        poet_text("mark child");
        return 0;
    }
    poet_text("mark after");
    wait(0);
    return 0;
}
C
# orders.py TRACE TRUTH...: TRUTH is "a<b" or "a|b" of the first marks with these names; prints each that poet
# order answers differently, and "done"
cat >orders.py <<'P'
import json, re, subprocess, sys
trace, marks = sys.argv[1], {}
for text in subprocess.run(["poet", "dump", "--json", trace], capture_output=True, text=True).stdout.splitlines():
    f = json.loads(text)
    for t in f.get("annotations") or []:
        if t.startswith("mark "):
            marks.setdefault(t[5:], f["event"])
truths = [re.fullmatch(r"([\w-]+)([<|])([\w-]+)", t).groups() for t in sys.argv[2:]]
answers = subprocess.run(["poet", "order", trace, "-"], capture_output=True, text=True,
                         input="".join("%s %s\n" % (marks[a], marks[b]) for a, _, b in truths)).stdout.split()
for (a, how, b), got in zip(truths, answers, strict=True):
    if got != {"<": "before", "|": "concurrent"}[how]:
        print("%s%s%s: %s" % (a, how, b, got))
print("done")
P
prepared_truths="calls<prepares prepares<has-outer worked<has-outer has-outer<has-inner has-inner<child has-outer<child worked<child
    has-inner<parent child<child-has-outer child|parent child|parent-has-outer child-has-outer<grandchild worked<grandchild"
try() { # try NAME: runs the program and checks its trace
    check "$1: the program exits with status 0" env POET_OUTPUT="$1.poet" "./$1" 
    check "$1: the trace passes poet check" sound "$1.poet"
}
for how in "" "-static"; do
    poetcc -trace -g $how prepared.c -o prepared
    try prepared
    is "fork: prepare handlers happen before the child ${how:+(static)}" "$(python3 orders.py prepared.poet $prepared_truths)" done
    poetcc -trace -g $how plain.c -o plain
    try plain
    is "fork without handlers: events before it happen before the child, events after it are concurrent ${how:+(static)}" "$(python3 orders.py plain.poet 'before<child' 'child|after')" done
    rm -f ./*.poet
done
done_testing
