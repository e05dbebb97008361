#!/bin/bash
# Import and export of logs with vector clocks, the causal chain of poet order --why, line groups, placement by time, two hosts.
. "$(dirname "$0")/lib.sh"
# fails NAME STATUS PATTERN COMMAND...
fails() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    output=$("$@" 2>&1)
    got=$?
    if [ $got = "$wanted" ] && printf '%s\n' "$output" | grep -Eq -- "$pattern"; then ok "$name"
    else not_ok "$name" "status $got: $output"; fi
}
cat >two.log <<'L'
a starts
a {"a":1}
a tells b
a {"a":2}
b hears of a
b {"b":1, "a":2}
b tells c
b {"b":2, "a":2}
c alone
c {"c":1}
c hears of b
c {"c":2, "b":2, "a":2}
a alone
a {"a":3}
L
check "import shiviz: a log is imported" poet import shiviz two.log -o two.poet
is "import shiviz: all 7 events on 3 lines, none inconsistent" "$(figure two.poet events lines inconsistent)" "7 3 0"
like "import shiviz: a line is named after its host" "$(poet dump two.poet --json)" '"line":1,"kind":"host","letter":"H","name":"a"'
is "import shiviz: the order is that of the vector clocks" \
   "$(printf '1:1 3:2\n1:3 3:2\n3:1 1:3\n2:2 1:2\n' | poet order two.poet - | tr '\n' ' ')" \
   "before concurrent concurrent after "
like "order --why lists the causal chain" "$(poet order --why two.poet 1:1 3:2 | cut -c 1-5 | tr -d ' \n')" '^1:11:22:12:23:2$'
like "order --why reports that no causal chain exists" "$(poet order --why two.poet 1:3 3:2)" 'no causal chain connects them'
like "import shiviz: the text of an event becomes its annotation" "$(poet dump two.poet)" '"b hears of a"'
check "export writes a PDF of the imported trace" poet export two.poet -o two.pdf
poet export two.poet --format shiviz -o again.log
check "import shiviz: a log exported by Poet is imported" poet import shiviz again.log -o again.poet
is "import shiviz: the order survives export and import" "$(printf '1:1 3:2\n1:3 3:2\n' | poet order again.poet - | tr '\n' ' ')" "before concurrent "
{ echo '=== first ==='; cat two.log; echo '=== second ==='; cat two.log; } >both.log
check "import shiviz --split: a log of several executions" poet import shiviz both.log --split '^=== (?<trace>.*) ===$' -o both.poet
is "import shiviz --split: each execution is a run" "$(poet stat both.poet | head -n 1 | tr -s ' ')$(poet stat both-2.poet | head -n 1 | tr -s ' ')" \
   "run firstrun second"
sed 's/"a":2}$/"a":5}/' two.log >bad.log
fails "import shiviz: event numbers that are not consecutive" 1 'bad\.log:[0-9]+: invalid vector clock: event numbers of a host must be consecutive' poet import shiviz bad.log -o bad.poet
sed 's/"c":2, "b":2, "a":2/"c":2, "b":2/' two.log >bad.log
fails "import shiviz: a clock that omits the clock of an event it names" 1 'bad\.log:12: invalid vector clock: must include the clock of every event it names' poet import shiviz bad.log -o bad.poet
sed 's/"b":2, "a":2}/"b":2, "a":9}/' two.log >bad.log
fails "import shiviz: a clock that refers to a missing event" 1 'bad\.log:8: invalid vector clock: refers to a missing event' poet import shiviz bad.log -o bad.poet
[ -e bad.poet ] && not_ok "import shiviz: no trace is written for an invalid log" || ok "import shiviz: no trace is written for an invalid log"
sed '/{/s/"/\\"/g' two.log >escaped.log
check "import shiviz: clocks with escaped quotes" poet import shiviz escaped.log -o escaped.poet
is "import shiviz: clocks with escaped quotes give the same order" "$(printf '1:1 3:2\n1:3 3:2\n' | poet order escaped.poet - | tr '\n' ' ')" "before concurrent "
fails "import shiviz: an invalid --parser expression" 1 'parser, at character' poet import shiviz two.log -o x.poet --parser '(?<host>'
fails "import: an unknown format" 2 'unknown format' poet import otf two.log -o x.poet

# A run of threads exported to other formats.
cp "$root/examples/prodcons.c" .
poetcc -trace -g prodcons.c -o prodcons && ./prodcons >/dev/null 2>&1
until_true finished "$(trace_of prodcons)"
for format in chrome dot shiviz; do
    check "export --format $format" poet export prodcons.[0-9]*.poet --format $format -o prodcons.$format
done
check "export --format chrome: the file is valid JSON" python3 -m json.tool prodcons.chrome
is "export --format chrome: each flow has a start and an end" "$(grep -c '"ph":"s"' prodcons.chrome)" "$(grep -c '"ph":"f"' prodcons.chrome)"
check "export --format shiviz: the clocks are valid" poet import shiviz prodcons.shiviz -o clocks.poet
check "export --group joins lines into one row" poet export prodcons.*.poet --group 'producer,consumer' -o cluster.txt
like "export --group names the row after its first line" "$(cat cluster.txt)" '\{T:producer… ×2\}'
check "export --time places events by time" poet export prodcons.*.poet --time -o time.svg

# Two hosts with clocks that differ by a second.
start_server -q -o hosts.poet
python3 "$root/tests/e2e/two-hosts.py" "$XDG_RUNTIME_DIR/poet.sock" here 0 1 &
here=$!
python3 "$root/tests/e2e/two-hosts.py" "$XDG_RUNTIME_DIR/poet.sock" there 1000000000 2 &
there=$!
wait $here $there
all_there() { [ "$(figure "unix:$XDG_RUNTIME_DIR/poet.sock" events)" = 80 ]; }
until_true all_there
stop_server
is "two hosts: every message has its partner, no event is inconsistent" "$(figure hosts.poet events pending inconsistent)" "80 0 0"
check "two hosts: events are placed by a common time" poet export hosts.poet --time=100 -o hosts.txt
done_testing
