#!/bin/bash
# The lines of the six programs of chapter 8 under other orders of the ready queue, on 1 and 4 processors: with
# examples/ucpp, and with real µC++. (POET_TEST_RUNS: how often each.)
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
sources=$root/tests/e2e/ucpp
programs="semaphores accepting waiting coroutines fibonacci inside"
runs=${POET_TEST_RUNS:-2}

# each_schedule NAME PROGRAM: runs it under each schedule, and prints what is wrong.
each_schedule() {
    for schedule in fifo lifo random; do
        for run in $(seq "$runs"); do
            rm -f run.poet
            POET_OUTPUT=run.poet TEST_SCHEDULE=$schedule TEST_SEED=$run UCPP_SCHEDULE=$schedule UCPP_SEED=$run \
                timeout 60 "./$2" >out 2>&1 || echo "$1 $schedule $run: status"
            until_true finished run.poet
            poet check run.poet >check 2>&1 || echo "$1 $schedule $run: $(head -n 1 check)"
            poet dump --json run.poet | python3 "$root/tests/e2e/ucpp.py" "$1" >lines 2>&1 ||
                echo "$1 $schedule $run: $(cat lines)"
        done
    done
}

poetcc -trace -g -Wall -Wextra -Werror -c "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
for program in $programs; do
    poetcc -trace -g "$root/examples/ucpp/$program.c" ucpp.o -o "$program" || exit 1
done
for processors in 1 4; do
    export UCPP_PROCESSORS=$processors
    is "examples/ucpp, processors: $processors; fifo, lifo, random, $runs runs each: status, poet check, lines" \
        "$(for program in $programs; do each_schedule "$program" "$program"; done)" ""
done

if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi
for kernel in "1 -nomulti -debug" "1 -nomulti -nodebug -O2" "4 -multi -debug" "4 -multi -nodebug -O2"; do
    options="-DPROCESSORS=${kernel%% *} ${kernel#* }"
    # shellcheck disable=SC2086
    wrong=$(for program in $programs; do
        CXX=u++ poetcc++ -trace -quiet -fno-access-control $options "$sources/schedule.cc" "$sources/$program.cc" -o real 2>&1 |
            grep -v "building the adapter" >err
        [ ! -s err ] || cat err
        each_schedule "$program" real
    done)
    is "real µC++, processors: $kernel; fifo, lifo, random, $runs runs each: status, poet check, lines" "$wrong" ""
done
done_testing
