#!/bin/bash
# The metrics of a measurement file are stored with the run: other commands know them without the file.
. "$(dirname "$0")/lib.sh"

cat >meals.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t fork_ = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 5); i++) {
        pthread_mutex_lock(&fork_);
        pthread_mutex_unlock(&fork_);
    }
}
END
poetcc -trace -g meals.c -o meals -pthread || not_ok "meals.c compiles"
cat >"a \"meal\".conf" <<'END'
exact = { metrics = true; };
metrics = ( { name = "meals"; count = ["acquired"]; }, { name = "pairs"; formula = "meals / 2"; unit = "pairs"; } );
END
cat >none.conf <<'END'
exact = { metrics = true; };
END
stored() { # stored TRACE: the names of its metrics that the description of threads does not have
    poet metrics --json "$1" | json '[rows.metric | select(. == "meals" or . == "pairs" or . == "other")] | join(" ")'
}

poet record -m "a \"meal\".conf" -o recorded.poet ./meals 2>record.err
is "record -m FILE says nothing about its metrics" "$(grep -c metrics record.err)" 0
until_true finished recorded.poet
mv "a \"meal\".conf" elsewhere.conf
is "a metric of the file is known without it" \
    "$(poet metrics --json recorded.poet | json 'metric("meals").count')" 5
is "formulas are stored, too" "$(poet metrics --json recorded.poet | json 'metric("pairs").total')" 2.5
check "the trace is valid" poet check recorded.poet
is "a file of other metrics adds to them" \
    "$(echo 'metrics = ( { name = "other"; count = ["released"]; } );' >other.conf &&
        poet metrics -m other.conf --json recorded.poet | json '[rows.metric] | map(select(. == "meals" or . == "other")) | sort | join(" ")')" \
    "meals other"

(POET_MEASURE=@elsewhere.conf POET_OUTPUT=settings.poet ./meals)
until_true finished settings.poet
is "POET_MEASURE=@FILE stores them" "$(stored settings.poet)" "meals pairs"
(POET_METRICS=elsewhere.conf POET_OUTPUT=variable.poet ./meals)
until_true finished variable.poet
is "POET_METRICS stores them" "$(stored variable.poet)" "meals pairs"
poet record -m none.conf -o none.poet ./meals
until_true finished none.poet
is "a file without metrics stores none" "$(stored none.poet)" ""
(unset POET_QUIET && POET_METRICS=missing.conf POET_OUTPUT=missing.poet ./meals 2>missing.err)
is "a missing file is reported" "$(grep POET_METRICS missing.err)" \
    "poet: POET_METRICS: missing.conf: No such file or directory"

poet record -m elsewhere.conf -k 4M -o long.poet ./meals 400000
until_true finished long.poet
is "a run without its beginning has them" "$(stored long.poet)" "meals pairs"
check "its beginning was discarded" \
    test "$(poet metrics --json long.poet | json 'metric("meals").count')" -lt 400000
done_testing
