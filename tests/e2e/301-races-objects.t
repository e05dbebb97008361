#!/bin/bash
# Data races in programs of C++ (poetcc++ -trace=races): static variables, containers, shared objects, futures, queues, destructors,
# thread-local variables; each with a race and without it; with g++ and clang++, optimized and not.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
source=$root/tests/e2e/races/objects.cpp

line() { grep -n "/\* $1 \*/" "$source" | cut -d: -f1; }

cat >wanted <<W
static at table\(\)::all(\.entries\[1\])? \(global\) by .* \(objects.cpp:$(line STATIC)\)
vector at numbers\+8 \(global\) by
shared write of 4 bytes at offset 16 of a heap block by .* \(objects.cpp:$(line SHARED)\)
future (read|write) of 4 bytes at result \(global\) by .* \(objects.cpp:($(line "FUTURE A")|$(line "FUTURE B"))\)
queue (read|write) of 4 bytes at result \(global\) by .* \(objects.cpp:($(line "QUEUE A")|$(line "QUEUE B"))\)
virtual previous read of 8 bytes by .* \(objects.cpp:$(line VIRTUAL)\)
local write of 4 bytes at last \(global\) by
other of 4 bytes at result \(global\) by
W
programs() { # programs NAME COMPILER OPTION...
    local name=$1 compiler=$2 program pattern kind
    shift 2
    command -v "$compiler" >/dev/null || { skip "$name: not installed"; return; }
    check "$name: the program compiles" env CXX="$compiler" poetcc++ -trace=races -std=c++20 -g "$@" "$source" -o objects
    while read -r program pattern; do
        for kind in bad good; do
            rm -f objects.poet
            POET_OUTPUT=objects.poet ./objects "$program" $kind >objects.out
            is "$name: $program, $kind: status" $? 0
            check "$name: $program, $kind: the trace passes poet check" sound objects.poet
            if [ $kind = bad ]; then
                like "$name: $program: the race is found" "$(poet races objects.poet)" "$pattern"
            else
                is "$name: $program: nothing is found without it" "$(poet races objects.poet | tail -n +2)" \
                    "note: no data races found"
            fi
        done
    done <wanted
}
programs "g++" g++
programs "g++ -O2" g++ -O2
programs "clang++" clang++
programs "clang++ -O2" clang++ -O2
done_testing
