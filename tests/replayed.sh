#!/bin/bash
# Checks that replays equal the recorded runs: records each program TIMES times (default: 10), replays
# each trace TIMES times, and compares the traces event by event.
# usage: B=build bash tests/replayed.sh [TIMES [PROGRAM...]]
root=$(cd "$(dirname "$0")/.." && pwd)
B=$(cd "${B:-$root/build}" && pwd) || exit 1
times=${1:-10}
[ $# -gt 0 ] && shift
work=$(mktemp -d "${TMPDIR:-/tmp}/poet-replayed.XXXXXX")
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work/state" HOME="$work" LC_ALL=C.UTF-8 POET_QUIET=1 PATH="$B/bin:$PATH"
export UCPP_SCHEDULE=random OMP_WAIT_POLICY=passive
unset POET_SERVER POET_RUN
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
poetcc -trace -g -c "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
# make NAME: compiles the program of that name to ./NAME
make() {
    name=$1
    case $name in
    bank) poetcc++ -std=c++20 -trace -g "$root/examples/bank.cpp" -o "$name" ;;
    triangle) poetcc -trace -g -fopenmp "$root/examples/omp/triangle.c" -o "$name" ;;
    replay-many | vclock | real | stops) poetcc -trace -g "$root/tests/e2e/$name.c" -o "$name" ;;
    ucpp-stress) poetcc -trace -g -I"$root/examples/ucpp" "$root/tests/e2e/$name.c" ucpp.o -o "$name" ;;
    accepting | coroutines | fibonacci | inside | semaphores | waiting) poetcc -trace -g "$root/examples/ucpp/$name.c" ucpp.o -o "$name" ;;
    *) poetcc -trace -g "$root/examples/$name.c" -o "$name" ;;
    esac
}
# prefix of a command that runs it on one of the allowed CPUs
alone=$(taskset -cp $$ 2>/dev/null | sed -n 's/.*: \([0-9]*\).*/taskset -c \1/p')
# finished FILE: waits until the trace is finished, at most half a minute
finished() { for _ in $(seq 600); do poet stat --json "$1" 2>/dev/null | grep -q '"finished":true' && return; sleep 0.05; done; }
runs=0 equal=0
for program in ${*:-actors bank buffer dating list philosophers prodcons stages accepting coroutines fibonacci inside semaphores waiting replay-many real ucpp-stress vclock stops triangle}; do
    make "$program" || exit 1
    here=0
    for i in $(seq "$times"); do
        rm -f run.poet
        UCPP_SEED=$i POET_OUTPUT=run.poet timeout 60 $([ $((i % 2)) = 1 ] || echo $alone) "./$program" >first 2>&1 </dev/null
        finished run.poet
        for j in $(seq "$times"); do
            rm -f again.poet
            UCPP_SEED=$((1000 * i + j)) timeout 60 poet replay run.poet -o again.poet >second 2>said </dev/null
            finished again.poet
            runs=$((runs + 1))
            if python3 "$root/tests/e2e/same.py" run.poet again.poet >result 2>&1; then here=$((here + 1)); else
                echo "# $program: $(tail -n 1 result); $(tail -n 1 said)"
            fi
        done
    done
    equal=$((equal + here))
    echo "$program: $here of $((times * times)) are equal"
done
echo "$equal of $runs repeated runs are equal"
[ "$equal" = "$runs" ]
