#!/bin/bash
# Atomic operations (poetcc -trace=atomics): litmus tests of C11, each up to a thousand times. The value that a thread read
# says what happened before: poet order must answer before there, and concurrent everywhere else, without a reason.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# Prints pairs of notes, with the test that they are of and the answer that the values prove.
pairs() { # pairs TRACE
    poet dump "$1" | awk '$3 == "note" {
        match($0, /"[^"]*"/); delete word
        split(substr($0, RSTART + 1, RLENGTH - 2), word, " ")
        if (word[3] != "q") { at[word[1], word[2], word[3]] = $1; next }
        for (i = 4; i in word; i++) {
            n++; test[n] = word[1]; second[n] = $1
            first[n] = word[1] SUBSEP word[2] SUBSEP substr(word[i], 1, 1)
            answer[n] = substr(word[i], 2) == "+" ? "before" : "concurrent"
        } }
    END { for (i = 1; i <= n; i++) print at[first[i]], second[i], test[i], answer[i] }'
}

# Tests in which one answer is right, whatever is read, and those in which each thread may come first.
always='counter failure_relaxed fence_wrong relaxed relaxed_load relaxed_store'
either='buffer chain failure fence heads lock message message_again message_sc'

# litmus NAME ROUNDS OPTION...
litmus() {
    local program=$1 rounds=$2 test
    shift 2
    check "$program: the program compiles" poetcc -trace=atomics -g -O1 "$@" "$root/tests/e2e/atomics/litmus.c" -o "$program"
    POET_OUTPUT="$program.poet" "./$program" $rounds >"$program.out"
    is "$program: the status is that of the program" $? 3
    is "$program: so is the output" "$(cat "$program.out")" "done"
    check "$program: the trace passes poet check" sound "$program.poet"
    pairs "$program.poet" >"$program.pairs"
    cut -d' ' -f1,2 "$program.pairs" | poet order "$program.poet" - >"$program.answers" 2>"$program.why"
    is "$program: no reason for doubt" "$(cat "$program.why")" ""
    paste -d' ' "$program.pairs" "$program.answers" | awk '{ print $3, $4, $NF }' >"$program.results"
    is "$program: each claim of an order is proved by the values" \
        "$(awk '$3 != $2 && $3 != "concurrent"' "$program.results" | sort | uniq -c | head)" ""
    is "$program: no order that the values prove is missing" \
        "$(awk '$3 != $2 && $2 == "before"' "$program.results" | sort | uniq -c | head)" ""
    for test in $always; do
        is "$program: $test is $rounds times concurrent" "$(grep -c "^$test concurrent concurrent" "$program.results")" $rounds
    done
    for test in $either; do
        check "$program: $test was in order at least once" grep -q "^$test before before" "$program.results"
    done
}

litmus gcc 1000 -std=gnu17
CC=gcc litmus strict 200 -std=c2x -D_GNU_SOURCE -O0
if command -v clang >/dev/null; then
    CC=clang litmus clang 500 -std=gnu17
else
    skip "clang: not installed"
fi
done_testing
