#!/bin/bash
# poetcc -profile measures calls: counts, times and callers, in the region that each thread
# shares with the server. regions.py is the server here.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
measured() { python3 "$root/tests/e2e/regions.py" "$@" 2>program.err >out; } # measured PROGRAM ARGUMENT...
# of PATH COLUMN [THREAD]: 3 calls, 4 ended, 5 concurrent, 6 real, 7 own, 8 off, 9 min, 10 max; summed over threads
of() { awk -v path="$1" -v column="$2" -v thread="${3-}" '$2 == path && (thread == "" || $1 == thread) {
    sum += $column } END { print sum + 0 }' out; }
between() { # between NAME VALUE LEAST MOST
    if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then ok "$1"; else not_ok "$1" "got: $2, not $3 to $4" "$(cat out)"; fi
}
# A function that is called again while it is open is counted in the outermost one only.
lands_rightly() { awk '$2 ~ /\*$/ { n = split($2, part, "/"); last = part[n]; sub(/\*/, "", last); found = 0
    for (i = 1; i < n; i++) { sub(/\*/, "", part[i]); found += part[i] == last } if (!found) exit 1 }' out; }

# ---- callers, and numbers of calls ----
cat >arcs.c <<'C'
volatile long sink;
__attribute__((noinline)) void f(void) { sink++; }
__attribute__((noinline)) void g(void) { for (int i = 0; i < 1000; i++) f(); }
__attribute__((noinline)) void k(void) { for (int i = 0; i < 300; i++) f(); }
__attribute__((noinline)) void r(int n) { if (n) r(n - 1); sink++; }
__attribute__((noinline)) void odd(int n);
__attribute__((noinline)) void even(int n) { if (n) odd(n - 1); sink++; }
__attribute__((noinline)) void odd(int n) { if (n) even(n - 1); sink++; }
int main(void) { g(); k(); r(10); even(10); return 0; }
C
check 'poetcc -profile compiles' poetcc -profile -no-pie -O1 arcs.c -o arcs
for level in counts real cpu; do
    POET_MEASURE=calls=$level measured ./arcs
    is "calls=$level: calls by path" "$(for path in /main /main/g /main/g/f /main/k /main/k/f /main/r /main/r/r\*; do
        printf '%s ' "$(of $path 3)"; done)" '1 1 1000 1 300 1 10 '
    is "calls=$level: two functions that call each other have one arc each" \
        "$(for path in /main/even /main/even/odd /main/even/odd/even\*; do printf '%s ' "$(of $path 3)"; done)" '1 5 5 '
    is "calls=$level: all calls have ended" "$(awk '$2 ~ /^\// && $3 != $4' out)" ''
done
is 'the time of a function is that of its outermost calls' \
    "$(awk '$2 == "/main/even/odd" { print ($6 <= even && $10 <= $6) } $2 == "/main/even" { even = $6 }' out)" 1
POET_MEASURE=calls=counts measured ./arcs
is 'calls=counts: no times are measured' "$(awk '$2 ~ /^\// && $6 + $7 != 0' out)" ''
POET_MEASURE=none measured ./arcs
is 'without POET_MEASURE nothing is measured' "$(cat out)" ''
POET_MEASURE=calls,bananas measured ./arcs
is 'POET_MEASURE: an unknown word is reported once' "$(grep -c 'POET_MEASURE: bananas: unknown measurement' program.err)" 1
is 'POET_MEASURE: the other words are in effect' "$(of /main/g/f 3)" 1000
is 'POET_SERVER=none: POET_MEASURE is not checked' "$(POET_SERVER=none POET_MEASURE=bananas ./arcs 2>&1)" ''
poetcc -trace -no-pie -O1 arcs.c -o plain
measured ./plain
is 'a program without -profile has no calls' "$(cat out)" ''
cc -finstrument-functions -no-pie -O1 arcs.c -o other
POET_MEASURE=calls measured poet record -- ./other
is 'poet record measures hooks that another compiler inserted' "$(awk '$3 == 1000' out | wc -l)" 1
cat >own.c <<'C'
#include <stdio.h>
#define NI __attribute__((no_instrument_function))
static int seen;
NI void __cyg_profile_func_enter(void *f, void *s) { (void)f; (void)s; seen++; }
NI void __cyg_profile_func_exit(void *f, void *s) { (void)f; (void)s; seen += 100; }
void g(void) {}
NI int main(void) { g(); printf("%d\n", seen); return 0; }
C
poetcc -profile -no-pie -O0 own.c -o own
is 'hooks that a program defines itself are called' "$(POET_SERVER=none ./own)" 101
poetcc -profile -no-pie -O0 own.c -o own-static -static
is 'hooks that a static program defines itself are called' "$(POET_SERVER=none ./own-static)" 101
poetcc -profile -static -no-pie -O1 arcs.c -o arcs-static
measured ./arcs-static
is 'a static program is measured' "$(of /main/g/f 3) $(of '/main/r/r*' 3)" '1000 10'
poetcc -profile -ignore=f,r -no-pie -O1 arcs.c -o ignored
measured ./ignored
is 'poetcc -ignore leaves functions out' "$(of /main/g 3) $(of /main/g/f 3) $(of /main/r 3) $(of /main/k 3)" '1 0 0 1'

