#!/bin/bash
# poet import: logs with a parser expression in the first lines, with clocks first, several logs of one execution,
# bytes that are not text, times, restarted hosts; errors are reported.
. "$(dirname "$0")/lib.sh"
printf 'p {"p":1}\nfirst\np {"p":2}\nsecond\n' >bare.log
{ printf '(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n' && cat bare.log; } >headed.log
printf 'q {"q":1}\nbegin\nq {"q":2, "p":1}\nend\000here\n' >other.log
for log in bare headed; do
    is "$log: the log is imported" "$(poet import shiviz $log.log -o $log.poet 2>&1)" "$log.poet: 2 events of 1 host"
    is "$log: each event has its text" "$(poet dump $log.poet | sed 's/.*"\(.*\)"/\1/' | tr '\n' ' ')" "first second "
done
is "standard input: the log is imported" "$(poet import shiviz - -o in.poet <headed.log 2>&1)" "in.poet: 2 events of 1 host"
is "several logs of one execution: the logs are imported into one trace" "$(poet import shiviz headed.log other.log -o two.poet 2>&1)" "two.poet: 4 events of 2 hosts"
like "several logs of one execution: messages between hosts are matched" "$(poet dump two.poet)" '^1:1 .* H:p <> 2:2 "first"'
like "NUL byte: the text continues after it" "$(poet dump two.poet)" '"end␀here"'
check "several logs of one execution: the trace passes poet check" sound two.poet
printf '(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n^=== (?<trace>.*) ===$\n=== one ===\n' >runs.log
{ cat bare.log && echo '=== two ===' && cat bare.log; } >>runs.log
is "log of several executions: the first one is imported, and the second line of output names the others" "$(poet import shiviz runs.log -o runs.poet 2>&1)" "runs.poet: 2 events of 1 host, one
runs-2.poet: 2 events of 1 host, two"
said=$(poet import shiviz bare.log -o x.poet --parser '(?<event>.*)\n(?<host>\S*) (?<clock>{.*})' 2>&1)
like "expression that does not match: the error suggests another one" "$said" \
    '^poet import: bare.log:3: invalid vector clock: .*; the expression does not match the first line, this one does: \(\?<host>'
said=$(poet import shiviz bare.log -o missing/x.poet 2>&1)
is "unwritable output: the exit status is 1" "$? $said" "1 poet import: missing: No such file or directory"
check "unwritable output: no file is written" test ! -e missing -a ! -e x.poet
poet import shiviz bare.log other.log -s '^==' -o x.poet 2>/dev/null
is "several logs with a separator of executions: usage error" $? 2
printf 'p {"p":2}\nagain\n' >twice.log
said=$(poet import shiviz bare.log twice.log -o x.poet 2>&1)
like "invalid vector clock: the error names the file and line" "$said" '^poet import: twice.log:1: invalid vector clock: event numbers of a host'

# Times: as numbers, as dates with other groups, as GoVector writes them, and missing.
stamps() { poet dump --json "$1" | sed -n 's/.*"time_ns":\([0-9]*\).*/\1/p' | tr '\n' ' '; }
timed() { printf '%s p {"p":1}\none\n%s p {"p":2}\ntwo\n%s q {"q":1,"p":1}\nthree\n' "$@"; }
timed 1700000000500000000 1700000000500000007 1700000000500000003 >govector.log
is "GoVector log with times: the log is imported" "$(poet import shiviz govector.log -o g.poet 2>&1)" "g.poet: 3 events of 2 hosts"
is "GoVector log with times: times are in ns from the first event on" "$(stamps g.poet)" "0 7 3 "
check "GoVector log with times: the trace passes poet check" sound g.poet
like "GoVector log with times: the text of an event is kept" "$(poet dump g.poet)" '"timestamp: 1700000000500000007"'
timed 17 18.5 17.25 >short.log
poet import shiviz -u ms short.log -p '(?<timestamp>[\d.]+) (?<host>\S*) (?<clock>{.*})\n(?<event>.*)' -o s.poet 2>/dev/null
is "option for the unit of times: times are scaled" "$(stamps s.poet)" "0 1500000 250000 "
timed "2024-01-02 03:04:05.5" "2024-01-02 03:04:06.25" "2024-01-02 03:04:05.75" >dates.log
poet import shiviz dates.log -p '(?<date>\S+) (?<time>\S+) (?<host>\S*) (?<clock>{.*})\n(?<event>.*)' -o d.poet 2>/dev/null
is "dates with times: times are in ns from the first event on" "$(stamps d.poet)" "0 750000000 250000000 "
sed 's/$/\r/' govector.log >crlf.log
is "CR LF line ends: the log is imported" "$(poet import shiviz crlf.log -o c.poet 2>&1) $(stamps c.poet)" "c.poet: 3 events of 2 hosts 0 7 3 "
timed 17 soon 19 >none.log
said=$(poet import shiviz none.log -p '(?<timestamp>\S+) (?<host>\S*) (?<clock>{.*})\n(?<event>.*)' -o n.poet 2>&1)
is "missing times: log order is used, and a message says so" "$? $said" "0 poet import: none.log:3: event without a readable time; using log order as time for all events
n.poet: 3 events of 2 hosts"
is "missing times: events are one microsecond apart" "$(stamps n.poet)" "0 1000 2000 "
poet import shiviz -u weeks short.log -o x.poet 2>/dev/null
is "invalid unit of times: usage error" $? 2

# A restarted host: q knows p at 2 whether or not it received from the later p, r knows neither.
printf 'p {"p":1}\na\np {"p":2}\nb\nq {"q":1, "p":2}\nc\nr {"r":1}\nd\n' >again.log
printf 'p {"p":1}\ne\np {"p":3, "q":1}\nf\nq {"q":2, "p":2}\ng\nq {"q":3, "p":3}\nh\n' >>again.log
said=$(poet import shiviz again.log -o again.poet 2>&1)
is "restarted host: it is a new line, and a message says so" "$? $said" "0 poet import: again.log:9: host \"p\" restarted: it is a new line from here on; events that may come after it are uncertain
again.poet: 8 events of 4 hosts"
check "restarted host: the trace passes poet check" sound again.poet
is "restarted host: the new line has its own name" "$(poet dump --json again.poet | grep -o '"name":"p ([0-9])"')" '"name":"p (2)"'
at() { poet dump --json again.poet | sed -n 's/^{"event":"\([0-9:]*\)".*"annotations":\["'"$1"'"\].*/\1/p'; }
ordered() { poet order again.poet "$(at "$1")" "$(at "$2")" 2>/dev/null; }
is "restarted host: events that only one of its lives can have sent are ordered" "$(ordered b c) $(ordered c f) $(ordered f h) $(ordered e h)" "before before before before"
is "restarted host: events that either of its lives can have sent are unknown" "$(ordered e g) $(ordered b e) $(ordered e c)" "unknown unknown unknown"
is "restarted host: events without knowledge of it are concurrent" "$(ordered a d) $(ordered d b)" "concurrent concurrent"
done_testing
