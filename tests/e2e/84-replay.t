#!/bin/bash
# poet replay repeats a recorded run: the new trace is equal event for event, under any timing; the first divergence is
# reported, and replay never hangs.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e
same() { python3 "$here/same.py" "$1" "$2"; }
record() { # record FILE PROGRAM...: a program compiled with -trace
    rm -f "$1"
    POET_OUTPUT=$1 timeout 60 "${@:2}"
    until_true finished "$1"
}
replay() { # replay FILE NEW...
    rm -f "$2"
    timeout 60 poet replay "$1" -o "$2" "${@:3}" 2>said
    status=$?
    until_true finished "$2"
    return $status
}

# ---- all primitives, and threads that are delayed at random ----
poetcc -trace -g "$here/replay-many.c" -o many
equal=0
for i in 1 2 3; do
    record many.poet ./many >first
    for j in 1 2; do
        replay many.poet again.poet >second
        cmp -s first second && same many.poet again.poet >result && equal=$((equal + 1)) || cat said result
    done
done
is "replay of all primitives is equal, six times of six" "$equal" 6
like "replay reports no divergence" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
is "the trace of a replay is sound" "$(poet check again.poet >/dev/null 2>&1; echo $?)" 0
poetcc -trace -g -DUNLOCKED "$here/replay-many.c" -o unlocked
record unlocked.poet ./unlocked >printed
replay unlocked.poet unlocked-again.poet >again
is "broadcasts without the mutex: a replay prints the same" "$(cat again)" "$(cat printed)"

# ---- the program, and the output ----
rm -f many.again.poet
poet replay -q many.poet >second 2>said
is "replay without arguments takes the program from the trace" "$? $(cmp first second) $(cat said)" "0  "
until_true finished many.again.poet
like "replay --help prints the usage" "$(poet replay --help)" 'TRACE'
is "replay without a trace exits with 2" "$(poet replay 2>/dev/null; echo $?)" 2
is "replay of a missing trace exits with 1" "$(poet replay nix.poet 2>/dev/null; echo $?)" 1
is "replay of a missing program exits with 127" "$(poet replay many.poet -o x.poet ./nix 2>/dev/null; echo $?)" 127
is "POET_REPLAY with an invalid schedule file: the program runs without control and says so" \
    "$(env -u POET_QUIET POET_OUTPUT=x.poet POET_REPLAY=first ./many 2>&1 >/dev/null | grep -c 'POET_REPLAY: first: invalid schedule file; running without schedule control')" 1

# ---- a replayed deadlock ----
cat >dead.c <<'C'
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void late(void) { unsigned char x = 0; if (getrandom(&x, 1, 0) == 1) usleep(x); }
static void *work(void *p)
{
    pthread_mutex_t *first = p ? &a : &b, *second = p ? &b : &a;
    for (;;) {
        late(), pthread_mutex_lock(first), late(), pthread_mutex_lock(second);
        pthread_mutex_unlock(second), pthread_mutex_unlock(first);
    }
    return 0;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, &a);
    return work(0) != 0;
}
C
poetcc -trace -g dead.c -o dead
blocks() { poet blocked "$1" 2>/dev/null | grep -q "^DEADLOCK"; }
rm -f dead.poet again.poet
POET_OUTPUT=dead.poet ./dead & program=$!
until_true blocks dead.poet
kill -9 $program
wait $program 2>/dev/null
until_true finished dead.poet
poet replay dead.poet -o again.poet 2>said & replayed=$!
until_true blocks again.poet
check "replay reproduces a deadlock" blocks again.poet
kill $replayed
wait $replayed
like "replay of a deadlock reports no divergence and the signal" "$(cat said)" 'no divergence in .*; the program was killed by signal 15'
until_true finished again.poet
is "replay of a deadlock is equal event for event" "$(same dead.poet again.poet | tr -d 0-9 | tr -s ' ')" "the same: events"

# ---- a replayed lost wake-up ----
cat >lost.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int signalled;
static void *waiter(void *p)
{
    while (!signalled) usleep(1000);
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    signalled = 1;
    return pthread_join(t, 0);
}
C
poetcc -trace -g lost.c -o lost
hangs() { poet blocked "$1" 2>/dev/null | grep -q "no remaining thread can wake the waiters of CV:c\|no traced thread can still wake the waiters of CV:c"; }
rm -f lost.poet again.poet
POET_OUTPUT=lost.poet ./lost & program=$!
until_true hangs lost.poet
kill -9 $program
wait $program 2>/dev/null
until_true finished lost.poet
poet replay -q lost.poet -o again.poet 2>said & replayed=$!
until_true hangs again.poet
check "replay reproduces a lost wake-up" hangs again.poet
kill $replayed
wait $replayed

# ---- unusual calls, processes, errors: results are the same ----
poetcc -trace -g -O1 "$here/odd.c" -o odd
rm -f odd.poet again.poet
POET_OUTPUT=odd.poet ./odd >first 2>first.err
status=$?
until_true finished odd.poet
poet replay odd.poet -o again.poet >second 2>said
is "replay of unusual calls has the same results and exit status" "$(cmp first second; sed -nE 's/.*status is //p' said)" "$status"
like "replay of unusual calls reports no divergence in all processes" "$(cat said)" '^poet replay: no divergence in [0-9]* events'