# ---- times by caller, and CPU time ----
cat >spin.h <<'C'
#include <time.h>
#define NI __attribute__((no_instrument_function))
NI static inline double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
NI static inline void spin(double ms) { for (double end = cpu_ms() + ms; cpu_ms() < end;); }
C
# Of each function: the CPU time that it read in its calls, and the one that its caller read around them.
cat >times.c <<'C'
#include "spin.h"
#include <stdio.h>
static double in[2], around[3];
__attribute__((noinline)) void f(int which, double ms) { double from = cpu_ms(); spin(ms); in[which] += cpu_ms() - from; }
NI static void calls(int which, double ms) { double from = cpu_ms(); f(which, ms); around[which] += cpu_ms() - from; }
__attribute__((noinline)) void a(void) { for (int i = 0; i < 5; i++) calls(0, 20); }
__attribute__((noinline)) void b(void) { for (int i = 0; i < 5; i++) calls(1, 4); }
__attribute__((noinline)) void s(void) { struct timespec t = {0, 300000000}; nanosleep(&t, 0); }
int main(void)
{
    a(), b();
    double from = cpu_ms();
    s();
    around[2] = cpu_ms() - from;
    for (int i = 0; i < 2; i++) printf("in%d %.0f\n", i, in[i] * 1e6);
    for (int i = 0; i < 3; i++) printf("around%d %.0f\n", i, around[i] * 1e6);
    puts("in2 0");
    return 0;
}
C
poetcc -profile -no-pie -O1 times.c -o times
taskset -c 0 sh -c 'while :; do :; done' & # another process on the same CPU
spinner=$!
pids="$pids $spinner"
POET_CLOCK=monotonic taskset -c 0 python3 "$root/tests/e2e/regions.py" ./times >out 2>program.err
kill "$spinner"
is 'calls are counted by caller' "$(of /main/a/f 3) $(of /main/b/f 3)" '5 5'
read_by() { awk -v name="$1" '$1 == name { print $2 }' out; } # read_by NAME: CPU time, by the program
# used CHECK PATH NAME: the CPU time of a function is at least what it read, and at most what its caller
# read; the clocks of threads and of events differ by less than 0.5 %.
used() { between "$1" "$(of "$2" 7)" $(($(read_by "in$3") * 995 / 1000)) $(($(read_by "around$3") * 1005 / 1000 + 200000)); }
used 'a function called by the first caller has the CPU time that it read' /main/a/f 0
used 'called by the second caller, too' /main/b/f 1
used 'a sleeping function uses no CPU time' /main/s 2
between 'a sleeping function has its real time' "$(of /main/s 6)" 300000000 9000000000000
is 'a thread that shares its CPU has more real time than CPU time' \
    "$([ "$(of /main/a/f 6)" -gt "$(of /main/a/f 7)" ] && [ "$(of /main/a/f 8)" -gt 0 ] && echo yes)" yes
is 'CPU time and off-CPU time add up to the real time' "$(awk '$2 == "/main/a/f" { print ($6 == $7 + $8) }' out)" 1

