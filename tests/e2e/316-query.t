#!/bin/bash
# poet query: statements over tables, events and both; text, JSON and CSV; errors; nothing can be written; an interrupt ends it.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
start_server -o traces/ -q
compile prodcons
./prodcons >/dev/null
check "prodcons: the trace is sound" sound latest
run=$(ls traces/prodcons-*.poet)
cells() { poet query --csv "$run" "$1" | tr -d '\r' | sed 1d; }
status() { "$@" >out 2>err; echo $?; }

# ---- rows ----
is "a count of events is that of poet stat" "$(cells 'select count(*) from events where not line like "h%"')" "$(figure "$run" events)"
is "events have the order of poet dump" "$(cells 'select event from events')" "$(poet dump --json "$run" | jq -r '.event // empty')"
is "waits of an object by thread" "$(cells 'select thread, sum(waited_ns) from waits where object = "Sem:full" group by thread')" \
    "$(poet waits --by wait --json "$run" | jq -rs '[.[].row // empty | select(.object == "Sem:full")] | group_by(.thread)[] |
        "\(.[0].thread),\(map(.waited_ns) | add)"')"
is "causes belong to their waits" "$(cells 'select count(*) from wait_causes c left join waits w on c.row_parent = w.row_number where w.row_number is null')" 0
is "attributed times add up to the waits" "$(cells 'select count(*) from (select w.waited_ns as w, sum(c.attributed_ns) as c
    from waits w join wait_causes c on c.row_parent = w.row_number group by w.row_number) where w != c')" 0
is "events and lines" "$(cells 'select l.label, count(*) from events e join lines l on l.line = e.line where l.kind = "semaphore" and not l.hidden group by 1')" \
    "$(cells 'select line_label, count(*) from events where line_label like "Sem:%" group by 1')"
is "a scan within a scan has a session of its own" \
    "$(cells 'select count(*) from events a, events b where a.type = "start" and b.type = "start"')" \
    "$(cells 'with s as (select event from events where type = "start") select count(*) from s a, s b')"
is "three scans at once" "$(cells 'select count(*) from events a, events b, events c where a.event = b.event and b.event = c.event and c.event = "1:1"')" 1
is "edges of the order" "$(cells 'select count(*) from order_edges')" \
    "$(poet dump --json "$run" | jq -s '[.[].order_after // [] | length] | add')"
is "lists are their text" "$(cells 'select count(*) from locks where "M:none" in (select value from findings, json_each(objects))')" 0
is "messages are views of events" "$(cells 'select count(*) from messages')" "$(cells 'select count(*) from events where direction = "receive"')"
is "a table of a range" "$(poet query --csv --to 2:9 "$run" 'select sum(running_ns) from states' | tail -n 1 | tr -d '\r')" \
    "$(poet states --to 2:9 --json "$run" | json 'total.running_ns // ""')"
is "a statement from standard input" "$(echo 'values (1), (2);' | poet query --csv "$run" - | tr -d '\r' | paste -sd' ')" "column1 1 2"
is "a statement alone is about the latest run" "$(cd traces && poet query --csv 'select count(*) from run' | tr -d '\r' | tail -n 1)" 1
is "the columns of a table" "$(cells 'pragma table_info(locks)' | head -n 2)" "0,object,,0,,0
1,thread,,0,,0"

# ---- formats ----
is "JSON has types" "$(poet query --json "$run" "select 1 as a, 1.5 as b, 'x' as c, null as d, 2 as a" | json 'rows' | jq -c .)" \
    '{"a":1,"b":1.5,"c":"x","d":null,"a_2":2}'
is "text is aligned" "$(poet query "$run" "values (1, 'x'), (20, null)")" "column1  column2
      1  x
     20  -"
is "CSV quotes" "$(poet query --csv "$run" "select 'a,\"b', x'0aff'" | tail -n 1 | tr -d '\r')" "\"a,\"\"b\",X'0AFF'"
is "control characters of texts are shown" "$(poet query "$run" "select char(27) || 'a' || char(10) as x" | tail -n 1)" '␛a\n'

# ---- export ----
poet export "$run" -f sqlite -o run.sqlite
poet export "$run" -f sqlite -o - >out.sqlite
for file in run out; do
    is "$file.sqlite has the events" "$(python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("select count(*) from events where not line like \"h%\"").fetchone()[0])' $file.sqlite)" \
        "$(figure "$run" events)"
done
is "no partial file is left" "$(ls *.part 2>/dev/null)" ""
is "a directory that is not there" "$(status poet export "$run" -f sqlite -o none/run.sqlite)" 1

# ---- errors ----
is "a missing column: status" "$(status poet query "$run" 'select wait from waits')" 2
is "a missing column: message" "$(head -n 3 err)" "poet query: no such column: wait
  select wait from waits
         ^"
is "a missing table: status" "$(status poet query "$run" 'select * from wait')" 2
like "a missing table: the nearest one" "$(cat err)" 'no such table: wait; did you mean "waits"\?'
is "a syntax error" "$(status poet query "$run" 'selec 1')" 2
is "an error while it runs" "$(status poet query "$run" 'select abs(-9223372036854775807 - 1)')" 2
is "a table that the run does not have" "$(status poet query "$run" 'select * from placement')" 2
like "its reason" "$(cat err)" '^poet query: placement: no task placement data'
is "a source that does not exist" "$(status poet query none.poet 'select 1')" 1
is "two statements" "$(status poet query "$run" 'select 1; select 2')" 2
is "an extra operand" "$(status poet query "$run" 'select 1' x)" 2

# ---- nothing is written ----
before=$(cksum <"$run")
for statement in "attach 'new.db' as n" "create table t(x)" "create temp table t(x)" "delete from waits" "drop table lines" \
    "insert into lines values (1)" "update waits set thread = 1" "vacuum into 'new.db'" "pragma journal_mode = wal" \
    "pragma writable_schema = 1" "create virtual table t using events" "begin" "detach main" "analyze"; do
    poet query "$run" "select 1 from lines" >/dev/null
    is "not possible: $statement" "$(status poet query "$run" "$statement")" 2
done
is "no file of these exists, and the trace is the same" "$(ls new.db 2>/dev/null; cksum <"$run")" "$before"

# ---- an interrupt ----
env --default-signal=INT poet query "$run" 'with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n' 2>err &
endless=$!
pids="$pids $endless"
catches() { grep -q '^SigCgt:.*[2367abef]$' "/proc/$endless/status" && grep -q '^State:.R' "/proc/$endless/status"; }
check "an endless statement runs" until_true catches
kill -INT $endless
wait $endless
is "an interrupt ends it" "$?" 130
done_testing
