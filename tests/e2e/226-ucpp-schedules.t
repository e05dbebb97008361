#!/bin/bash
# The lines of the six programs of chapter 8 under other orders of the ready queue, on 1 and 4 processors: with
# examples/ucpp, and with real µC++. (POET_TEST_RUNS: how often each.)
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
sources=$root/tests/e2e/ucpp
programs="semaphores accepting waiting coroutines fibonacci inside"
runs=${POET_TEST_RUNS:-2}

# one_run NAME SCHEDULE SEED COMMAND...: prints what is wrong with its status, and with what it recorded.
one_run() {
    local name=$1
    POET_OUTPUT=$name.poet TEST_SCHEDULE=$2 TEST_SEED=$3 UCPP_SCHEDULE=$2 UCPP_SEED=$3 \
        timeout 60 "${@:4}" >"$name.out" 2>&1 || echo "$name: status"
    until_true finished "$name.poet"
    poet check "$name.poet" >"$name.check" 2>&1 || echo "$name: $(head -n 1 "$name.check")"
    poet dump --json "$name.poet" >"$name.dump"
}

# every_schedule COMMAND: runs it with each program appended, under each schedule, three at a time; the lines of all runs are
# checked at once. Prints what is wrong.
every_schedule() {
    local dumps= program run schedule
    rm -f ./*.poet ./*.dump
    for program in $programs; do
        for run in $(seq "$runs"); do
            for schedule in fifo lifo random; do
                dumps="$dumps $program=$program-$schedule-$run.dump"
                # shellcheck disable=SC2086 # a command with an argument
                one_run "$program-$schedule-$run" $schedule "$run" $1$program &
            done
            wait
        done
    done
    # shellcheck disable=SC2086
    python3 "$root/tests/e2e/ucpp.py" $dumps 2>&1
}

poetcc -trace -g -Wall -Wextra -Werror -c "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
for program in $programs; do
    poetcc -trace -g "$root/examples/ucpp/$program.c" ucpp.o -o "example-$program" || exit 1
done
for processors in 1 4; do
    export UCPP_PROCESSORS=$processors
    is "examples/ucpp, processors: $processors; fifo, lifo, random, $runs runs each: status, poet check, lines" \
        "$(every_schedule ./example-)" ""
done
is "a dump of another program is noticed" \
    "$(python3 "$root/tests/e2e/ucpp.py" inside=inside-fifo-1.dump inside=waiting-fifo-1.dump | sed -n 1p | cut -c -40)" \
    "waiting-fifo-1.dump: inside, run 1: line"

if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi
# One program that is all six, each in a namespace: a kernel compiles it once.
{
    cat "$sources/schedule.cc"
    for program in $programs; do
        echo "namespace of_$program {"
        sed 's/^int main()/int run()/; $ s/^}/    return 0;\n}/' "$sources/$program.cc"
        echo "}"
    done
    echo "int main(int argc, char **argv) {"
    for program in $programs; do
        echo "    if (argc > 1 && strcmp(argv[1], \"$program\") == 0) return of_$program::run();"
    done
    echo "    return 2;"
    echo "}"
} >six.cc
for kernel in "1 -nomulti -debug" "1 -nomulti -nodebug -O2" "4 -multi -debug" "4 -multi -nodebug -O2"; do
    options="-DPROCESSORS=${kernel%% *} ${kernel#* }"
    # shellcheck disable=SC2086
    is "real µC++, processors: $kernel: it compiles" \
        "$(CXX=u++ poetcc++ -trace -quiet -fno-access-control $options six.cc -o six 2>&1 | grep -v "building the adapter")" ""
    is "real µC++, processors: $kernel; fifo, lifo, random, $runs runs each: status, poet check, lines" \
        "$(every_schedule "./six ")" ""
done
done_testing
