#!/bin/bash
# poet predict finds the bug of each program predict/bad_*.c in a run without a failure, and no hang in the similar
# programs predict/good_*.c.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e/predict
# record NAME [WRAPPER...]: a run without a failure
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 ./"$1" || return 1
    until_true finished "$1.poet"
}
# kinds NAME: the kinds of the findings, one per line, in their order
kinds() { poet predict --all --json "$1.poet" | python3 -c '
import json, sys
for l in sys.stdin:
    row = json.loads(l).get("row")
    if row and row["number"]: print(row["kind"])'; }

while read -r name kind; do
    poetcc -trace -g "$here/$name.c" -o "$name"
    until_true record "$name"
    like "$name: $kind is predicted" "$(kinds "$name")" "^$kind\$"
done <<'END'
bad_two lock-order-inversion
bad_three lock-order-inversion
bad_often lock-order-inversion
bad_rw lock-order-inversion
bad_transfer lock-order-inversion
bad_flag lost-wakeup
bad_check early-signal
bad_one signal-not-broadcast
bad_mixed signal-not-broadcast
bad_atomic atomicity-violation
bad_use order-violation
END
for name in gate ordered hand later try readers flag after all pool buffer timed own; do
    poetcc -trace -g "$here/good_$name.c" -o "good_$name"
    record "good_$name"
    is "good_$name: no hang is predicted" "$(kinds "good_$name" | grep -v 'early-signal\|atomicity-violation\|order-violation')" ""
done
if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
    CC=mpicc poetcc -trace -g "$here/bad_any.c" -o bad_any
    ranks() { # ranks NAME SAID: a run of three ranks without a failure, which depends on timing
        rm -f "$1.poet"
        timeout 60 poet record -o "$1.poet" -- mpirun -n 3 "./$1" >out
        until_true finished "$1.poet"
        [ "$(cat out)" = "$2" ]
    }
    check "bad_any: a run without a failure is recorded" until_true ranks bad_any "1 before 2"
    like "bad_any: message-race is predicted" "$(kinds bad_any)" '^message-race$'
    # A hang, of which nothing is left: not even ranks, which are in process groups of their own.
    CC=mpicc poetcc -trace -g "$here/bad_rank.c" -o bad_rank
    begun=$(date +%s)
    check "bad_rank: a run without a failure is recorded" until_true ranks bad_rank "2 was the last"
    most=$((5 + 3 * ($(date +%s) - begun))) # seconds: several times as long as a run that ends
    row=$(poet predict bad_rank.poet | sed -n 's/^\([0-9]*\)  message-race:.*/\1/p' | head -n 1)
    check "bad_rank: confirm reproduces the hang of a rank" timeout $((24 * most)) poet confirm bad_rank.poet "$row" --timeout $most
    like "bad_rank: confirm reports the hang" "$output" 'confirmed in attempt [0-9]+: (the program hangs|it does not exit within [0-9]+ s; uncontrolled runs did)(; the outcome differs in [0-9]+ of [0-9]+ .*)?; trace: bad_rank.confirmed.poet'
    is "bad_rank: no process of the hang is left" "$(own_processes bad_rank)" ""
else
    skip "bad_any: MPI is not available"
fi

# ---- text output, and formats for scripts ----
said=$(poet predict bad_two.poet)
like "predict: a finding lists threads, locks and places" "$said" \
    '^ *T:alice acquired M:forks at alice \(bad_two.c:8\) \(event [0-9]+:1\), then requested M:knives at alice \(bad_two.c:9\) \(event [0-9]+:2\)$'
like "predict: a finding has a title" "$said" '^1  lock-order-inversion: potential deadlock \(cyclic lock order\)'
is "predict: repeated occurrences are one finding" "$(poet predict --kinds lock-order-inversion bad_often.poet | grep -c lock-order-inversion:)" 1
is "predict --kinds without a finding says so" "$(poet predict --kinds lost-wakeup,signal-not-broadcast bad_two.poet | sed 's/; run of [-0-9: ]*$//'; echo ${PIPESTATUS[0]})" \
    "potential concurrency bugs
note: no potential concurrency bugs found
0"
like "predict: a lost wake-up has signal and wait" "$(poet predict bad_flag.poet)" \
    'T:waits locked M:lock at waits \(bad_flag.c:9\) \(event [0-9]+:1\), then waited on CV:ready at waits \(bad_flag.c:11\)'
like "predict: a lost wake-up has the signaling thread" "$(poet predict bad_flag.poet)" 'T:calls signaled CV:ready at calls \(bad_flag.c:19\)'
like "predict: a signal instead of a broadcast lists all waiters" "$(poet predict bad_one.poet)" 'T:comes#3 also locked M:lock at comes \(bad_one.c:9\) \(event [0-9:]*\)'
like "predict --all: an atomicity violation with the interleaved event" "$(poet predict --all bad_atomic.poet)" \
    'T:pays locked M:account at look \(bad_atomic.c:7\) \(event [0-9]+:1\) and again at set \(bad_atomic.c:14\) \(event [0-9]+:3\)'
like "predict: unenforced orders are counted" "$(poet predict bad_atomic.poet)" \
    'note: [0-9]+ orders? not enforced, possibly by intent, omitted: poet predict --all'
is "predict: unenforced orders are not listed" "$(poet predict bad_atomic.poet | grep -c 'atomicity-violation:')" 0
is "predict --kinds keeps the numbers of findings" "$(poet predict --kinds lock-order-inversion bad_two.poet | grep -c '^1  ')" 1
is "predict --kinds with an unknown kind exits with 2" "$(poet predict --kinds nix bad_two.poet 2>/dev/null; echo $?)" 2
is "predict of a missing trace exits with 1" "$(poet predict nix.poet 2>/dev/null; echo $?)" 1
like "predict --from is refused" "$(poet predict --from 1ms bad_two.poet 2>&1)" 'prediction needs the whole run'
like "predict --csv prints the table" "$(poet predict --csv bad_two.poet)" '^1,lock-order-inversion,1'
done_testing
