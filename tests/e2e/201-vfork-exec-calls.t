#!/bin/bash
# Call profiles with vfork and exec: calls of a vfork child end with its exit or exec; calls that are open when a
# process exits or executes another program last until then. Calls of a thread without a queue are missing, and a
# note says so.
. "$(dirname "$0")/lib.sh"
cat >vforked.c <<'C'
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define PLAIN __attribute__((noinline))
extern char **environ;
static volatile int n;
PLAIN void quits(void) { _exit(3); }
PLAIN void becomes(void)
{
    char *a[] = {"true", 0};
    execve("/nowhere", a, environ);
    execve("/bin/true", a, environ);
    _exit(1);
}
PLAIN void later(void) { nanosleep(&(struct timespec){0, 20000000}, 0); }
PLAIN void again(void) { n++; }
int main(int argc, char **argv)
{
    char *more[] = {argv[0], "more", 0};
    if (argc > 1) {
        later();
        _exit(0);
    }
    for (int i = 0; i < 4; i++) {
        pid_t p = vfork();
        if (!p) {
            again();
            if (i % 2)
                quits();
            becomes();
        }
        waitpid(p, 0, 0);
        later();
    }
    again();
    execv(argv[0], more);
    return 1;
}
C
poetcc -profile -g -O1 vforked.c -o vforked || exit 1
POET_QUIET=1 POET_OUTPUT=vforked.poet ./vforked
until_true finished vforked.poet
check 'the trace passes poet check' poet check vforked.poet
poet calls --json vforked.poet >sums
expect sums <<'E'
vfork and exit: calls of both children are counted | row("quits").calls => 2
vfork and exec: calls of both children are counted | row("becomes").calls => 2
E
is 'vfork: calls of the children are not marked INCOMPLETE' "$(grep -E '"function":"(quits|becomes) ' sums | grep -c INCOMPLETE)" 0
is 'vfork: later calls of the parent are counted once each' "$(json 'row("later").calls' sums)" 5
# (later takes 20 ms per call: if it was counted within another function, that function's total would show it)
for f in quits becomes; do
    is "vfork: the total time of $f is its self time" \
        "$(json "row(\"$f\").total_ns" sums)" "$(json "row(\"$f\").self_ns" sums)"
done
poet calls --tree --json vforked.poet >tree
is 'vfork: the caller of later functions is main of the parent' \
    "$(json '[row("later").caller | first_word] | unique[]' tree)" main
is 'vfork: calls of the parent before and after the children are counted' "$(json 'row("again").calls' sums)" 5
# The first main is open at the exec, the second one at the exit.
like 'exec: open calls have their processor time' "$(json 'row("main").cpu_ns' sums)" '^[0-9]+$'
is 'exec: self time plus unaccounted time is equal to the lifetimes' \
    "$(json 'total | .self_ns + .unaccounted_ns' sums)" "$(json 'total | .lifetime_ns' sums)"
# Records of the process after that belong to the second program.
poet dump vforked.poet >events
begun_us() { awk -v event="$1:1" '$1 == event { printf "%.0f\n", $2 * 1e6 }' events; }
life_us=$(poet states --json vforked.poet | json 'rows | select(.thread == "T:main") | .lifetime_ns / 1e3 | floor')
like 'exec: the first program has a lifetime' "$life_us" '^[0-9]+$'
check 'exec: the lifetime of the first program ends before the second one begins' \
    test "$(($(begun_us 1) + life_us))" -le "$(begun_us 2)"
# ---- a thread that gets no descriptor for its queue ----
cat >silent.c <<'C'
#include <pthread.h>
#include <sys/resource.h>
__attribute__((noinline)) void *called(void *p) { return p; }
int main(void)
{
    struct rlimit had, none;
    pthread_t t;
    called(0);
    getrlimit(RLIMIT_NOFILE, &had);
    none = had;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    pthread_create(&t, NULL, called, NULL);
    pthread_join(t, NULL);
    setrlimit(RLIMIT_NOFILE, &had);
    return 0;
}
C
poetcc -profile -g -O1 silent.c -o silent || exit 1
POET_QUIET=1 POET_OUTPUT=silent.poet ./silent
until_true finished silent.poet
poet calls --json silent.poet >sums
is 'a thread without a queue: its calls are not counted' "$(json 'row("called").calls' sums)" 1
like 'a thread without a queue: a note says that it recorded nothing' "$(tail -n 1 sums)" '"1 created thread recorded nothing'
is 'threads with queues: no note' "$(poet calls --json vforked.poet | grep -c 'recorded nothing')" 0
done_testing
