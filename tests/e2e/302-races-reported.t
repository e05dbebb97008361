#!/bin/bash
# How data races are reported: text, JSON, findings, poet report; what is not examined; what poetcc refuses; that the program is unchanged.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
source=$root/tests/e2e/races/races.c
line() { grep -n "/\* $1 \*/" "$source" | cut -d: -f1; }

check "compiled" poetcc -trace=races -processes -g "$source" -o races
run() { rm -f "$1.poet"; POET_OUTPUT=$1.poet ./races "$1" bad >"$1.out"; }

# ---- text ----
run one-lock
locked=$(line LOCKED) other=$(line "ONE LOCK")
poet races one-lock.poet >text
like "text: the access and the memory" "$(cat text)" \
    "^1  data race: write of 4 bytes at count \(global\) by T:(not_)?locking at (not_)?locking \(races.c:($locked|$other)\)"
like "text: the previous access" "$(cat text)" \
    "^  previous write of 4 bytes by T:(not_)?locking at (not_)?locking \(races.c:($locked|$other)\)"
is "text: the locks held" "$(grep -oE 'while it held .*' text | sort)" \
    "while it held M:mutex
while it held no lock"
like "text: how far the threads are ordered" "$(cat text)" \
    '^  (last event of T:.* before the later access: [0-9:]+|no event of T:.* is before the later access); (first|no) event of'
run heap
like "text: where the block was allocated" "$(poet races heap.poet)" \
    "the block of 24 bytes was allocated by T:main at heap \(races.c:$(line ALLOCATED)\)"

# ---- JSON ----
poet races heap.poet --json >heap.json
expect heap.json <<E
JSON: the races | [.[] | select(.depth == 0)] | length => 1
JSON: the accesses | [.[] | select(.depth == 1).row.access] | join(" ") => write write
JSON: the memory | .[1].row | [.memory, .bytes, .block_bytes, .block_offset] | map(tostring) | join(" ") => heap 8 24 8
JSON: certain | .[1].row.uncertain => null
JSON: all conflicts | .[-1].total.count => 1
E

# ---- findings ----
poet races heap.poet --fail-on data-race >/dev/null 2>err
is "--fail-on: status" $? 1
like "--fail-on: the finding" "$(cat err)" 'finding: data-race [0-9a-f]{16}: write of 8 bytes at offset 8 of a heap block'
like "--format gcc" "$(poet races heap.poet --format gcc)" "races.c:$(line HEAP): error: write of 8 bytes .* \[data-race [0-9a-f]{16}\]"
identity=$(grep -oE 'data-race [0-9a-f]{16}' err | head -1)
run heap
like "another run: the same identity" "$(poet races heap.poet --format gcc)" "\[$identity\]"
echo "$identity the value is the same" >accepted
poet races heap.poet --fail-on all --accepted accepted >/dev/null 2>err
is "--accepted: status" $? 0
is "--format junit: failures" "$(poet races heap.poet --format junit | grep -c '<failure')" 1
poet report heap.poet --fail-on data-race >report 2>/dev/null
is "poet report --fail-on: status" $? 1
like "poet report: a section" "$(cat report)" '^Data races .*poet races'
is "poet report: one race" "$(grep -c 'write of 8 bytes at offset 8 of a heap block' report)" 1

# ---- what is not examined ----
poetcc -trace -g "$source" -o plain
POET_OUTPUT=plain.poet ./plain heap bad >plain.out
like "without -trace=races: said" "$(poet races plain.poet)" 'accesses of memory were not examined: no program'
poet races plain.poet --fail-on data-race >/dev/null 2>err
is "without -trace=races: --fail-on is an error" "$? $(cat err)" \
    "2 poet races: --fail-on data-race: accesses of memory were not examined: use poetcc -trace=races"
poet report plain.poet --fail-on all >/dev/null 2>&1
is "without -trace=races: --fail-on all is none" $? 0
(ulimit -v 4000000 && POET_OUTPUT=small.poet ./races counter bad)
is "little address space: status" $? 0
like "little address space: said" "$(poet races small.poet)" 'not examined, .*: no memory could be reserved'

# ---- the program is unchanged ----
gcc -I"$B/include" -c "$source" -o unchanged.o && gcc unchanged.o -pthread -o unchanged
for program in heap copies stack atomic; do
    ./unchanged $program good >wanted
    is "$program: the same status and output" "$(POET_OUTPUT=$program.good.poet ./races $program good; echo $?)" "$(cat wanted; echo 0)"
    is "$program: without a server, too" "$(POET_SERVER=$work/none ./races $program good; echo $?)" "$(cat wanted; echo 0)"
done

# ---- a filter that kills the program if it is asked for the stack of a thread ----
cat >filter.c <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
static int count;
static void *work(void *p)
{
    count++;
    return p;
}
int main(void)
{
    struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    pthread_t a, b;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 9;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return count - 2;
}
C
poetcc -trace=races -g filter.c -o filter
POET_OUTPUT=filter.poet ./filter
is "a seccomp filter: status" $? 0
like "a seccomp filter: the race is found" "$(poet races filter.poet)" 'data race: write of 4 bytes at count'

# ---- tasks of a runtime that one thread runs ----
poetcc -trace=races -g "$root/examples/tasks.c" -o tasks
POET_OUTPUT=tasks.poet ./tasks >/dev/null
is "tasks of one thread: no races" "$(poet races tasks.poet | tail -n +2)" "note: no data races found"

# ---- what is refused ----
refused() { # refused NAME OPTION...
    local program=$1
    shift
    poetcc -trace=races "$@" "$source" -o refused >refused.out 2>&1
    is "$program: refused" $? 1
    like "$program: refused in a sentence" "$(cat refused.out)" "poetcc: -trace=races: not supported with $program .*; use -trace"
}
refused -fsanitize=thread -fsanitize=thread
refused -fsanitize=address -fsanitize=address
refused -static -static
poet races heap.poet --from 1:2 >/dev/null 2>err
is "a range: refused" "$? $(head -1 err)" "2 poet races: data races need the whole run; they cannot be restricted to a range"
done_testing