# ---- threads, and signal handlers ----
cat >threads.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
volatile long sink;
static volatile sig_atomic_t going;
static _Atomic int handled, begun;
__attribute__((noinline)) void f(void) { sink++; }
__attribute__((noinline)) void handler(int sig) { (void)sig; f(); handled++; }
__attribute__((noinline)) void *serve(void *p)
{
    begun++;
    for (int i = 0; i < 250000; i++) f();
    while (going) f(); /* until all signals have been handled */
    return p;
}
__attribute__((no_instrument_function)) int main(void)
{
    pthread_t t[4];
    struct sigaction sa = {.sa_handler = handler};
    going = 1;
    sigaction(SIGUSR1, &sa, NULL);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, serve, NULL);
    while (begun < 4);
    for (int i = 0; i < 100; i++) { pthread_kill(t[i % 4], SIGUSR1); while (handled <= i); }
    going = 0;
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("%ld\n", sink);
    return 0;
}
C
sed 's/sink++/__atomic_fetch_add(\&sink, 1, 0)/' threads.c >counted.c
poetcc -profile -no-pie -O1 counted.c -o counted
for level in counts cpu; do
    POET_MEASURE=calls=$level measured ./counted
    is "calls=$level: calls of four threads, interrupted by handlers" \
        "$(awk '$2 ~ /\/f\*?$/ { sum += $3 } END { print sum }' out)" "$(head -n 1 out)"
    is "calls=$level: each call of a handler is counted, wherever it interrupted" "$(awk '$2 ~ /\/handler$/ { sum += $3 } END { print sum }' out)" 100
    is "calls=$level: recursive calls are counted in the outermost one" "$(lands_rightly && echo yes)" yes
    is "calls=$level: no call is open or mismatched" \
        "$(awk '$2 == "numbers" && $3 + $4 + $5 + $6 != 0' out)" ''
done
is 'calls of threads that run at once are concurrent' "$([ "$(of /serve/f 5)" -gt 0 ] && echo yes)" yes

# ---- nonlocal exits ----
cat >ways.cc <<'C'
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>
#include "poet.h"
#define NOINLINE __attribute__((noinline))
static jmp_buf back;
static sigjmp_buf out;
volatile long sink;
NOINLINE void next() { sink++; }
NOINLINE void thrower(int n) { if (n) thrower(n - 1); else throw n; sink++; }
NOINLINE void catcher() { try { thrower(2); } catch (int) { next(); } }
NOINLINE void jumper(int n) { if (n) jumper(n - 1); else longjmp(back, 1); sink++; }
NOINLINE void jumped() { if (!setjmp(back)) jumper(2); next(); }
NOINLINE void handler(int) { siglongjmp(out, 1); }
NOINLINE void interrupted() { if (!sigsetjmp(out, 1)) raise(SIGUSR1); next(); }
NOINLINE void leaver() { pthread_exit(nullptr); }
NOINLINE void *leaves(void *) { leaver(); return nullptr; }
NOINLINE void sleeper() { for (;;) pause(); }
NOINLINE void *cancelled(void *) { sleeper(); return nullptr; }
NOINLINE void deep(long n) { if (n) deep(n - 1); sink++; }
NOINLINE void *dives(void *) { deep(1000000); next(); return nullptr; }
NOINLINE void parts() { POET_SCOPE("outer"); for (int i = 0; i < 3; i++) { POET_SCOPE("inner"); next(); } }
NOINLINE void ends(int n) { if (n) ends(n - 1); else exit(errno == 77 ? 3 : 4); sink++; }
int main()
{
    struct sigaction sa = {};
    static char other[65536];
    stack_t stack = {};
    stack.ss_sp = other, stack.ss_size = sizeof other;
    sigaltstack(&stack, nullptr);
    sa.sa_handler = handler, sa.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &sa, nullptr);
    for (int i = 0; i < 100; i++) catcher();
    for (int i = 0; i < 50; i++) jumped();
    for (int i = 0; i < 5; i++) interrupted();
    pthread_t t;
    pthread_create(&t, nullptr, leaves, nullptr);
    pthread_join(t, nullptr);
    pthread_create(&t, nullptr, cancelled, nullptr);
    pthread_cancel(t);
    pthread_join(t, nullptr);
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 512 << 20);
    pthread_create(&t, &large, dives, nullptr);
    pthread_join(t, nullptr);
    parts();
    errno = 77;
    ends(5);
}
C
poetcc++ -profile -no-pie -O1 ways.cc -o ways
measured ./ways
is 'exit code and errno are those of the program' $? 3
is 'after an exception the next call has the right caller' "$(of /main/catcher 3) $(of /main/catcher/next 3)" '100 100'
is 'calls that an exception left are counted' "$(of /main/catcher/thrower 3) $(of '/main/catcher/thrower/thrower*' 3)" '100 200'
is 'after a longjmp the next call has the right caller' "$(of /main/jumped 3) $(of /main/jumped/next 3)" '50 50'
is 'after a longjmp from a handler on another stack the next call has the right caller' "$(of /main/interrupted 3) $(of /main/interrupted/next 3)" '5 5'
is 'calls that a longjmp left have ended' "$(of /main/jumped/jumper 4) $(of '/main/jumped/jumper/jumper*' 4)" '50 100'
is 'a call that pthread_exit left has ended' "$(of /leaves/leaver 3) $(of /leaves/leaver 4)" '1 1'
is 'calls of a canceled thread have ended' "$(of /cancelled 3) $(of /cancelled 4)" "$(of /cancelled 3) $(of /cancelled 3)"
is 'recursion of a million calls: each is counted' "$(of '/dives/deep/deep*' 3)" 1000000
is 'recursion of a million calls: the next call has the right caller' "$(of /dives/next 3)" 1
like 'recursion of a million calls: untracked levels are counted' "$(grep ' numbers ' out)" '^[0-9]+ numbers 0 983[0-9]+ 0 0$'
is 'parts that the program names are contexts' "$(of '/main/parts/[outer]' 3) $(of '/main/parts/[outer]/[inner]' 3) $(of '/main/parts/[outer]/[inner]/next' 3)" \
    '1 3 3'
