#!/bin/sh
# Checks that files of libpoet share no variable outside of struct tracer (clients/libpoet/core/tracer.h),
# other than those that its first comment names.  Thread-local variables do not count.  Reads the objects in
# $B: run make first.
set -u
B=${B:-build}
found=$(git ls-files 'clients/libpoet/*.c' | grep -Ev '^clients/libpoet/(mpi|ipc|openmp|heap)/' | while read -r source; do
    object=$B/pic/${source%.c}.o
    [ -e "$object" ] || { echo "no $object: run make first"; continue; }
    readelf -sW "$object" | awk '$4 == "OBJECT" && $5 == "GLOBAL" && $7 != "UND" { print $7, $8 }' |
        while read -r section name; do
            case $name in
            poet_tracer | access_shadow | libc_calls | real_functions | next_input | unwind_rule_cache | unwind_return_places) continue ;;
            esac
            # (constants do not count)
            readelf -SW "$object" | grep -qE "\[ *$section\] \.(rodata|data\.rel\.ro)" || echo "$source: $name"
        done
done)
[ -z "$found" ] || printf 'not '
echo "ok 1 - files of libpoet share no variable outside of struct tracer"
[ -z "$found" ] || echo "$found" | sed 's/^/# /'
echo 1..1
