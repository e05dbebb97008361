#!/bin/bash
# POET_MEASURE=calls=every records the start and end of each call: in order, balanced, also after kill -9; and concurrent calls.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
entries() { python3 "$root/tests/e2e/entries.py" "$@"; }
every() { POET_MEASURE=calls=every POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"; } # every TRACE PROGRAM...
# functions .COLUMN, ...: each function with these columns, of the JSON of a table
functions() { json "rows | [(.function | first_word), $1] | join(\" \")" | sort; }

# ---- the order of calls ----
cat >threads.c <<'C'
#include <pthread.h>
volatile long sink;
__attribute__((noinline)) void f(void) { __atomic_fetch_add(&sink, 1, 0); }
__attribute__((noinline)) void r(int n) { if (n) r(n - 1); f(); }
__attribute__((noinline)) void g(long n) { for (long i = 0; i < n; i++) f(); r((int)n); }
void *serve(void *p) { for (long i = 0; i < 20; i++) g(i * (long)p); return 0; }
int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, serve, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -profile -g -O1 threads.c -o threads
check 'a program runs with calls=every' every threads.poet ./threads
poet calls threads.poet --every --json >threads.json
check 'calls --every: calls are balanced in each thread' entries sequences <threads.json
entries sequences <threads.json | sed 's/[<>]join//g; s/  */ /g' >poet.sequences
times() { for _ in $(seq "$1"); do printf '%s ' "$2"; done; } # times N WORDS
{
    for k in 1 2 3 4; do
        printf '>serve '
        for i in $(seq 0 19); do
            n=$((i * k))
            printf '>g '
            times $n '>f <f'
            times $((n + 1)) '>r' # r calls itself n times, and f before each return
            times $((n + 1)) '>f <f <r'
            printf '<g '
        done
        echo '<serve'
    done
    echo '>main <main'
} | sort >wanted.sequences
check 'calls --every: calls are those of the program, in its order' cmp poet.sequences wanted.sequences
poet calls threads.poet --json | functions .calls >sums
entries counts <threads.json >counted
check 'calls --every: as many calls as in the sums' cmp sums counted
if command -v uftrace >/dev/null; then
    cc -pg -g -O1 threads.c -o threads-uftrace
    uftrace record --no-libcall -d uftrace.data ./threads-uftrace >/dev/null 2>&1
    uftrace dump -d uftrace.data 2>/dev/null | entries uftrace >uftrace.sequences
    check 'calls --every: uftrace records the same calls' cmp poet.sequences uftrace.sequences
else
    skip 'uftrace is not installed'
fi
like 'calls --every as text has time, thread and function' "$(poet calls threads.poet --every --top 50)" \
    '^  g \(threads.c:5\) +entry +[0-9.]+ +(- +)?T:serve'
like 'calls --every --top notes where to continue' "$(poet calls threads.poet --every --top 50)" 'these are the first [0-9]+; continue with --from [0-9]+ns'
# Piece by piece the output is the same.
from=0
: >pieces
for _ in $(seq 100); do
    poet calls threads.poet --every --top 900 --from "${from}ns" --json >piece
    grep '"row"' piece | grep -v '"kind":"open"' >>pieces
    from=$(sed -n 's/.*continue with --from \([0-9]*\)ns.*/\1/p' piece)
    [ -n "$from" ] || break
done
is 'calls --every in pieces equals the whole' "$(cut -d, -f2- pieces | md5sum)" "$(grep '"row"' threads.json | cut -d, -f2- | md5sum)"
middle=$(json '[rows | select(.depth > 3).start_ns] | .[length / 2 | floor]' threads.json)
like 'calls --every --from has the calls that are open, with their start' "$(poet calls threads.poet --every --top 1 --from "${middle}ns" --json)" \
    '"kind":"open"'
is 'calls --every --threads has one thread only' "$(poet calls threads.poet --every --threads main --json | entries sequences | sed 's/ [<>]join//g')" '>main <main'

# ---- elapsed time of functions, and overlap ----
is 'calls --elapsed: the time in which each function was open on any thread' \
    "$(poet calls threads.poet --elapsed --json | functions .elapsed_ns)" "$(entries elapsed <threads.json)"
is 'calls --with: the time in which another function was open on another thread' \
    "$(poet calls threads.poet --with g --json | functions '.elapsed_ns, .overlap_ns')" "$(entries elapsed g <threads.json)"
like 'calls --with an unknown function is refused' "$(poet calls threads.poet --with nothing 2>&1)" 'no such function in the profile'
cat >apart.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t b;
__attribute__((noinline)) void alone(void) { usleep(20000); }
__attribute__((noinline)) void first(void) { pthread_barrier_wait(&b); usleep(20000); }
__attribute__((noinline)) void second(void) { usleep(20000); pthread_barrier_wait(&b); usleep(30000); }
void *serve(void *p) { second(); return p; }
int main(void)
{
    pthread_t t;
    alone();
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, serve, 0);
    first();
    pthread_join(t, 0);
    alone();
    return 0;
}
C
poetcc -profile -g -O1 apart.c -o apart
every apart.poet ./apart
is 'calls --with: a function that ran alone has no overlap' \
    "$(poet calls apart.poet --with second --json | json 'row("alone").overlap_ns')" 0
