#!/bin/bash
# calls=libraries: calls of libraries' functions by measured code are counted exactly, timed within the program's own clock, and
# named with their library, without any effect on what they get and return; a program that does not ask for it has none of it.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
[ "$(uname -m)" = x86_64 ] || { skip "x86-64 only" && done_testing && exit; }

cat >calls.c <<'C'
#define _GNU_SOURCE
#include <complex.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Writes what the functions returned, then to standard error what it knows of the calls. */
static _Atomic long compared;
static long slept_ns, sorted_ns;
static __attribute__((noinline)) long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}
static int compare(const void *a, const void *b)
{
    static volatile unsigned spun;
    compared++;
    for (int i = 0; i < 2000; i++)
        spun++;
    return *(const int *)a - *(const int *)b;
}
/* many arguments on the stack, of all classes */
static __attribute__((noinline)) void print_all(FILE *out, ...)
{
    va_list list;
    va_start(list, out);
    vfprintf(out, "%d %g %s %d %g %d %d %d\n", list);
    va_end(list);
}
static void *work(void *unused)
{
    char text[64], copy[64];
    for (volatile int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "%d %g %d %d %d %d %d", i, i / 2., 3, 4, 5, 6, 7);
        memcpy(copy, text, strlen(text) + 1);
        if (!strchr(copy, ' '))
            abort();
    }
    return unused;
}
int main(void)
{
    enum { THREADS = 3 };
    int values[50], zero = open("/dev/zero", O_RDONLY);
    pthread_t other[THREADS];
    printf("%d %s %g %g %d %d %d %d %g %Lg\n", 1, "two", 3., 4., 5, 6, 7, 8, 9., (long double)10);
    print_all(stdout, 1, 2., "three", 4, 5., 6, 7, 8);
    div_t d = div(17, 5);
    ldiv_t ld = ldiv(1700000000000, 7);
    printf("%d %d %ld %ld %Lg %g\n", d.quot, d.rem, ld.quot, ld.rem, strtold("2.5", NULL), strtod("1e3", NULL));
    errno = 0;
    strtol("99999999999999999999", NULL, 10);
    printf("%d\n", errno == ERANGE);
    read(-1, values, 1);
    printf("%d\n", errno == EBADF);
    for (int i = 0; i < 7; i++)
        read(zero, values, sizeof values);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 50; k++)
            values[k] = k * 7919 % 53;
        long from = now_ns();
        qsort(values, 50, sizeof *values, compare);
        sorted_ns += now_ns() - from;
    }
    for (int i = 0; i < 5; i++) {
        long from = now_ns();
        usleep(3000);
        slept_ns += now_ns() - from;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&other[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(other[i], NULL);
    printf("%d %d\n", values[0], values[49]);
    fprintf(stderr, "%ld %ld %ld\n", compared, slept_ns, sorted_ns);
    return 0;
}
C

# measured NAME: records it with calls of libraries; its output must be that of a run without them
measured() {
    "./$1" >"$1.plain" 2>/dev/null
    rm -f "$1".*.poet
    POET_MEASURE=none "./$1" >/dev/null 2>&1 && rm -f "$1".*.poet
    poet record -m calls=libraries -o "$1.poet" -- "./$1" >"$1.out" 2>"$1.known"
    is "$1: the program gets and prints the same" "$(cat "$1.out")" "$(cat "$1.plain")"
    poet calls --json "$1.poet" >"$1.json"
    read -r compared slept sorted <<<"$(tail -n 1 "$1.known")"
    expect "$1.json" <<E
$1: calls of qsort, usleep, read | row("qsort", "usleep", "read").calls => 3 5 8
$1: calls by threads | row("snprintf", "memcpy", "strchr", "strlen").calls => 3000 3000 3000 3000
$1: calls with many arguments, and of structures | row("vfprintf", "div", "ldiv", "strtold", "strtod", "strtol").calls => 1 1 1 1 1 1
$1: the compare function is called by qsort | row("compare").calls => $compared
$1: usleep took what it slept, and no longer than the program's clock has | row("usleep").total_ns | within(15000000; $slept) => within
$1: so did qsort | row("compare").total_ns as \$least | row("qsort").total_ns | within(\$least; $sorted) => within
$1: self times and the time outside of functions add up to the lifetimes | sum(rows.self_ns) as \$sum | total | .self_ns == \$sum and .lifetime_ns == \$sum + .unaccounted_ns => true
$1: no call is incomplete | [rows | select(.flags != "" and .flags != null)] | length => 0
E
}
poetcc -profile -g -O0 calls.c -o plain || not_ok "calls.c compiles"
measured plain
is "names have the library" "$(json 'row("qsort", "usleep", "read", "memcpy", "strchr").function' plain.json | paste -sd' ')" \
    "qsort (libc.so.6) usleep (libc.so.6) read (libc.so.6) memcpy (libc.so.6) strchr (libc.so.6)"
is "a program's own compare function is measured below the library's" \
    "$(poet calls --tree --csv --columns function,calls plain.poet | tr -d '\r' | grep -A1 'qsort' | sed 's/^ *//; s/^"\(.*\)"/\1/' | cut -d' ' -f1 | paste -sd' ')" "qsort compare"
poet calls --graph --callers --json plain.poet >graph.json
is "callers of usleep" "$(json 'inner_rows | select((.caller | first_word) == "main" and (.function | first_word) == "usleep").calls' graph.json | head -n 1)" 5
like "folded stacks" "$(poet calls -f folded plain.poet)" "^main;qsort;compare [0-9]"
check "an icicle graph is drawn" poet calls --tree -o plain.svg plain.poet
like "with the library's functions" "$(cat plain.svg)" "qsort \(libc.so.6\)|qsort"

poetcc -profile -g -O2 -fno-builtin -Wl,-z,now -fno-plt calls.c -o addresses 2>/dev/null && measured addresses
poetcc -profile -g -O2 -fno-builtin -no-pie -fno-pie calls.c -o fixed 2>/dev/null && measured fixed
command -v clang >/dev/null && CC=clang poetcc -profile -g -O2 -fno-builtin calls.c -o other 2>/dev/null && measured other

# ---- the levels of measurement ----
poet record -m calls=counts,calls=libraries -o counts.poet -- ./plain >/dev/null 2>&1
poet calls --json counts.poet >counts.json
expect counts.json <<'E'
counts: the same numbers, without times | row("qsort", "usleep", "snprintf") | cells(.calls, .total_ns) => 3 - 5 - 3000 -
E
poet record -m calls=every,calls=libraries -o every.poet -- ./plain >/dev/null 2>&1
is "each call has its begin and end" "$(poet calls --every --csv --columns function every.poet | grep -c '^"\? *usleep')" 10
POET_PROFILE_EXCLUDE=usleep poet record -m calls=libraries -o excluded.poet -- ./plain >/dev/null 2>&1
poet calls --json excluded.poet >excluded.json
is "functions of libraries can be excluded" "$(json 'row("usleep", "read").calls' excluded.json)" 8

POET_PROFILE_INCLUDE=main,usleep poet record -m calls=libraries -o included.poet -- ./plain >/dev/null 2>&1
is "or be the only ones, with other functions" "$(poet calls --csv --columns function,calls included.poet | tr -d '\r"' | sed '1d; s/ ([^)]*)//' | grep -vE '^(join|create|total)' | sort | paste -sd' ')" \
    "main,1 usleep,5"
