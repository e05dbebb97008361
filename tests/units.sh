#!/bin/sh
# Runs every unit test and replays every fuzz corpus; says which failed.
set -u
status=0
for test in "$1"/test_*; do
    case $test in *.log) continue ;; esac
    if CMOCKA_MESSAGE_OUTPUT=STDOUT "$test" >"$test.log" 2>&1; then
        echo "ok   $(basename "$test"): $(grep -c '       OK' "$test.log") tests"
    else
        echo "FAIL $(basename "$test")"
        grep -v '       OK\|RUN  ' "$test.log"
        status=1
    fi
done
for replay in "$1"/replay_*; do
    [ -x "$replay" ] || continue
    name=$(basename "$replay" | sed 's/^replay_fuzz_//')
    if LSAN_OPTIONS=suppressions=tests/fuzz/leaks.txt "$replay" tests/fuzz/corpus/"$name"/* >"$replay.log" 2>&1; then
        echo "ok   corpus of $name: $(ls tests/fuzz/corpus/"$name" | wc -l) inputs"
    else
        echo "FAIL corpus of $name"
        tail -n 30 "$replay.log"
        status=1
    fi
done
exit $status
