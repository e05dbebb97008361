#!/bin/bash
# Calls that end without returning: by longjmp, by a jump that no function makes, by an exception, by the end of a part
# around them.  Whatever ends them, what a function and all within it took of themselves is what it took in all.
. "$(dirname "$0")/lib.sh"
measured() { python3 "$root/tests/e2e/regions.py" "$@" 2>program.err >out; } # measured PROGRAM ARGUMENT...
# of PATH COLUMN: 3 calls, 4 ended, 6 real, 7 own, 8 off
of() { awk -v path="$1" -v column="$2" '$2 == path { sum += $column } END { printf "%.0f\n", sum }' out; }
# balanced PATH: own + off of all that is called below it is its real time (to a millionth), and none of it counts twice
balanced() { awk -v path="$1" 'index($2 "/", path "/") == 1 { sum += $7 + $8 } $2 == path { real = $6 }
    END { d = (sum - real) / real; print (d < 1e-6 && d > -1e-6 ? "yes" : sum " of " real) }' out; }
# asleep PATH: it slept for nearly all of its time
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
is 'longjmp: calls' "$(of /main/by_longjmp/jumps 3) $(of /main/by_longjmp/after 3)" '5 5'
is 'longjmp: the call that it ends slept' "$(asleep /main/by_longjmp/jumps)" yes
is 'a jump that the compiler makes: the call that it ends slept' "$(asleep /main/by_builtin/inner/unseen)" yes
is 'the end of a part: the call that it ends slept' "$(asleep '/main/by_part/[part]/open_within')" yes
for path in /main /main/by_longjmp /main/by_builtin /main/by_part; do
    is "$path: all times within it are its time" "$(balanced $path)" yes
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
    if ! command -v $compiler >/dev/null; then skip "no $compiler here"; continue; fi
    CXX=$compiler poetcc++ -profile -no-pie -O1 throws.cc -o throws
    POET_MEASURE=calls=cpu measured ./throws
    is "$compiler: the call that an exception leaves slept" "$(asleep /main/tries/between/fails)" yes
    is "$compiler: all times within main are its time" "$(balanced /main)" yes
    is "$compiler: and within what catches" "$(balanced /main/tries)" yes
done
# ---- what the command shows ----
poetcc -profile -g jumps.c -o shown
poet record -o shown.poet -- ./shown 2>record.err
until_true finished shown.poet
poet calls shown.poet >calls.out
like 'a table' "$(cat calls.out)" '^by_longjmp .* 5 '
is 'no more time is shown than the thread lived' "$(grep -c 'before the first events of threads' calls.out)" 0
done_testing
