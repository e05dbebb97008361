#!/bin/bash
# What else a run could have done: what is wrong with each program of maybe/bad_*.c is named though the run went well, and
# of maybe/good_*.c, which look alike, nothing is said to hang.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e/maybe
# record NAME [WRAPPER...]: a run that goes well
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 ./"$1" || return 1
    until_true finished "$1.poet"
}
# kinds NAME: of what is found, a line each, as it is numbered
kinds() { poet maybe --json "$1.poet" | python3 -c '
import json, sys
for l in sys.stdin:
    row = json.loads(l).get("row")
    if row and row["number"]: print(row["kind"])'; }

while read -r name kind; do
    poetcc -trace -g "$here/$name.c" -o "$name"
    until_true record "$name"
    like "$name: $kind is named" "$(kinds "$name")" "^$kind\$"
done <<'END'
bad_two inversion
bad_three inversion
bad_often inversion
bad_rw inversion
bad_transfer inversion
bad_flag lost
bad_check unheard
bad_one missed
bad_mixed missed
bad_atomic between
bad_use first
END
for name in gate ordered hand later try readers flag after all pool buffer timed; do
    poetcc -trace -g "$here/good_$name.c" -o "good_$name"
    record "good_$name"
    is "good_$name: nothing that hangs" "$(kinds "good_$name" | grep -v 'unheard\|between\|first')" ""
done
if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_btl_base_warn_component_unused=0
    CC=mpicc poetcc -trace -g "$here/bad_any.c" -o bad_any
    ranks() { # ranks NAME SAID: a run of three that goes well, which is luck
        rm -f "$1.poet"
        timeout 60 poet record -o "$1.poet" -- mpirun -n 3 "./$1" >out
        until_true finished "$1.poet"
        [ "$(cat out)" = "$2" ]
    }
    check "it went well" until_true ranks bad_any "1 before 2"
    like "bad_any: message is named" "$(kinds bad_any)" '^message$'
    # A hang, of which nothing is left: not even ranks, which are in groups of their own.
    CC=mpicc poetcc -trace -g "$here/bad_rank.c" -o bad_rank
    check "it went well, too" until_true ranks bad_rank "2 was the last"
    row=$(poet maybe bad_rank.poet | sed -n 's/^\([0-9]*\)  message:.*/\1/p' | head -n 1)
    check "a rank that hangs is proved" timeout 120 poet provoke bad_rank.poet "$row" --patience 5
    like "and said" "$output" 'proved in try [0-9]+: (it hangs|it does not end within 5 s, where it ended else)(; the outcome differs in [0-9]+ of [0-9]+ .*)?; the trace is bad_rank.provoked.poet'
    is "nothing of it is left" "$(own_processes bad_rank)" ""
else
    skip "bad_any: there is no MPI here"
fi

# ---- in words, and for scripts ----
said=$(poet maybe bad_two.poet)
like "it says who took what where" "$said" \
    '^ *T:alice took M:forks at alice \(bad_two.c:8\) \([0-9]+:1\), then asked for M:knives at alice \(bad_two.c:9\) \([0-9]+:2\)$'
like "and what that is" "$said" '^1  inversion: each holds what the next one asks for'
is "very often is one line" "$(poet maybe --kinds inversion bad_often.poet | grep -c inversion:)" 1
is "of other kinds nothing is said" "$(poet maybe --kinds lost,missed bad_two.poet | sed 's/; run of [-0-9: ]*$//'; echo ${PIPESTATUS[0]})" \
    "what else could have been
note: nothing was found that could have been otherwise
0"
like "of a lost call both" "$(poet maybe bad_flag.poet)" \
    'T:waits took M:lock at waits \(bad_flag.c:9\) \([0-9]+:1\), then waited for Q:ready at waits \(bad_flag.c:11\)'
like "and who called" "$(poet maybe bad_flag.poet)" 'T:calls called who waits for Q:ready at calls \(bad_flag.c:19\)'
like "of a missed one all who come" "$(poet maybe bad_one.poet)" 'T:comes#3 took M:lock at comes \(bad_one.c:9\) \([0-9:]*\), too'
like "of what may come between" "$(poet maybe bad_atomic.poet)" \
    'T:pays took M:account at look \(bad_atomic.c:7\) \([0-9]+:1\), and again at set \(bad_atomic.c:14\) \([0-9]+:3\)'
is "but the numbers stay" "$(poet maybe --kinds inversion bad_two.poet | grep -c '^1  ')" 1
is "a kind that there is not is wrong usage" "$(poet maybe --kinds nix bad_two.poet 2>/dev/null; echo $?)" 2
is "a trace that is not there is an error" "$(poet maybe nix.poet 2>/dev/null; echo $?)" 1
like "of a part of a run nothing is said" "$(poet maybe --from 1ms bad_two.poet 2>&1)" 'of the whole run'
like "it is a table as others: CSV" "$(poet maybe --csv bad_two.poet)" '^1,inversion,1'
done_testing
