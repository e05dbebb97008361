#!/bin/bash
# poet metrics over events: metrics of a description, of the user's own file, by thread, in a range, and errors in them.
. "$(dirname "$0")/lib.sh"
compile philosophers
./philosophers
run=$(trace_of philosophers)
check "philosophers: the trace is sound" sound "$run"
# of FILE METRIC COLUMN: of all threads
of() { json "rows | select(.metric == \"$2\" and (.thread // \"\") == \"\") | .$3" "$1"; }

cat >own.conf <<'END'
metrics = (
    { name = "hungry"; start = "acquire"; end = "acquired"; per = "line"; better = "low"; },
    { name = "forks"; count = ["acquired"]; },
    { name = "a fork"; formula = "hungry / forks"; unit = "ns"; },
    { name = "nothing"; formula = "forks / (forks - forks)"; }
);
END
poet metrics --json -m own.conf "$run" >m.json
poet dump --json "$run" >dump.json
entered=$(grep -c '"type":"acquired"' dump.json)
is "metrics: a counter counts every acquisition" "$(of m.json forks total)" "$entered"
is "metrics: a duration is counted once per acquisition" "$(of m.json hungry count)" "$entered"
is "metrics: a duration is the lock wait time" "$(of m.json "lock wait time" total)" "$(of m.json hungry total)"
waited=$(poet waits --json --by thread "$run" 2>/dev/null | tail -n 1 | sed 's/.*"waited_ns":\([0-9]*\).*/\1/')
check "metrics: a duration is at most all wait time" [ "$(of m.json hungry total)" -le "$waited" ]
is "metrics: a formula" "$(of m.json "a fork" total | cut -d. -f1)" "$(($(of m.json hungry total) / entered))"
is "metrics: division by zero is null" "$(of m.json nothing total)" null
poet metrics --json --by thread -m own.conf "$run" >t.json
is "metrics --by thread adds up to the total" \
    "$(json 'sum(rows | select(.metric == "forks") | .total)' t.json)" "$entered"
half() { poet metrics --json -m own.conf "$@" "$run" >h.json; of h.json forks total; }
is "metrics of two parts of a run add up to the whole" "$(($(half --to 1ms) + $(half --from 1ms)))" "$entered"
poet metrics --csv -m own.conf "$run" >m.csv
like "metrics --csv has the figures" "$(cat m.csv)" "^forks,,$entered,$entered,"
like "metrics as text has the figures" "$(poet metrics "$run")" "^lock wait time +- +[0-9.]+ ms"

sed 's/"acquire"; end = "acquired"/"acquire"/' own.conf >bad.conf
is "metrics: an error in a file is reported with its line" "$(poet metrics -m bad.conf "$run" 2>&1)" 'bad.conf:2: "start" without "end"'
is "metrics: an error in a file exits with 2" "$(poet metrics -m bad.conf "$run" >/dev/null 2>&1; echo $?)" 2
is "metrics: a missing file is reported" "$(poet metrics -m none.conf "$run" 2>&1)" "poet metrics: none.conf: No such file or directory"
{ sed 's/lock acquisitions"; count = "acquired"/lock acquisitions"; count = "acquird"/' "$B/share/poet/config/pthread.conf"; } >pthread.conf
like "check: a metric with an unknown type is reported" "$(poet check ./pthread.conf 2>&1)" 'metric "lock acquisitions": unknown type "acquird"'
done_testing
