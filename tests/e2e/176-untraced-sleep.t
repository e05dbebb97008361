#!/bin/bash
# Threads that sleep in untraced calls: poet blocked names them and does not just say that no thread is blocked.
. "$(dirname "$0")/lib.sh"

cat >library.c <<'C'
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
void library_waits(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
}
C
cat >asleep.c <<'C'
#include <pthread.h>
#include <stdio.h>
void library_waits(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *a)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    library_waits();
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    return 0;
}
C
gcc -g -shared -fPIC library.c -o liblibrary.so
gcc -g -pthread asleep.c -o asleep -L. -llibrary -Wl,-rpath,"$work"
poet record -o asleep.poet -- ./asleep 2>/dev/null &
record=$!
pids="$pids $record"
switches() { poet states --json asleep.poet | grep -q 'exact, from kernel context-switch records'; }
both() { test "$(poet blocked --json asleep.poet | grep -o '"asleep":.*"cycles"' | grep -o since_ns | wc -l)" = 2; }
has_two() { poet blocked --json asleep.poet | grep -q '"asleep"'; }
check "the program is recorded" until_true has_two
if ! until_true switches; then
    skip "the kernel does not report context switches"
    done_testing
    exit
fi
check "poet blocked lists both sleeping threads" until_true both
said=$(poet blocked asleep.poet)
like "poet blocked says that they are asleep in untraced calls" "$said" '^2 threads are asleep in untraced calls'
like "poet blocked gives the last event of a sleeping thread and its time" "$said" '^    T:work .* after event [0-9]+:[0-9]+ at asleep.c:'
is "poet blocked does not say that no thread is blocked" "$(echo "$said" | grep -c 'no thread is blocked')" 0
cat >noted.c <<'C'
#include <poet.h>
#include <unistd.h>
int main(void)
{
    poet_text("noted");
    for (;;)
        pause();
}
C
poetcc -trace -g noted.c -o noted
POET_OUTPUT=noted.poet ./noted 2>/dev/null &
pids="$pids $!"
noted() { poet blocked noted.poet >answer 2>/dev/null && grep -q '^1 thread is asleep in an untraced call' answer; }
check "poet blocked gives the text of the last event" until_true noted || cat answer
printf 'int main(void) { return 0; }\n' >ends.c
poetcc -trace -g ends.c -o ends
if command -v strace >/dev/null && strace -f -e trace=prctl -o calls env POET_OUTPUT=ends.poet ./ends 2>/dev/null; then
    like "libpoet permits its server to read where threads sleep" "$(cat calls)" 'prctl\(PR_SET_PTRACER, [1-9][0-9]*'
else
    skip "strace is not installed, or not permitted"
fi
program=$(own_processes asleep | head -n 1)
if [ -S "run/poet-$program.sock" ]; then
    like "poet attach names the call in which a thread sleeps" "$(timeout 120 poet attach "$program" 2>&1)" \
        '^T:work.*: asleep in futex, after event'
else
    skip "the program has no server of its own"
fi
kill -KILL "${program:-$record}"
wait "$record" 2>/dev/null
check "killed: the trace is finished" until_true finished asleep.poet
done_testing
