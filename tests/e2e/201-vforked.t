#!/bin/bash
# Calls of a child of vfork end with it, or as it becomes another program; and calls that are open as
# a process ends at once, or becomes another program, last until then.  The calls of a thread that has no
# queue are not there, and that is said.
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
check 'the trace is sound' poet check vforked.poet
poet calls --json vforked.poet >sums
cell() { perl -ne 'print "$1\n" if /"function":"'"$1"' .*?"'"$2"'":(\d+)/' sums; }
is 'of two children each has ended its call' "$(cell quits calls)" 2
is 'and of those that became another program' "$(cell becomes calls)" 2
is 'none of these is left open' "$(grep -E '"function":"(quits|becomes) ' sums | grep -c INCOMPLETE)" 0
is 'what their parent does later is none of theirs: each counts once' "$(cell later calls)" 5
# (later takes 20 ms each time: what of it was within another function counts in its total)
for f in quits becomes; do
    is "the total of $f is its own time" "$(cell $f total_ns)" "$(cell $f self_ns)"
done
poet calls --tree --json vforked.poet >tree
is 'the parent called what came later' \
    "$(perl -ne 'print "$1\n" if /"function":"later .*?"caller":"(\w+)/' tree | sort -u)" main
is 'it called the same before and after' "$(cell again calls)" 5
# The first main is open when the program becomes another one, the second as it ends.
like 'calls that are open then have their processor time' "$(cell main cpu_ns)" '^[0-9]+$'
perl -ne 'print if s/.*"total":\{(.*?)\}.*/$1/' sums | tr -d '"' | tr ',' '\n' >total
part() { sed -n "s/^$1://p" total; }
is 'self and outside are the lives' "$(($(part self_ns) + $(part unaccounted_ns)))" "$(part lifetime_ns)"
# What came of the process after that is the second one's.
poet dump vforked.poet >events
begun_us() { perl -ne 'print $1 * 1e6, "\n" if /^'"$1"':1 +([\d.]+)/' events; }
life_us=$(poet states --json vforked.poet | perl -ne 'print int($1 / 1e3), "\n" if /"thread":"T:main[ "].*?"lifetime_ns":(\d+)/')
like 'the first one has a life' "$life_us" '^[0-9]+$'
check 'which ends before the second one begins' \
    perl -e 'exit !($ARGV[0] + $ARGV[1] <= $ARGV[2])' "$(begun_us 1)" "$life_us" "$(begun_us 2)"
# ---- a thread for whose queue there is no descriptor ----
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
is 'a thread that has no queue has no calls' "$(cell called calls)" 1
like 'which is said' "$(tail -n 1 sums)" '"1 created thread recorded nothing'
is 'and of no thread that has one' "$(poet calls --json vforked.poet | grep -c 'recorded nothing')" 0
done_testing