is 'exit() in open calls: they have not ended' "$(of '/main/ends/ends*' 3) $(of '/main/ends/ends*' 4)" '5 0'
is 'exit() in open calls: they have times' "$(awk '$2 ~ /main\/ends\/ends/ && $6 > 0 && $9 > 0 { print 1 }' out)" 1
is 'recursive calls are counted in the outermost one' "$(lands_rightly && echo yes)" yes

# ---- exceptions, by each compiler ----
cat >caught.cc <<'C'
#include <stdexcept>
#define NOINLINE __attribute__((noinline))
volatile long sink;
NOINLINE void after() { sink++; }
NOINLINE void thrower(int n) { char room[64]; room[n] = 1; if (n) thrower(n - 1); else throw std::runtime_error("thrown"); sink += room[n]; }
NOINLINE void within() { after(); }
NOINLINE void catcher()
{
    try { thrower(3); } catch (const std::exception &) { within(); }
    after();
    try { thrower(0); } catch (...) { try { thrower(1); } catch (const std::runtime_error &e) { sink += e.what()[0]; } within(); }
}
NOINLINE void passes() { try { thrower(1); } catch (int) { sink++; } }
NOINLINE void around() { try { passes(); } catch (...) { after(); } after(); }
int main() { for (int i = 0; i < 10; i++) catcher(), around(); }
C
for cxx in g++ clang++; do
    if ! command -v $cxx >/dev/null; then skip "$cxx is not installed"; continue; fi
    CXX=$cxx poetcc++ -profile -no-pie -O1 caught.cc -o caught 2>/dev/null
    measured ./caught
    is "$cxx: calls in and after a catch have the right caller" \
        "$(of /main/catcher/within 3) $(of /main/catcher/within/after 3) $(of /main/catcher/after 3) $(of /main/around/after 3)" '20 20 10 20'
    is "$cxx: calls that an exception passed are counted, and have ended" \
        "$(of '/main/catcher/thrower/thrower*' 3) $(of '/main/catcher/thrower/thrower*' 4) $(of /main/around/passes 4)" '40 40 10'
done
# A program in C opens a library in C++ with RTLD_LOCAL.
cat >plugin.cc <<'C'
#include <stdexcept>
extern "C" int caught(int n) { try { if (n) throw std::runtime_error("thrown"); } catch (const std::exception &e) { return e.what()[0]; } return 0; }
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    int (*caught)(int) = library ? (int (*)(int))dlsym(library, "caught") : NULL;
    if (!caught) return 1;
    printf("%d\n", caught(0) + caught(1) + caught(2));
    return 0;
}
C
poetcc -profile -O1 opens.c -o opens -ldl
for how in plain profiled libc++; do
    case $how in
    plain) g++ -O1 -fPIC -shared plugin.cc -o plugin.so ;;
    profiled) poetcc++ -profile -O1 -fPIC -shared plugin.cc -o plugin.so ;;
    *) clang++ -stdlib=libc++ -O1 -fPIC -shared plugin.cc -o plugin.so 2>/dev/null || { skip "$how is not available"; continue; } ;;
    esac
    is "an opened C++ library catches exceptions: $how" "$(./opens 2>opens.err) $?" '232 0'
done

# ---- killed ----
cat >killed.c <<'C'
#include <signal.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void f(int n) { if (n == 5) kill(getpid(), SIGKILL); sink++; }
int main(void) { for (int i = 1; ; i++) f(i); }
C
poetcc -profile -no-pie -O1 killed.c -o killed
measured ./killed
is 'killed in the fifth call: five started, four ended' "$(of /main/f 3) $(of /main/f 4)" '5 4'