# ---- joins that poll for the end of a thread, and threads detached before or after their end ----
cat >ends.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1)
        usleep(10 * x);
}
static void *work(void *p) { return late(), p; }
int main(void)
{
    pthread_t t[6];
    for (int i = 0; i < 6; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        late(), pthread_detach(t[i]);
    for (int left = 3, done[6] = {0}; left; late())
        for (int i = 3; i < 6; i++)
            if (!done[i] && pthread_tryjoin_np(t[i], 0) == 0)
                printf("%d", i), left--, done[i] = 1;
    late();
    return 0;
}
C
poetcc -trace -g ends.c -o ends
equal=0
for i in 1 2 3 4 5 6; do
    record ends.poet ./ends >first
    replay ends.poet again.poet >second && cmp -s first second && equal=$((equal + 1)) || cat said
done
is "replay of polled joins and detached threads is equal, six times of six" "$equal" 6
# A detached thread that had not ended when the recorded run was over ends before it is detached.
cat >early.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int id;
static void *work(void *p)
{
    id = (int)syscall(SYS_gettid);
    while (!getenv("EARLY"))
        usleep(1000);
    return p;
}
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!id || (getenv("EARLY") && syscall(SYS_tgkill, getpid(), id, 0) == 0))
        usleep(1000);
    pthread_detach(t);
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return 0;
}
C
poetcc -trace -g early.c -o early
record early.poet ./early
like "replay: a thread that ends earlier than recorded is not a divergence" "$(EARLY=1 replay early.poet again.poet; cat said)" '^poet replay: no divergence in [0-9]* events'

# A canceled thread is not canceled at a call that is not a cancellation point; replay waits for it there.
cat >cancelled.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int late;
static void *work(void *p) { return usleep(late), p; }
int main(int argc, char **argv)
{
    pthread_t t;
    late = argc > 1 ? atoi(argv[1]) : 0;
    pthread_create(&t, 0, work, 0);
    pthread_cancel(pthread_self());
    while (pthread_tryjoin_np(t, 0) == EBUSY)
        ;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    puts("joined");
    return 0;
}
C
poetcc -trace -g cancelled.c -o cancelled
record cancelled.poet ./cancelled 0 >first
replay cancelled.poet again.poet ./cancelled 30000 >second
is "replay does not cancel a thread where no cancellation point is" "$(cat first second | sort -u)" joined

# ---- processes with a mutex in shared memory: their output shows the order of acquisitions ----
cat >share.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
static struct shared {
    pthread_mutex_t m;
    int n, order[99];
} *s;
static void work(int me)
{
    for (int i = 0; i < 30; i++) {
        unsigned char x = 0;
        if (getrandom(&x, 1, 0) == 1)
            usleep(x);
        pthread_mutex_lock(&s->m);
        s->order[s->n++] = me;
        pthread_mutex_unlock(&s->m);
    }
}
int main(void)
{
    pthread_mutexattr_t a;
    s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->m, &a);
    for (int k = 1; k < 3; k++)
        if (fork() == 0) {
            work(k);
            _exit(0);
        }
    work(0);
    while (wait(0) > 0)
        ;
    for (int i = 0; i < s->n; i++)
        printf("%d", s->order[i]);
    return 0;
}
C
poetcc -trace -g share.c -o share
record share.poet ./share >first
replay share.poet again.poet >second
is "replay of processes with a shared mutex keeps their order" "$? $(cmp first second)" "0 "

# ---- data races ----
cat >racy.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int n;
static void *work(void *p)
{
    for (int i = 0; i < 60; i++) {
        unsigned char x = 0;
        if (getrandom(&x, 1, 0) == 1)
            usleep(x);
        pthread_mutex_t *m = atomic_fetch_add(&n, 1) % 3 ? &a : &b;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g racy.c -o racy
record racy.poet ./racy
replay racy.poet again.poet
is "replay of a racy program has another exit status" "$?" 1
like "replay names the first divergence" "$(cat said)" 'divergence: T:work.* performed .* on .*, recorded was .* on M:. \(event [0-9:]*, racy\.c:[0-9]*\); [0-9]* of [0-9]* events were replayed'
is "replay of a racy program runs to its end" "$(poet stat --json again.poet | grep -c '"finished":true')" 1
replay racy.poet again.poet --strict
like "replay --strict ends the program at the divergence" "$(cat said)" 'divergence: .*; the program was killed by signal 15'

# ---- a thread that waits for an event that cannot come ----
cat >flag.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static atomic_int flag;
static int other;
static void *work(void *p)
{
    if (!!p == other) {
        while (!atomic_load(&flag))
            ;
        pthread_mutex_lock(&a);
    } else {
        pthread_mutex_lock(&a);
        atomic_store(&flag, 1);
    }
    pthread_mutex_unlock(&a);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t, u;
    other = argc > 1 && atoi(argv[1]);
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, &u);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
C
poetcc -trace -g flag.c -o flag
record flag.poet ./flag 0
replay flag.poet again.poet ./flag 1
is "replay resolves a circular wait and exits with 1" "$?" 1
like "replay reports the circular wait" "$(cat said)" 'divergence: T:work.* is waiting for event [0-9]* on M:a before .* should perform it but has not reached it'

# ---- programs linked with libpoet ----
printf '%s\n' '#include <pthread.h>' 'static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;' \
    'static void *work(void *a) { for (int i = 0; i < 50; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } return a; }' \
    'int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);' \
    'for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }' >within.c
for how in -fsanitize=thread -fsanitize=address -static; do
    poetcc -trace -g $how within.c -o within
    TSAN_OPTIONS=exitcode=66 record within.poet ./within 2>said || cat said
    TSAN_OPTIONS=exitcode=66 replay within.poet again.poet
    is "$how: the replay is equal" "$? $(same within.poet again.poet >result && echo equal) $(grep -c WARNING said)" "0 equal 0"
done
done_testing
