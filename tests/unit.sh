#!/bin/bash
# Runs one unit test, or replays the corpus of one fuzzer; prints TAP for prove.
set -o pipefail
name=$(basename "$1")
case $name in
test_*)
    CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 9 600 "$1" | grep -v '^# ok - ' # (prove prints that)
    exit
    ;;
esac
corpus=tests/fuzz/corpus/${name#replay_fuzz_}
echo 1..1
if LSAN_OPTIONS=suppressions=tests/fuzz/leaks.txt timeout -k 9 600 "$1" "$corpus"/*; then
    echo "ok 1 - $(ls "$corpus" | wc -l) inputs"
else
    echo "not ok 1 - an input of $corpus"
    exit 1
fi