# ---- coroutines ----
cat >coroutines.c <<'C'
#include "spin.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
static __thread ucontext_t here, a, b;
__attribute__((noinline)) void fred_yields(void) { swapcontext(&a, &here); }
__attribute__((noinline)) void mary_yields(void) { swapcontext(&b, &here); }
static __thread double in[2], around[2]; /* CPU time that a coroutine reads, and that is read around its turns */
NI void uses(int which, double ms) { double from = cpu_ms(); spin(ms); in[which] += cpu_ms() - from; }
void fred(void) { for (int i = 0; i < 5; i++) { uses(0, 2); fred_yields(); } }
void mary(void) { for (int i = 0; i < 5; i++) { uses(1, 1); mary_yields(); } }
NI void resume(int which, ucontext_t *c) { double from = cpu_ms(); swapcontext(&here, c); around[which] += cpu_ms() - from; }
__attribute__((noinline)) void turn(void) { resume(0, &a); resume(1, &b); }
NI void begin(ucontext_t *c, void (*function)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = malloc(65536);
    c->uc_stack.ss_size = 65536;
    c->uc_link = &here;
    makecontext(c, function, 0);
}
static double all[4];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
NI void add(void)
{
    pthread_mutex_lock(&adding);
    for (int i = 0; i < 2; i++) all[i] += in[i], all[2 + i] += around[i];
    pthread_mutex_unlock(&adding);
}
void *serve(void *p) { begin(&a, fred); begin(&b, mary); for (int i = 0; i < 5; i++) turn(); add(); return p; }
int main(void)
{
    pthread_t t[10];
    for (int i = 0; i < 10; i++) pthread_create(&t[i], 0, serve, 0);
    for (int i = 0; i < 10; i++) pthread_join(t[i], 0);
    for (int i = 0; i < 4; i++) printf("%s%d %.0f\n", i < 2 ? "in" : "around", i % 2, all[i] * 1e6);
    return 0;
}
C
poetcc -profile -no-pie -O1 coroutines.c -o coroutines
POET_CLOCK=monotonic measured ./coroutines
is 'the function of a coroutine is called once, however often it is resumed' \
    "$(awk '$2 ~ /^.(fred|mary|serve)/ { print $2, $3 }' out | sort | uniq -c | tr -s ' \n' ' ')" \
    ' 10 /fred 1 10 /fred/fred_yields 5 10 /mary 1 10 /mary/mary_yields 5 10 /serve 1 10 /serve/turn 5 '
used 'the first coroutine has the CPU time that it read' /fred 0
used 'the second coroutine, too' /mary 1
is 'coroutines: no call is mismatched' "$(awk '$2 == "numbers" && $3 + $4 + $5 + $6 != 0' out)" ''

# ---- waits, events, and child processes ----
cat >waits.c <<'C'
#include "asleep.h"
#include <semaphore.h>
#include <sys/wait.h>
static struct sleeper sleeper;
static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void waiter(void) { about_to_wait(&sleeper), sem_wait(&s); }
__attribute__((noinline)) void locker(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
__attribute__((noinline)) void child(void) {}
void *serve(void *p) { waiter(); locker(); return p; }
int main(void)
{
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, serve, 0);
    until_asleep(&sleeper, 1);
    usleep(100000);
    sem_post(&s);
    pthread_join(t, 0);
    pid_t pid = fork();
    if (pid == 0) { child(); _exit(0); }
    waitpid(pid, 0, 0);
    return 0;
}
C
poetcc -profile -no-pie -O1 waits.c -o waits
POET_CLOCK=monotonic measured ./waits
like 'a wait is a context below its caller' "$(cat out)" '/serve/waiter/wait-[0-9]+ 1 1 '
is 'a wait has real time and little CPU time' "$(awk '$2 ~ /waiter\/wait/ { print ($6 > 50000000 && $7 < $6 / 2) }' out)" 1
like 'an event has the context of its caller' "$(grep ' bears ' out)" ' /serve/locker$'
is 'a child process has a region of its own' "$(awk '$2 ~ /child/ { print $2, $3 }' out)" '/child 1'

