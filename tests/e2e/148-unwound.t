#!/bin/bash
# Calls that end without returning: by longjmp, by __builtin_longjmp, by an exception, by the end of a region
# around them. The self times of a function and its callees add up to its total time in each case.
. "$(dirname "$0")/lib.sh"
measured() { python3 "$root/tests/e2e/regions.py" "$@" 2>program.err >out; } # measured PROGRAM ARGUMENT...
# of PATH COLUMN: 3 calls, 4 ended, 6 real, 7 own, 8 off
of() { awk -v path="$1" -v column="$2" '$2 == path { sum += $column } END { printf "%.0f\n", sum }' out; }
# balanced PATH: whether own + off of all calls below it are its real time (up to a millionth), counted once
balanced() { awk -v path="$1" 'index($2 "/", path "/") == 1 { sum += $7 + $8 } $2 == path { real = $6 }
    END { d = (sum - real) / real; print (d < 1e-6 && d > -1e-6 ? "yes" : sum " of " real) }' out; }
# asleep PATH: whether it slept for nearly all of its time
asleep() { awk -v path="$1" '$2 == path { own += $7; off += $8 } END { print (off > 3 * own ? "yes" : "ran " own ", slept " off) }' out; }

cat >rest.h <<'C'
#include <time.h>
#define NI __attribute__((noinline))
__attribute__((no_instrument_function)) static inline void rest(void)
{
    struct timespec t = {0, 20000000};
    nanosleep(&t, 0);
}
C
cat >jumps.c <<'C'
#include "rest.h"
#include <poet.h>
#include <setjmp.h>
static jmp_buf out;
static void *builtin[5];
NI static void after(void) { __asm__ volatile(""); }
NI static void jumps(void) { rest(); longjmp(out, 1); }
NI static void by_longjmp(void) { if (!setjmp(out)) jumps(); after(); }
NI static void unseen(void) { rest(); __builtin_longjmp(builtin, 1); }
NI static void inner(void) { unseen(); __asm__ volatile(""); }
NI static void by_builtin(void) { if (!__builtin_setjmp(builtin)) inner(); after(); }
NI static void open_within(void) { rest(); poet_scope_end(); }
NI static void by_part(void) { poet_scope("part"); open_within(); after(); }
int main(void)
{
    for (int i = 0; i < 5; i++) { by_longjmp(); by_builtin(); by_part(); }
    return 0;
}
C
poetcc -profile -no-pie -O1 jumps.c -o jumps
POET_MEASURE=calls=cpu measured ./jumps
is 'longjmp: the number of calls' "$(of /main/by_longjmp/jumps 3) $(of /main/by_longjmp/after 3)" '5 5'
is 'longjmp: the time of the ended call is off-CPU time' "$(asleep /main/by_longjmp/jumps)" yes
is '__builtin_longjmp: the time of the ended call is off-CPU time' "$(asleep /main/by_builtin/inner/unseen)" yes
is 'end of a region: the time of the ended call is off-CPU time' "$(asleep '/main/by_part/[part]/open_within')" yes
for path in /main /main/by_longjmp /main/by_builtin /main/by_part; do
    is "$path: self times of all calls within it add up to its time" "$(balanced $path)" yes
done

cat >throws.cc <<'C'
#include "rest.h"
NI static void after() { __asm__ volatile(""); }
NI static void fails() { rest(); throw 1; }
NI static void between() { fails(); __asm__ volatile(""); }
NI static void tries() { try { between(); } catch (int) { after(); } }
int main()
{
    for (int i = 0; i < 5; i++) tries();
    return 0;
}
C
for compiler in g++ clang++; do
    if ! command -v $compiler >/dev/null; then skip "$compiler is not installed"; continue; fi
    CXX=$compiler poetcc++ -profile -no-pie -O1 throws.cc -o throws
    POET_MEASURE=calls=cpu measured ./throws
    is "$compiler: the time of a call that an exception leaves is off-CPU time" "$(asleep /main/tries/between/fails)" yes
    is "$compiler: self times of all calls within main add up to its time" "$(balanced /main)" yes
    is "$compiler: self times of all calls within the catching function add up to its time" "$(balanced /main/tries)" yes
done
# ---- poet calls ----
poetcc -profile -g jumps.c -o shown
poet record -o shown.poet -- ./shown 2>record.err
until_true finished shown.poet
poet calls shown.poet >calls.out
like 'poet calls: the row of by_longjmp has 5 calls' "$(cat calls.out)" '^by_longjmp .* 5 '
is 'poet calls: no time lies outside the events of threads' "$(grep -c 'before the first events of threads' calls.out)" 0
done_testing
