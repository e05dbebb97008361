#!/bin/bash
# calls=libraries: calls of libraries that do not return normally: exceptions and jumps out of them, children of fork within them,
# cancelled threads, signal handlers, coroutines, children of vfork.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
[ "$(uname -m)" = x86_64 ] || { skip "x86-64 only" && done_testing && exit; }

cat >exits.cc <<'C'
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
// Writes what happened, then to standard error how often the compare function was called.
static thread_local int throwing, jumping, forking, nested;
static thread_local jmp_buf out;
static long compared, deep;
static int destroyed;
struct guard { ~guard() { destroyed++; } };
static void sort();
static int compare(const void *a, const void *b)
{
    guard g;
    compared++;
    if (throwing && !--throwing)
        throw std::runtime_error("thrown");
    if (jumping && !--jumping)
        longjmp(out, 1);
    if (nested && !--nested) {
        /* an exception that is caught within the outer call */
        try { throwing = 3; sort(); } catch (const std::exception &) { deep++; }
    }
    if (forking && !--forking) {
        pid_t child = fork();
        if (child) {
            int status;
            waitpid(child, &status, 0);
            printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status);
        }
    }
    return *(const int *)a - *(const int *)b;
}
static int values[60];
static void sort()
{
    for (int k = 0; k < 60; k++)
        values[k] = k * 7919 % 61;
    qsort(values, 60, sizeof *values, compare);
}
static bool sorted()
{
    for (int k = 1; k < 60; k++)
        if (values[k - 1] > values[k])
            return false;
    return true;
}
/* the exception passes two calls of the library, and a function with a destructor */
static int compare_outer(const void *, const void *) { guard g; sort(); return 0; }
static void sort_twice() { int two[2] = {2, 1}; qsort(two, 2, sizeof *two, compare_outer); }
static void handler(int) { char text[20]; memset(text, 1, sizeof text); raise(SIGUSR2); }
static void handler_inner(int) { usleep(1); }
static void *cancelled(void *) { for (;;) sleep(1000); return nullptr; }
int main()
{
    pid_t me = getpid();
    int caught = 0, jumped = 0;
    for (int i = 0; i < 300; i++) {
        throwing = 1 + i % 40;
        try { sort(); } catch (const std::exception &e) { caught += !strcmp(e.what(), "thrown"); }
    }
    for (int i = 0; i < 100; i++) {
        throwing = 1 + i % 40;
        try { sort_twice(); } catch (const std::exception &) { caught++; }
    }
    for (int i = 0; i < 100; i++) {
        nested = 5;
        sort();
    }
    printf("%d caught, %ld within\n", caught, deep);
    for (volatile int i = 0; i < 300; i++) {
        jumping = 1 + i % 40;
        if (!setjmp(out)) sort();
        else jumped++;
    }
    sort();
    printf("%d jumped, %d\n", jumped, sorted());
    forking = 20;
    sort();
    if (getpid() != me)
        _exit(sorted() ? 7 : 8);
    signal(SIGUSR1, handler);
    signal(SIGUSR2, handler_inner);
    for (int i = 0; i < 50; i++)
        raise(SIGUSR1);
    pthread_t t;
    void *result;
    pthread_create(&t, nullptr, cancelled, nullptr);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("%d, %d\n", result == PTHREAD_CANCELED, sorted());
    fprintf(stderr, "%ld %d\n", compared, destroyed);
    return 0;
}
C
# measured NAME: records it; what it does must be what it does unmeasured
measured() {
    POET_MEASURE=none "./$1" >"$1.plain" 2>"$1.plain.known"
    rm -f "$1".*.poet
    poet record -m calls=libraries -o "$1.poet" -- "./$1" >"$1.out" 2>"$1.known"
    is "$1: it ends" "$?" 0
    is "$1: it does the same" "$(cat "$1.out" "$1.known")" "$(cat "$1.plain" "$1.plain.known")"
    is "$1: all of it" "$(paste -sd';' "$1.plain")" "400 caught, 100 within;300 jumped, 1;child 7;1, 1"
    poet calls --json "$1.poet" >"$1.json"
    # 300 + 2 * 100 + 2 * 100 + 300 + 1 + 1
    expect "$1.json" <<E
$1: each call of qsort once | row("qsort").calls => 1002
$1: calls of handlers | row("memset").calls => 50
$1: times add up | sum(rows.self_ns) as \$sum | total | .self_ns == \$sum and .lifetime_ns == \$sum + .unaccounted_ns => true
$1: calls by which exceptions and jumps passed have ended | [row("qsort", "compare", "sort") | select(.flags != "" and .flags != null)] | length => 0
$1: compare is below qsort, whichever way that was left | row("compare").total_ns <= row("qsort").total_ns => true
E
    poet calls --graph --json "$1.poet" >"$1.graph.json"
    is "$1: no call after one that was left is below it" \
        "$(json 'inner_rows | select((.caller | first_word) == "qsort").function | first_word' "$1.graph.json" | sort | paste -sd' ')" "compare compare_outer"
}
poetcc++ -profile -g -O0 exits.cc -o exits || not_ok "exits.cc compiles"
measured exits
poetcc++ -profile -g -O2 -fno-builtin exits.cc -o fast && measured fast
if command -v clang++ >/dev/null; then
    CXX=clang++ poetcc++ -profile -g -O1 -fno-builtin exits.cc -o other 2>/dev/null && measured other