# ---- measurement switched off and on ----
cat >switched.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define NI __attribute__((no_instrument_function))
volatile long sink;
__attribute__((noinline)) void f(void) { sink++; }
__attribute__((noinline)) void third(void) { for (int i = 0; i < 500; i++) f(); }
NI static void ask(const char *what) /* the server switches, and acknowledges it */
{
    fclose(fopen(what, "w"));
    while (access(what, F_OK) == 0) usleep(1000);
}
__attribute__((noinline)) void all(void) { third(); ask("off"); third(); ask("on"); third(); }
int main(void) { all(); return 0; }
C
poetcc -profile -no-pie -O1 switched.c -o switched
measured ./switched
is 'calls while measurement is off are not counted, later ones have the right caller' \
    "$(of /main/all 3) $(of /main/all/third 3) $(of /main/all/third/f 3)" '1 2 1000'

# ---- from program to table ----
calls_of() { # calls_of TRACE SCOPE ARGUMENT...: the number of calls
    poet calls "$1" --json "${@:3}" | json "row(\"$2\") | .calls"
}
poetcc -profile -g -O1 arcs.c -o arcs
POET_OUTPUT=arcs.poet POET_QUIET=1 ./arcs
is 'poet calls prints the number of calls' "$(for f in f g k r even odd main; do printf '%s ' "$(calls_of arcs.poet $f)"; done)" '1300 1 1 11 6 5 1 '
cat >piped.c <<'C'
#include "asleep.h"
static struct sleeper sleeper;
static int ends[2];
__attribute__((noinline)) void reader(void) { char c; about_to_wait(&sleeper); if (read(ends[0], &c, 1) != 1) _exit(1); }
void *serve(void *p) { reader(); return p; }
int main(void)
{
    pthread_t t;
    if (pipe(ends)) return 1;
    pthread_create(&t, 0, serve, 0);
    until_asleep(&sleeper, 1);
    if (write(ends[1], "x", 1) != 1) return 1;
    pthread_join(t, 0);
    return 0;
}
C
poetcc -profile -processes -g -O1 piped.c -o piped
POET_OUTPUT=piped.poet POET_QUIET=1 ./piped
is 'poet calls --tree: a read from a pipe is below its caller' "$(poet calls piped.poet --tree | grep -A1 reader | awk '/^    empty/ { print $2 }')" 1
cat >leaf.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long x;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 30000; i++) x += i; }
void *serve(void *p)
{
    for (int i = 0; i < 100; i++) { pthread_mutex_lock(&m); leaf(); usleep(10); pthread_mutex_unlock(&m); leaf(); }
    return p;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, serve, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
C
poetcc -profile -g -O1 leaf.c -o leaf
POET_OUTPUT=leaf.poet POET_QUIET=1 ./leaf
is 'poet calls: the self time of a leaf is its total time, though others used the CPU' \
    "$(poet calls leaf.poet --tree --json | json 'rows | select(.function | startswith("leaf")) |
        select((.self_ns - .total_ns | fabs) > .calls) | "\(.function) \(.self_ns) \(.total_ns)"' 2>&1)" ''
poetcc -profile -g -O0 leaf.c -o leaf
POET_OUTPUT=leaf0.poet POET_QUIET=1 ./leaf
is 'poet dump: an event has the calls in which it happened' \
    "$(poet dump leaf0.poet --json |
        json '.[] | select(.type == "lock") | .calls | map(sub(" \\(.*"; "")) | join(" < ")' |
        sort | uniq -c | tr -s ' ')" ' 400 serve'
for implementation in openmpi mpich; do
    if ! command -v mpicc.$implementation >/dev/null || ! [ -e "$B/lib/poet/libpoet-mpi-$implementation.so" ]; then
        skip "mpicc.$implementation is not installed"
        continue
    fi
    cat >late.c <<'C'
#include <mpi.h>
#include <unistd.h>
__attribute__((noinline)) void receiver(void) { int x; MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
__attribute__((noinline)) void sender(void) { int x = 1; usleep(100000); MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); }
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) receiver(); else sender();
    MPI_Finalize();
    return 0;
}
C
    CC=mpicc.$implementation poetcc -profile -g -O1 late.c -o late
    rm -f late.poet
    as_root=
    [ $implementation = openmpi ] && as_root='--allow-run-as-root --oversubscribe'
    # shellcheck disable=SC2086
    POET_OUTPUT=late.poet POET_QUIET=1 timeout 60 mpirun.$implementation $as_root -n 2 ./late >mpi.log 2>&1
    like "$implementation: poet calls --tree: a receive is below its caller" "$(poet calls late.poet --tree | grep -A1 receiver)" '^ +recv +1 '
done
done_testing
