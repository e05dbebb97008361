#!/bin/bash
# poet mcp: a client finds the causes of hangs by its tools alone; wrong messages and calls that fail are answered; answers are
# bounded, and bear their certainty; nothing that a client sends is taken for an option or a command.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
session() { python3 "$root/tests/e2e/mcp-session.py" "$@" 2>&1; }

compile deadlock
compile prodcons
POET_OUTPUT=prodcons.poet ./prodcons >/dev/null
check "prodcons: the trace is sound" sound prodcons.poet
gcc -g "$root/tests/hangs/hangs.c" -o hangs -pthread

# ---- causes of hangs ----
is "a client finds the causes of hangs" "$(session hangs ./deadlock './hangs lock-cycle' './hangs holder-exits' \
    './hangs semaphore-locks' './hangs lost-wakeup' './hangs barrier' './hangs handler')" "$(cat <<'END'
deadlock: deadlock (certain): M:forks M:knives at pthread_mutex_lock(&forks), pthread_mutex_lock(&knives)
lock-cycle: deadlock (certain): M:accounts M:journal at pthread_mutex_lock(&accounts), pthread_mutex_lock(&journal)
holder-exits: abandoned-lock (certain): M:accounts at pthread_mutex_lock(&accounts)
semaphore-locks: deadlock (certain): Sem:left Sem:right at sem_wait(&left), sem_wait(&right)
lost-wakeup: hang (certain): CV:ready at pthread_cond_wait(&ready, &accounts)
barrier: hang (certain): B:phase at pthread_barrier_wait(&phase)
handler: deadlock (certain): M:journal at pthread_mutex_lock(&journal)
END
)"

# ---- messages ----
is "wrong messages and calls" "$(session errors)" "$(printf -- '-32700 %.0s' {1..9} | sed 's/ $//')
$(printf -- '-32600 %.0s' {1..13} | sed 's/ $//')
-32601 -32601
$(printf -- '-32602 %.0s' {1..19} | sed 's/ $//')
{} 0"
for seed in 1 2 3; do
    is "damaged messages, seed $seed" "$(session fuzz $seed)" "True 0"
done

# ---- tools ----
is "the tools" "$(session tools | grep -v '^find')" "record program output
runs
diagnose
report
predict
order a b
why a b
waits
tables
query sql
source
show
0"
is "--read-only: none that runs programs" "$(session tools --read-only | grep record)" ""
is "each answer has its certainty" "$(session answers prodcons.poet | grep -v '^find')" "diagnose True 0
report True 0
predict True 0
order True 0
why True 0
waits True 0
tables True 0
query True 0
source True 0
show True 0
runs True
0"
is "calls that fail" "$(session failures prodcons.poet)" "diagnose True poet blocked: none.poet: No such file or directory
diagnose True poet blocked: --output=made: No such file or directory
query True poet query: no such column: wrong
query True poet query: not authorized: only statements that read are possible (SELECT, WITH, VALUES, EXPLAIN)
query True poet query: --csv: No such file or directory
order True poet order: no event 99:1 in this run (it has $(figure prodcons.poet lines) lines)
waits True poet waits: --output=made: not an event (2:17) or a time (20ms)
show True poet show: --lines: no line named \"\$(touch made)\"; see poet dump
0"
is "nothing was made of it" "$(ls made* 2>/dev/null)" ""
is "an answer that is too long is cut, a program that takes too long is killed" "$(session limits prodcons.poet)" \
    "True True ask for less, with from and to, top, LIMIT, or fewer columns]
no event is missing, and no untraced synchronization is known
None True
0"
is "a call is cancelled" "$(session cancel cancelled.poet ./deadlock)" "deadlock 0"
done_testing