is 'calls --with: a function that ran beside the other has an overlap' \
    "$([ "$(poet calls apart.poet --with second --json | json 'row("first").overlap_ns')" -ge 20000000 ] && echo yes)" yes

# ---- sequential, concurrent: Malony's cases ----
cat >cases.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
static _Atomic int here_are, done;
static long long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
/* Running: a thread that sleeps is not running. */
static void ms(long n) { for (long long end = now() + n * 1000000; now() < end;) sched_yield(); }
NOINLINE void here(void) { here_are++; }
NOINLINE void B(void) { ms(2); }
NOINLINE void D(void) { ms(1); }
NOINLINE void C(void) { ms(3); D(); }
__attribute__((no_instrument_function)) void *work(void *p)
{
    here();
    while (here_are < 4) sched_yield(); /* none of them waits or has exited when another one calls C */
    C();
    done++;
    while (done < 4) sched_yield();
    here();
    return p;
}
NOINLINE void A(void)
{
    pthread_t t[4];
    B();
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
int main(void) { A(); return 0; }
C
poetcc -profile -ignore=ms,now -g -O1 cases.c -o cases
every cases.poet ./cases
# Below a function, at depth 1, is a sum of what it called, and at depth 2 each function that it called.
poet calls cases.poet --cases --json | json '
    foreach (.[] | select(.row)) as $line (""; if $line.depth == 0 then $line.row.function | first_word else . end;
        . as $caller | $line.row + {function: ($line.row.function | first_word)} |
        select($line.depth != 1 and .function != "here") |
        if $line.depth == 0 then "" else "\($caller) > " end + "\(.function) \(.class) \(.calls)" +
        if .elapsed_ns > 0 and .thread_ns >= .elapsed_ns then "" else " wrong" end)' |
    grep -E '(B|C|D) ' | sort >cases.out
is 'calls --cases: S-S, S-C, C-S with caller and number' "$(cat cases.out)" "$(printf '%s\n' 'A > B S-S 1' 'A > C S-C 4' 'B S 1' 'C > D C-S 4' 'C C 4' 'D C 4')"
like 'calls --cases of a part of the run is refused' "$(poet calls cases.poet --cases --from 1ms 2>&1)" 'cases need the whole run'

# ---- nonlocal exits, and handlers ----
cat >ways.cc <<'C'
#include <csetjmp>
#include <csignal>
#include <pthread.h>
#include <sched.h>
#define NOINLINE __attribute__((noinline))
static jmp_buf back;
static volatile sig_atomic_t handled;
volatile long sink;
NOINLINE void f() { sink = sink + 1; }
NOINLINE void handler(int) { f(); handled = handled + 1; }
NOINLINE void jumper(int n) { if (n) jumper(n - 1); else longjmp(back, 1); f(); }
NOINLINE void jumped() { if (!setjmp(back)) jumper(2); f(); }
NOINLINE void thrower(int n) { if (n) thrower(n - 1); else throw n; f(); }
NOINLINE void catcher() { try { thrower(2); } catch (int) { f(); } }
NOINLINE void leaver() { pthread_exit(nullptr); }
NOINLINE void *leaves(void *) { leaver(); return nullptr; }
static volatile sig_atomic_t going = 1;
NOINLINE void *busy(void *) { for (int i = 0; i < 100000; i++) f(); while (going) sched_yield(); return nullptr; }
int main()
{
    pthread_t t;
    signal(SIGUSR1, handler);
    for (int i = 0; i < 10; i++) jumped();
    for (int i = 0; i < 10; i++) catcher();
    pthread_create(&t, nullptr, leaves, nullptr);
    pthread_join(t, nullptr);
    pthread_create(&t, nullptr, busy, nullptr);
    for (int i = 0; i < 50; i++) { pthread_kill(t, SIGUSR1); while (handled <= i) sched_yield(); }
    going = 0;
    pthread_join(t, nullptr);
}
C
poetcc++ -profile -g -O1 ways.cc -o ways
every ways.poet ./ways
poet calls ways.poet --every --top 1000000 --json >ways.json
check 'longjmp, exceptions, thread exits and handlers: calls are balanced' entries sequences <ways.json
if grep -q '"kind":"lost"\|calls dropped' ways.json; then
    skip 'records arrived faster than they were read'
else
    entries counts <ways.json >counted
    poet calls ways.poet --json | functions .calls >sums
    check 'longjmp, exceptions, thread exits and handlers: as many calls as in the sums' cmp sums counted
fi
is 'the next call after a longjmp has the right caller' \
    "$(poet calls ways.poet --every --top 40 --json |
        json 'rows | if .kind == "exit" then "<" else ">" end + "\(.function | sub("[ (].*"; ""))\(.depth)"' |
        paste -sd' ' | grep -o '>jumped1.*' | cut -d' ' -f1-10)" \
    '>jumped1 >jumper2 >jumper3 >jumper4 <jumper4 <jumper3 <jumper2 >f2 <f2 <jumped1'

