#!/bin/bash
# OpenMP, in gcc's and LLVM's runtime: the order of events in parallel regions is that of OpenMP, uncertain order is
# marked, and the program's results are unchanged.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMP_WAIT_POLICY=passive
here=$root/tests/e2e
order=unset
check "omp.conf is valid" poet check "$root/config/omp.conf"

cat >loop.c <<'C'
#include <time.h>
static int sum;
static void work(int ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, 0); }
int main(void)
{
#pragma omp parallel num_threads(4) /* their threads exist then */
    work(1);
#pragma omp parallel for num_threads(4) schedule(static)
    for (int i = 1; i <= 8; i++) {
        work(10 * i);
#pragma omp atomic
        sum += i;
    }
    return sum == 36 ? 0 : 1;
}
C
cat >cancel.c <<'C'
#include <omp.h>
int main(void)
{
    int found = 0, n = 0;
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp for
            for (int i = 0; i < 1000; i++) {
                if (i == 300 + round) {
#pragma omp atomic write
                    found = 1;
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
#pragma omp barrier
#pragma omp single
#pragma omp taskgroup
            for (int i = 0; i < 20; i++) {
#pragma omp task
                {
#pragma omp atomic
                    n++;
#pragma omp cancel taskgroup
                }
            }
#pragma omp sections
            {
#pragma omp section
                {
#pragma omp cancel sections
                }
#pragma omp section
                ;
            }
#ifndef __clang__ /* version 14 of its runtime hangs now and then by itself */
            if (omp_get_thread_num() == round % 4) {
#pragma omp cancel parallel
            }
#endif
#pragma omp cancellation point parallel
#pragma omp barrier
        }
    }
    return found && n > 0 ? 0 : 1;
}
C
cat >doubt.c <<'C'
#include <poet.h>
#include <omp.h>
static int a[9];
int main(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 1; i < 9; i++) {
            poet_text("left %d", i);
#pragma omp ordered depend(sink : i - 1)
            a[i] = a[i - 1] + 1;
            poet_text("right %d", i);
#pragma omp ordered depend(source)
        }
    }
    return a[8] == 8 ? 7 : 1;
}
C
cat >deadlock.c <<'C'
#include <omp.h>
int main(void)
{
    omp_lock_t a, b;
    omp_init_lock(&a), omp_init_lock(&b);
#pragma omp parallel num_threads(3)
    {
        int i = omp_get_thread_num();
        if (i < 2)
            omp_set_lock(i ? &b : &a);
#pragma omp barrier
        if (i < 2)
            omp_set_lock(i ? &a : &b);
    }
    return 0;
}
C
cat >shared.c <<'C'
int work(int n)
{
    int s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(3) schedule(dynamic)
    for (int i = 0; i < n; i++)
#pragma omp critical(inside)
        s += i;
    return s;
}
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%d\n", ((int (*)(int))dlsym(dlopen(argv[i], RTLD_NOW | RTLD_LOCAL), "work"))(20));
    return 0;
}
C