POET_PROFILE_COUNT_ONLY=usleep poet record -m calls=libraries -o counted.poet -- ./plain >/dev/null 2>&1
poet calls --json counted.poet | json 'row("usleep") | cells(.calls, .total_ns)' >counted
is "or only be counted" "$(cat counted)" "5 -"

# ---- vector registers of any width ----
cat >vectors.c <<'C'
#include <immintrin.h>
__attribute__((target("avx2"))) __m256d add_four(__m256d a, __m256d b) { return _mm256_add_pd(a, b); }
__attribute__((target("avx512f"))) __m512d add_eight(__m512d a, __m512d b) { return _mm512_add_pd(a, b); }
C
cat >adds.c <<'C'
#include <immintrin.h>
#include <stdio.h>
__m256d add_four(__m256d a, __m256d b);
__m512d add_eight(__m512d a, __m512d b);
__attribute__((target("avx2"))) static void four(double *sum)
{
    __m256d s = _mm256_set1_pd(0);
    for (int i = 0; i < 1000; i++)
        s = add_four(s, _mm256_set_pd(1, 2, 3, 4));
    _mm256_storeu_pd(sum, s);
}
__attribute__((target("avx512f"))) static void eight(double *sum)
{
    __m512d s = _mm512_set1_pd(0);
    for (int i = 0; i < 1000; i++)
        s = add_eight(s, _mm512_set_pd(1, 2, 3, 4, 5, 6, 7, 8));
    _mm512_storeu_pd(sum, s);
}
int main(void)
{
    double sum[8] = {4000, 0, 0, 1000};
    if (__builtin_cpu_supports("avx2"))
        four(sum);
    printf("%g %g ", sum[0], sum[3]);
    sum[0] = 8000, sum[7] = 1000;
    if (__builtin_cpu_supports("avx512f"))
        eight(sum);
    printf("%g %g\n", sum[0], sum[7]);
}
C
gcc -O1 -shared -fPIC vectors.c -o libvectors.so && poetcc -profile -g -O1 adds.c -L. -lvectors -Wl,-rpath,"$PWD" -o adds
is "wide vectors are arguments and results as before" "$(poet record -m calls=libraries -o adds.poet -- ./adds 2>/dev/null)" "4000 1000 8000 1000"

