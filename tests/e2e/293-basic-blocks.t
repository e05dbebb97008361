#!/bin/bash
# poetcc -profile=blocks, poet calls --basic-blocks: how often each block was reached agrees with gcov, source line by source
# line, also in functions without calls; times and their overhead; counts without times; what other coverage hooks do stays.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >lines.c <<'C'
#include <stdlib.h>
volatile int sink;
static int leaf(int n)
{
    int sum = 0;
    if (n % 2)
        sum += n;
    else if (n % 3)
        sum -= n;
    else
        sum *= 2;
    while (n > 40) {
        sum ^= n;
        n -= 7;
    }
    return sum;
}
int main(void)
{
    for (int i = 0; i < 100; i++)
        sink += leaf(i);
    return 0;
}
C
# most FILE: "LINE COUNT" of each source line, the most of its blocks
most() {
    json 'rows | "\(.location | split(":")[1]) \(.count)"' "$1" | tr -d '"' | sort -k1,1n -k2,2nr | sort -u -k1,1n
}
poetcc -profile=blocks -g -O0 lines.c -o lines && timeout 60 poet record -o lines.poet -- ./lines
order_ends lines.poet
poet calls --basic-blocks --json lines.poet >lines.json
if command -v gcov >/dev/null; then
    gcc --coverage -g -O0 lines.c -o covered && ./covered && gcov ./*lines.gcda >/dev/null 2>&1
    for line in 7 9 11 12 13 16; do
        is "line $line as gcov counts it" "$(most lines.json | sed -n "s/^$line //p")" \
            "$(sed -n "s/^ *\([0-9]*\): *$line:.*/\1/p" lines.c.gcov)"
    done
else
    for line in 7 9 11 12 13 16; do skip "gcov is not installed"; done
fi
is "a function without calls" "$(json '[rows | select(.function == "leaf" and .count == 100)] | length > 1' lines.json)" true
is "times are known, except of the block in which the program ended" \
    "$(json '[rows | select(.self_ns == null) | .function] | unique | join(" ")' lines.json)" main
is "net is self without overhead" \
    "$(json '[rows | select(.self_ns) | .net_ns == ([.self_ns - .overhead_ns, 0] | max)] | all' lines.json)" true
is "shares of all blocks" "$(json '[rows | .self_share] | add | within(0.999; 1.001)' lines.json)" within
# (its clock is read before the hook at the end of the call ends that)
is "called time is part of that of the calls" "$(json '[rows | .called_ns] | add' lines.json | awk -v total="$(
    poet calls --json lines.poet | json '[rows | select(.function | tostring | test("leaf")) | .total_ns] | add')" \
    '{ print ($1 > 0 && $1 <= total) }')" 1
poet check lines.poet >check.txt
is "the trace is consistent" "$?" 0

POET_MEASURE=calls=counts timeout 60 poet record -o counts.poet -- ./lines
order_ends counts.poet
poet calls --basic-blocks --json counts.poet >counts.json
is "counts without times: the same counts" "$(most counts.json)" "$(most lines.json)"
is "counts without times: no times" "$(json '[rows | select(.self_ns != null)] | length' counts.json)" 0
POET_MEASURE=none timeout 60 poet record -o none.poet -- ./lines
order_ends none.poet
is "nothing if nothing is measured" "$(poet calls --basic-blocks --json none.poet | json '[rows] | length')" 0
is "sorted" "$(poet calls --basic-blocks --sort count --top 2 --json lines.poet | json '[rows | .count] | .[0] >= .[1]')" true

# a program with a hook of its own keeps it
cat >own.c <<'C'
#include <stdio.h>
static int blocks;
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void) { blocks++; }
int main(void)
{
    for (int i = 0; i < 10; i++)
        __asm__ volatile("");
    return printf("%s\n", blocks > 10 ? "kept" : "lost") < 0;
}
C
gcc -O0 -fsanitize-coverage=trace-pc own.c -o own
is "other coverage hooks are left alone" "$(timeout 60 poet record -o own.poet -- ./own)" kept
done_testing