fi

# ---- many threads, more calls at once than there are places for ----
cat >deep.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static __thread int depth;
static int compare(const void *a, const void *b)
{
    int two[2] = {2, 1};
    if (depth > 0) {
        depth--;
        qsort(two, 2, sizeof *two, compare);
        if (two[0] != 1) abort();
    }
    return *(const int *)a - *(const int *)b;
}
static void *work(void *a)
{
    int two[2];
    for (int i = 0; i < 20; i++) {
        two[0] = 2, two[1] = 1, depth = 99;
        qsort(two, 2, sizeof *two, compare);
    }
    return a;
}
int main(void)
{
    pthread_t t[4];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    puts("done");
}
C
poetcc -profile -g deep.c -o deep
is "calls within calls, 100 deep, on many threads" "$(poet record -m calls=libraries -o deep.poet -- ./deep 2>&1)" done
poet calls --json deep.poet >deep.json
is "all are counted" "$(json '[row("qsort", "compare").calls]' deep.json)" "[40000,40000]"

# ---- coroutines, which continue on another thread; vfork ----
cat >switch.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static ucontext_t threads, coroutine;
static char stack[1 << 16];
static int switched, finished;
static int compare(const void *a, const void *b)
{
    if (!switched++)
        swapcontext(&coroutine, &threads);
    return *(const int *)a - *(const int *)b;
}
static void body(void)
{
    int three[3] = {3, 2, 1};
    qsort(three, 3, sizeof *three, compare);
    finished = three[0] == 1 && three[2] == 3;
}
static void *resume(void *a) { swapcontext(&threads, &coroutine); return a; }
int main(void)
{
    pthread_t t;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack, coroutine.uc_stack.ss_size = sizeof stack, coroutine.uc_link = &threads;
    makecontext(&coroutine, body, 0);
    swapcontext(&threads, &coroutine);
    pthread_create(&t, 0, resume, 0);
    pthread_join(t, 0);
    pid_t child = vfork();
    if (!child) {
        if (getppid() == 1) write(1, "", 0);
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d %d\n", finished, WEXITSTATUS(status));
}
C
poetcc -profile -g switch.c -o switch
is "a call that returns on another thread, and calls of a child of vfork" "$(poet record -m calls=libraries -o switch.poet -- ./switch 2>&1)" "1 3"

# ---- a library that is opened while the program runs ----
cat >opened.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
int opened(int n) { char text[20]; int sum = 0; for (int i = 0; i < n; i++) { memset(text, 'a', 19); text[19] = 0; sum += (int)strlen(text); } return sum; }
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("./opened.so", RTLD_NOW);
        int (*opened)(int) = library ? (int (*)(int))dlsym(library, "opened") : 0;
        if (!opened) return 1;
        printf("%d\n", opened(10));
        dlclose(library);
    }
}
C
poetcc -profile -g -fno-builtin -shared -fPIC opened.c -o opened.so && poetcc -profile -g opens.c -o opens
is "a library is opened and closed again" "$(poet record -m calls=libraries -o opens.poet -- ./opens 2>&1 | paste -sd' ')" "190 190 190"
poet calls --json opens.poet >opens.json
is "its calls of other libraries are measured from the first one on" "$(json 'row("memset", "strlen").calls' opens.json | paste -sd' ')" "30 30"
done_testing