# ---- killed ----
cat >killed.c <<'C'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile long *count;
__attribute__((noinline)) void f(long at) { ++*count; if (*count == at) kill(getpid(), SIGKILL); }
int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (argc < 3 || ftruncate(fd, 4096)) return 1;
    count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (;;) f(atol(argv[2]));
}
C
poetcc -profile -g -O1 killed.c -o killed
wrong=
for i in $(seq 20); do
    rm -f killed.poet
    every killed.poet ./killed counter $((i * i * 37)) 2>/dev/null
    until_true finished killed.poet
    got=$(poet calls killed.poet --elapsed --json | json 'row("f").calls')
    [ "$got" = $((i * i * 37)) ] || wrong="$wrong $i: $got of $((i * i * 37))"
done 2>/dev/null
is 'killed twenty times in a call: no call that started is missing' "$wrong" ''

# ---- more records than fit ----
cat >burst.c <<'C'
#include <stdio.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void f(void) { sink++; }
__attribute__((noinline)) void burst(void) { for (int i = 0; i < 2000000; i++) f(); }
int main(void)
{
    f();
    fclose(fopen("started", "w"));
    while (access("go", F_OK) != 0) usleep(1000);
    burst();
    fclose(fopen("done", "w"));
    while (access("end", F_OK) != 0) usleep(1000);
    f();
    return 0;
}
C
poetcc -profile -g -O1 burst.c -o burst
start_server
POET_MEASURE=calls=every POET_RUN=storm ./burst &
pids="$pids $!"
until_true test -e started
stop_process "$server"
touch go
check 'a burst of records that the server does not read delays no thread' until_true test -e done
kill -CONT "$server"
touch end
wait $!
until_true finished latest
poet calls latest --json >burst.sums
poet calls latest --elapsed --json >burst.json
lost=$(sed -n 's/.*"\([0-9]*\) calls dropped: ring buffer overrun.*/\1/p' burst.json)
is 'dropped records are counted to the call' "$(($(json 'row("f").calls' burst.json) + ${lost:-0}))" \
    "$(json 'row("f").calls' burst.sums)"
is 'more than a million records are dropped' "$([ "${lost:-0}" -gt 1000000 ] && echo yes)" yes
is 'the sums have every call' "$(json 'row("f").calls' burst.sums)" 2000002

# ---- saved states of the file ----
poetcc -profile -g -O1 -DROUNDS=1 burst.c -o burst
touch go end
POET_KEEP=64M every saved.poet ./burst
got=$(poet calls saved.poet --elapsed --json | tee saved.json | json 'row("f").calls')
lost=$(sed -n 's/.*"\([0-9]*\) calls dropped: ring buffer overrun.*/\1/p' saved.json)
is 'a file with saved states has all records once' "$((got + ${lost:-0}))" 2000002
cp saved.poet copy.poet
is 'a file read again has all records once' "$(poet calls copy.poet --elapsed --json | json 'row("f").calls')" "$got"
like 'without calls=every the records are missing, which is reported' "$(POET_MEASURE=calls POET_OUTPUT=none.poet POET_QUIET=1 ./threads; poet calls none.poet --every)" \
    'run with POET_MEASURE=calls=every'
done_testing