# ---- not asked for ----
poet record -o none.poet -- ./plain >/dev/null 2>&1
is "without calls=libraries only the program's own functions are measured" \
    "$(poet calls --csv --columns function none.poet | tr -d '\r"' | sed 1d | cut -d' ' -f1 | grep -vE '^(join|create|total)' | sort | paste -sd' ')" "compare main now_ns print_all work"
cat >status.c <<'C'
int main(void) { return 0; }
C
poetcc -profile -static status.c -o static 2>/dev/null &&
    like "a static program says why its calls are not measured" "$(POET_MEASURE=calls=libraries env -u POET_QUIET ./static 2>&1)" \
        "calls=libraries: not possible in a program that is linked statically"
is "samples and calls of libraries exclude each other" "$(poet record -m samples=99,calls=libraries -- ./plain >/dev/null 2>&1; echo $?)" 2

# ---- what libpoet follows ----
cat >locks.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *a) { for (int i = 0; i < 50; i++) { pthread_mutex_lock(&m); usleep(100); pthread_mutex_unlock(&m); } return a; }
int main(void)
{
    pthread_t a, b;
    char c;
    int ends[2];
    if (pipe(ends)) return 1;
    pthread_create(&a, 0, use, 0), pthread_create(&b, 0, use, 0);
    for (int i = 0; i < 10; i++) { if (write(ends[1], "x", 1) != 1 || read(ends[0], &c, 1) != 1) return 1; }
    pthread_join(a, 0), pthread_join(b, 0);
    return 0;
}
C
poetcc -trace -profile -g locks.c -o locks
poet record -m calls=libraries -o locks.poet -- ./locks 2>/dev/null
poet calls --json locks.poet >locks.json
is "traced calls are in the table once" "$(json 'rows.function | select(startswith("pthread_"))' locks.json)" ""
is "calls that libpoet-process looks at are measured" "$(json 'row("write", "read", "usleep").calls' locks.json | paste -sd' ')" "10 10 100"
check "the trace is complete" complete locks.poet
like "and has the locks" "$(poet dump locks.poet)" "acquired .*(locks.c|use)"
like "the events of a pipe have their places" "$(poet dump locks.poet)" "main at locks.c:14|locks.c:14"
done_testing
