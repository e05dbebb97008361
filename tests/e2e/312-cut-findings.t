#!/bin/bash
# The smallest part of a run that still has a finding: of each program with a hang or a bug that is predicted, the cut has
# the finding, for a long run with at most a hundredth of its bytes; programs without one have none in any cut.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e:$root/tests/e2e/predict"
identities() { # SOURCE GROUP: of its findings, by another command
    poet $2 "$1" --format json 2>/dev/null | json '.. | .identity? // empty' | tr -d '"'
}
cut_all() { # TRACE COMMAND
    local n=0 id
    for id in $(identities "$1" "$2"); do
        n=$((n + 1))
        poet cut "$1" --for-finding "$id" -o "cut.poet" >said 2>&1
        check "$1, $2 $n: the cut has the finding" test -n "$(identities cut.poet "$2" | grep "$id")"
        check "and is a trace without errors" poet check cut.poet
    done
    found=$((found + n))
}
found=0
gcc -g -pthread "$root/tests/hangs/hangs.c" -o hangs || exit 1
for kind in lock-cycle wrapper holder-exits semaphore-locks nested-read lost-wakeup barrier pool fork handler pipes; do
    poet record -o "$kind.poet" --hang-timeout 2s ./hangs "$kind" >/dev/null 2>&1
    cut_all "$kind.poet" blocked
    cut_all "$kind.poet" predict
done
for program in any atomic check flag mixed often one rank rw three transfer two use; do
    file=$root/tests/e2e/predict/bad_$program.c
    poetcc -trace -g -I"$root/tests/e2e/predict" "$file" -o "bad_$program" 2>/dev/null || continue
    POET_OUTPUT=bad_$program.poet timeout 60 "./bad_$program" >/dev/null 2>&1
    until_true finished "bad_$program.poet"
    cut_all "bad_$program.poet" predict
done
poet record -o destroy.poet --hang-timeout 2s ./hangs destroy >/dev/null 2>&1
poet cut destroy.poet --for-finding 1 -o whole.poet >said
like "a hang of which only samples of a sleeping thread tell is not in a cut, which is said" "$(cat said)" \
    "does not have the finding, which depends on what cuts leave out"
check "at least twenty findings were cut out" test "$found" -ge 20

cat >long.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *use(void *p)
{
    pthread_mutex_t *first = p, *second = p == &a ? &b : &a;
    for (int i = 0; i < 40000; i++) {
        pthread_mutex_lock(first);
        pthread_mutex_unlock(first);
    }
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(second);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t[0], NULL, use, &a);
    pthread_create(&t[1], NULL, use, &b);
    pthread_join(t[0], NULL);
    return 0;
}
C
poetcc -trace -g long.c -o long || exit 1
poet record -o long.poet --hang-timeout 2s ./long >/dev/null 2>&1
poet cut long.poet --for-finding 1 -o small.poet >said
like "a deadlock of a long run" "$(cat said)" "it has the finding: deadlock"
like "is there" "$(poet blocked small.poet 2>/dev/null)" "^DEADLOCK: 2 threads wait for each other"
check "in at most a hundredth of it" test "$(($(stat -c %s long.poet) / $(stat -c %s small.poet)))" -ge 100
poet cut long.poet --for-finding 99 -o none.poet >/dev/null 2>why
is "a finding that is not there" $? 1
like "and it is said" "$(cat why)" "no such finding"
like "findings are listed with numbers and identities" "$(poet cut long.poet --for-finding list)" "^1  [0-9a-f]{16}  deadlock: "

# ---- correct programs: no cut has a hang, or a bug that is predicted ----
for program in buffer hand pool gate; do
    poetcc -trace -g -I"$root/tests/e2e/predict" "$root/tests/e2e/predict/good_$program.c" -o "good_$program" 2>/dev/null || continue
    POET_OUTPUT=good_$program.poet timeout 60 "./good_$program" >/dev/null 2>&1
    until_true finished "good_$program.poet"
    hangs= bugs=
    for event in $(poet dump "good_$program.poet" --json | json '.[] | .event // empty' | tr -d '"' | grep -v h | shuf -n 15 --random-source=<(yes)); do
        poet cut "good_$program.poet" --past-of "$event" -o cut.poet >/dev/null 2>&1
        bugs=$bugs$(identities cut.poet predict)
        hangs=$hangs$(poet blocked cut.poet 2>/dev/null | grep -E 'DEADLOCK|HANG|never')
    done
    is "good_$program: no past of an event has a hang" "$hangs" ""
    is "nor a predicted bug" "$bugs" ""
done
done_testing
