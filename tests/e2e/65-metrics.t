#!/bin/bash
# Meters over events: of a description, of a file of one's own, by thread, in a range, and mistakes in them.
. "$(dirname "$0")/lib.sh"
compile philosophers
./philosophers
run=$(trace_of philosophers)
check "the trace is sound" sound "$run"
# of FILE METER COLUMN [THREAD]
of() { FILE=$1 perl -MJSON::PP -e 'open my $f, "<", $ENV{FILE} or die; my ($meter, $column, $thread) = @ARGV;
    for (map { decode_json $_ } <$f>) { my $r = $_->{row} or next;
        print $r->{$column} // "null" if $r->{metric} eq $meter && ($r->{thread} // "") eq ($thread // "") }' "${@:2}"; }

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
is "every entry is counted" "$(of m.json forks total)" "$entered"
is "and timed since it was asked for" "$(of m.json hungry count)" "$entered"
is "as the waits say" "$(of m.json "lock wait time" total)" "$(of m.json hungry total)"
waited=$(poet waits --json --by thread "$run" 2>/dev/null | tail -n 1 | sed 's/.*"waited_ns":\([0-9]*\).*/\1/')
check "which is no more than all waiting" [ "$(of m.json hungry total)" -le "$waited" ]
is "a formula" "$(of m.json "a fork" total | cut -d. -f1)" "$(($(of m.json hungry total) / entered))"
is "divided by nothing: not known" "$(of m.json nothing total)" null
poet metrics --json --by thread -m own.conf "$run" >t.json
is "by thread it is the same" "$(perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next;
    $n += $r->{total} if $r->{metric} eq "forks"; END { print $n }' t.json)" "$entered"
half() { poet metrics --json -m own.conf "$@" "$run" >h.json; of h.json forks total; }
is "two parts of a run are the whole" "$(($(half --to 1ms) + $(half --from 1ms)))" "$entered"
poet metrics --csv -m own.conf "$run" >m.csv
like "CSV" "$(cat m.csv)" "^forks,,$entered,$entered,"
like "words" "$(poet metrics "$run")" "^lock wait time +- +[0-9.]+ ms"

sed 's/"acquire"; end = "acquired"/"acquire"/' own.conf >bad.conf
is "a mistake has its line" "$(poet metrics -m bad.conf "$run" 2>&1)" 'bad.conf:2: "start" without "end"'
is "and its status" "$(poet metrics -m bad.conf "$run" >/dev/null 2>&1; echo $?)" 2
is "no file" "$(poet metrics -m none.conf "$run" 2>&1)" "poet metrics: none.conf: No such file or directory"
{ sed 's/lock acquisitions"; count = "acquired"/lock acquisitions"; count = "acquird"/' "$B/share/poet/config/pthread.conf"; } >pthread.conf
like "a description that names no type" "$(poet check ./pthread.conf 2>&1)" 'metric "lock acquisitions": unknown type "acquird"'
done_testing
