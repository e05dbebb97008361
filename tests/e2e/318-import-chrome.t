#!/bin/bash
# poet import chrome: slices, instants and flows of a trace of Chrome or Perfetto become events and messages on tracks; what has no place
# in the order is counted; an unknown order is unknown; what poet export -f chrome writes is read back.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
import() { poet import chrome "$1" -o "$2" 2>&1; }
events() { poet dump --json "$1" | jq -r 'select(.event) | [.event, .time_ns, .type, .annotations[0]] | join(" ")'; }

cat >small.json <<'J'
{"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"app"}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker"}},
{"ph":"X","name":"inner","pid":1,"tid":1,"ts":1700000000000000.125,"dur":40},
{"ph":"X","name":"outer","cat":"a","pid":1,"tid":1,"ts":1700000000000000.125,"dur":100,"args":{"n":3,"list":[1]}},
{"ph":"s","name":"post","cat":"f","id":7,"pid":1,"tid":1,"ts":1700000000000020.125},
{"ph":"f","name":"post","cat":"f","id":7,"pid":1,"tid":2,"ts":1700000000000050.125,"bp":"e"},
{"ph":"B","name":"task","pid":1,"tid":2,"ts":1700000000000045.125},
{"ph":"E","pid":1,"tid":2,"ts":1700000000000090.125},
{"ph":"C","name":"mem","pid":1,"tid":2,"ts":1700000000000090.125,"args":{"v":1}},
{"ph":"i","name":"mark","pid":1,"tid":2,"ts":"1700000000000091.250"}
J
is "a trace without its last brackets is imported" "$(sed '1s/.*/[/' small.json >open.json && import open.json open.poet)" \
    "open.poet: 9 events of 2 tracks
poet import: open.json: left out: 1 counters, samples and other objects, 0 invalid ones; 0 ends of slices or flows have no begin"
echo ']}' >>small.json
import small.json small.poet >/dev/null
is "the events have the times and the nesting of the slices, to the ns" "$(events small.poet | sort)" "1:1 0 begin outer
1:2 0 begin inner
1:3 20000 send post
1:4 40000 end inner
1:5 100000 end outer
2:1 45000 begin task
2:2 50000 receive post
2:3 90000 end task
2:4 91125 instant mark"
is "tracks have the names of their threads" "$(poet query --csv small.poet 'select label from lines' | tr -d '\r' | tail -n +2 | paste -sd' ')" "T:main T:worker"
is "arguments are annotations" "$(poet dump --json small.poet | jq -c 'select(.event == "1:1").annotations')" '["outer","cat: a","n: 3"]'
is "a flow is a message" "$(poet query --csv small.poet 'select send_event, receive_event from messages' | tr -d '\r' | tail -n 1)" "1:3,2:2"
is "a flow orders what is before it before what is after it" "$(poet order small.poet 1:1 2:3)" before
is "the order of events without a flow is unknown" "$(poet order small.poet 1:5 2:4 2>&1)" \
    "poet order: unknown: an imported trace has only a part of the order: flows, and the order of each track
unknown"
check "the trace is sound" sound small.poet

# ---- several processes, steps of flows, ends without a begin, other numbers ----
cat >more.json <<'J'
[{"ph":"X","name":"a","pid":1,"tid":"x","ts":0,"dur":5},{"ph":"X","name":"b","pid":2,"tid":"x","ts":"1e1","dur":0},
{"ph":"s","name":"n","id":"0x1","pid":1,"tid":"x","ts":1},{"ph":"t","name":"n","id":"0x1","pid":2,"tid":"x","ts":11},
{"ph":"f","name":"n","id":"0x1","pid":3,"tid":"x","ts":12},{"ph":"f","name":"n","id":"0x2","pid":3,"tid":"x","ts":13},
{"ph":"s","name":"n","id":"0x3","pid":3,"tid":"x","ts":14},{"ph":"E","pid":3,"tid":"x","ts":15},
{"ph":"b","name":"async","id":1,"pid":3,"tid":"x","ts":16},{"ph":"i","pid":3,"tid":"x"},{"name":"?"},7,null,{"ph":"XX"}]
J
is "what is wrong is counted" "$(import more.json more.poet)" "more.poet: 11 events of 3 tracks
poet import: more.json: left out: 0 counters, samples and other objects, 5 invalid ones; 2 ends of slices or flows have no begin"
is "a step receives and sends" "$(poet dump --json more.poet | jq -r 'select(.type == "relay") | [.event, .partner | tostring] | join(" ")')" '2:3 ["1:2","3:1"]'
is "a chain of flows orders events" "$(poet order more.poet 1:1 3:1)" before
like "tracks of several processes have both names" "$(poet query --csv more.poet 'select label from lines')" 'T:thread x \(process 3\)'
check "the trace is sound" sound more.poet

# ---- what Poet exports ----
compile prodcons
POET_OUTPUT=prodcons.poet ./prodcons >/dev/null
check "prodcons: the trace is sound" sound prodcons.poet
poet export prodcons.poet -f chrome -o prodcons.json
like "an exported trace is imported" "$(import prodcons.json back.poet | head -n 1)" '^back.poet: [0-9]+ events of [0-9]+ tracks$'
is "each message of it is one" "$(poet query --csv back.poet 'select count(*) > 100 from messages' | tr -d '\r' | tail -n 1)" 1
check "it is complete" complete back.poet

# ---- errors ----
fails() { printf '%s' "$2" >bad.json && is "$1" "$(import bad.json bad.poet) $(ls bad.poet 2>/dev/null)" "poet import: bad.json: $3 "; }
fails "not JSON" 'nonsense' "not JSON: null expected"
fails "empty" '' "not JSON: unexpected end"
fails "no list" '{"a":1}' "no list of trace events (traceEvents)"
fails "no events" '[]' "no slices, instants or flows"
poet import chrome small.json more.json -o x.poet 2>/dev/null
is "several logs: usage error" $? 2
poet import other small.json -o x.poet 2>/dev/null
is "an unknown format: usage error" $? 2
done_testing