has_openmp() { echo 'int main(void) { return 0; }' | $1 -fopenmp -x c - -o /dev/null 2>/dev/null; }
record() { # record FILE PROGRAM...: prints the program's output and status
    file=$1
    shift
    rm -f "$file"
    timeout 60 poet record -o "$file" -- "$@"
}
whole() { # poet check accepts the trace, and no thread is blocked
    until_true finished "$1" && poet check "$1" && [ "$(figure "$1" pending inconsistent)" = "0 0" ]
}
answer() { # answer FILE TEXT TEXT
    poet order "$1" $(poet dump --json "$1" | json "(\"$2\", \"$3\") as \$text |
        [.[] | select(.annotations == [\$text]).event][-1] // empty") 2>/dev/null
}

for compiler in gcc clang; do
    if ! has_openmp $compiler; then
        skip "$compiler cannot compile OpenMP (Debian: libomp-dev)"
        continue
    fi

    # ---- ordered events, and unordered ones ----
    CC=$compiler poetcc -trace -g -fopenmp "$here/omp-order.c" -o order
    is "$compiler: order: the program prints its result" "$(record order.poet ./order) $?" "3 0"
    check "$compiler: order: the trace is sound" sound order.poet
    is "$compiler: order: events are ordered as OpenMP orders them" "$(python3 "$here/omp.py" order order.poet)" ""
    is "$compiler: order: no event has an uncertain order" "$(figure order.poet uncertain)" 0
    like "$compiler: order: nothing is reported as untraced" "$(poet stat --json order.poet)" '"untraced_reasons":\[\]'
    types=$(python3 "$here/omp.py" types order.poet | sed 's/ spawn [0-9]*//; s/ task[a-z]* [0-9]*//g; s/ reach [0-9]*//; s/ through [0-9]*//; s/ done [0-9]*//; s/ chunk [0-9]*//; s/ nothing [0-9]*//; s/ asks [0-9]*//; s/^asks [0-9]* //')
    [ "$order" = unset ] && order=$types
    is "$compiler: order: the event types are those of the other runtime" "$types" "$order"
    like "$compiler: critical sections have their names" "$(poet ls order.poet; poet dump order.poet)" 'Cr:section'

    # ---- an unmodified program: waits at the end of a region ----
    $compiler -g -fopenmp loop.c -o loop
    is "$compiler: poet record: an unmodified program ends normally" "$(record loop.poet ./loop) $?" " 0"
    check "$compiler: poet record: the trace is sound" sound loop.poet
    is "$compiler: poet record: waits are attributed to the loop's body" "$(python3 "$here/omp.py" waits loop.poet)" "4 waits"
    is "$compiler: poet record --without omp: the program ends normally" "$(poet record --without omp -o without.poet -- ./loop) $?" " 0"
    like "$compiler: poet record --without omp: OpenMP is reported as untraced" "$(poet stat without.poet)" 'not traced.*OpenMP'

    # ---- constructs for which no order is claimed ----
    $compiler -w -g -fopenmp cancel.c -o cancel
    is "$compiler: canceled regions, tasks and loops end" "$(OMP_CANCELLATION=true record cancel.poet ./cancel) $?" " 0"
    check "$compiler: canceled regions: poet check accepts the trace" whole cancel.poet
    like "$compiler: canceled regions: some order is uncertain" "$(figure cancel.poet uncertain)" '^[1-9]'
    CC=$compiler poetcc -trace -w -g -fopenmp doubt.c -o doubt
    is "$compiler: iterations that wait for others end" "$(record doubt.poet ./doubt) $?" " 7"
    check "$compiler: iterations that wait: poet check accepts the trace" whole doubt.poet
    is "$compiler: iterations that wait: a possible order is unknown" "$(answer doubt.poet "left 1" "right 2")" unknown

    # ---- hangs ----
    $compiler -g -fopenmp deadlock.c -o deadlock
    poet record -o dead.poet -- ./deadlock &
    recorder=$!
    waits() { said=$(poet blocked dead.poet 2>/dev/null); grep -q '^DEADLOCK' <<<"$said" && grep -q '^HANG' <<<"$said"; }
    until_true waits
    like "$compiler: blocked: a deadlock of OpenMP locks" "$said" 'T:main waits for L:.*, held by T:thread 1'
    like "$compiler: blocked: a barrier with deadlocked participants" "$said" '^HANG: no remaining thread can wake the waiters of P:'
    kill -KILL "$(figure dead.poet pid 2>/dev/null)"
    wait $recorder 2>/dev/null

    # ---- a library that is opened and loads the runtime for itself alone ----
    $compiler -g -shared -fPIC -fopenmp shared.c -o ./$compiler.so
    libraries="${libraries:-} ./$compiler.so"
done

gcc -g opens.c -o opens
is "opened libraries, each with its own OpenMP runtime, compute their result" "$(record opened.poet ./opens $libraries | sort -u) $?" "190 0"
check "opened OpenMP libraries: the trace is sound" sound opened.poet
is "opened OpenMP libraries: all of them are traced" "$(poet dump opened.poet | grep -c ' region ')" "$(set -- $libraries; echo $#)"

# ---- results are those of an untraced run ----
gcc -g -fopenmp "$root/examples/omp/triangle.c" -o triangle
gcc -g -fopenmp -fsanitize=address,undefined "$root/examples/omp/triangle.c" -o careful
said="8 rows, the longest took 8 ms 0"
is "OpenMP without a reachable server: the result is that of an untraced run" "$(POET_SERVER=$work/none LD_PRELOAD="$B/lib/libpoet.so $B/lib/poet/libpoet-omp.so" ./triangle 2>&1) $?" "$said"
is "OpenMP with OMP_SCHEDULE: the result is that of an untraced run" "$(OMP_SCHEDULE=dynamic,1 record triangle.poet ./triangle) $?" "$said"
check "OpenMP with OMP_SCHEDULE: the trace is sound" sound triangle.poet
is "OpenMP with AddressSanitizer: the result is that of an untraced run" "$(record careful.poet ./careful 2>&1) $?" "$said"
check "OpenMP with AddressSanitizer: the trace is sound" sound careful.poet
if command -v gm >/dev/null; then
    gm convert -size 200x200 gradient:red-blue in.miff
    OMP_NUM_THREADS=3 gm convert in.miff -blur 8x4 -sharpen 2x1 plain.png
    OMP_NUM_THREADS=3 record gm.poet gm convert in.miff -blur 8x4 -sharpen 2x1 traced.png
    is "GraphicsMagick ends normally" "$?" 0
    check "GraphicsMagick writes the image of an untraced run" cmp plain.png traced.png
    check "GraphicsMagick: the trace is sound" sound gm.poet
    like "GraphicsMagick: its parallel regions are traced" "$(poet dump gm.poet)" ' through '
else
    skip "GraphicsMagick is not installed (Debian: graphicsmagick)"
fi
done_testing
