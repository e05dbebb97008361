#!/bin/bash
# Data races (poetcc -trace=races, poet races): each program with a race, and the same one without it, with gcc and clang.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
source=$root/tests/e2e/races/races.c

# a sed script that replaces the number of each marked source line by its mark
sed -nE 's|.*/\* ([A-Z][A-Z ]*) \*/.*|\1|p' "$source" | while read -r mark; do
    echo "s/ $(grep -n "/\* $mark \*/" "$source" | cut -d: -f1)(,|\$)/ $mark\1/g"
done >marks

# races_of FILE: each race as MEMORY: ACCESS MARK, ACCESS MARK, the smaller line first
races_of() {
    poet races "$1" --columns all --json | json '[.[] | select(has("row")).row] as $all
        | range(0; $all | length) | select($all[.].number != null) as $i
        | $all[$i] as $race | [$all[$i + 1], $all[$i + 2]]
        | map({line: (.location | capture("races.c:(?<n>[0-9]+)").n | tonumber), access})
        | sort_by(.line) | map("\(.access) \(.line)") | join(", ")
        | "\(if $race.memory == "global" then $race.object else $race.memory end): \(.)"' |
        sed -E -f marks | sort | paste -sd'|'
}

cat >wanted <<'W'
counter count: write COUNTER, write COUNTER
heap heap: write HEAP, write HEAP
stack stack: write STACK A, write STACK B
plain published: write PLAIN A, read PLAIN B
check initialized: read CHECK A, write CHECK B
refcount plain_references: write REFERENCES A, write REFERENCES B
one-lock count: write LOCKED, write ONE LOCK
two-locks count: write LOCKED, write OTHER LOCK
nested count: write LOCKED, write NESTED
atomic data: write ATOMIC A, read ATOMIC B
fence data: write FENCE A, read FENCE B
spin count: write SPIN COUNT, write SPIN COUNT|word: atomic write SPIN A, write SPIN B|word: write SPIN B, write SPIN B
condition data: write CONDITION A, read CONDITION B
barrier data: write BARRIER A, read BARRIER B
pipe data: write PIPE A, read PIPE B
freed heap: read FREE A, free FREE B
again count: write AGAIN, write AGAIN
mapped count: write MAPPED, write MAPPED
copies text[0]: read COPY A, write COPY B
neighbors parts.d: write PARTS A, write PARTS B
rwlock data: write RWLOCK, write RWLOCK
fork count: write COUNTER, write COUNTER
W
for compiler in gcc clang; do
    command -v $compiler >/dev/null || { skip "$compiler: not installed"; continue; }
    check "$compiler: the program compiles without warnings" \
        env CC=$compiler poetcc -trace=races -processes -g -Wall -Wextra -Werror "$source" -o "races.$compiler"
    while read -r program race; do
        for kind in bad good; do
            trace=$compiler.$program.$kind.poet
            POET_OUTPUT=$trace "./races.$compiler" "$program" $kind >"$program.out"
            is "$compiler: $program, $kind: status" $? 0
            check "$compiler: $program, $kind: the trace passes poet check" sound "$trace"
            if [ $kind = bad ]; then wanted=$race; else wanted=; fi
            is "$compiler: $program, $kind: races" "$(races_of "$trace")" "$wanted"
        done
    done <wanted
done
done_testing
