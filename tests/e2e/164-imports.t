#!/bin/sh
# poet import reads logs as they are found: with their expression in the first lines, with clocks first, several of one
# execution, and with bytes that are no text; what cannot be written is said.
. "$(dirname "$0")/lib.sh"
printf 'p {"p":1}\nfirst\np {"p":2}\nsecond\n' >bare.log
{ printf '(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n' && cat bare.log; } >headed.log
printf 'q {"q":1}\nbegin\nq {"q":2, "p":1}\nend\000here\n' >other.log
for log in bare headed; do
    is "$log: read" "$(poet import shiviz $log.log -o $log.poet 2>&1)" "$log.poet: 2 events of 1 host"
    is "$log: each event with its text" "$(poet dump $log.poet | sed 's/.*"\(.*\)"/\1/' | tr '\n' ' ')" "first second "
done
is "standard input" "$(poet import shiviz - -o in.poet <headed.log 2>&1)" "in.poet: 2 events of 1 host"
is "several logs of one execution" "$(poet import shiviz headed.log other.log -o two.poet 2>&1)" "two.poet: 4 events of 2 hosts"
like "which meet" "$(poet dump two.poet)" '^1:1 .* H:p <> 2:2 "first"'
like "a byte 0 ends no text" "$(poet dump two.poet)" '"end␀here"'
check "that trace is sound" sound two.poet
printf '(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n^=== (?<trace>.*) ===$\n=== one ===\n' >runs.log
{ cat bare.log && echo '=== two ===' && cat bare.log; } >>runs.log
is "what stands between executions is in the second line" "$(poet import shiviz runs.log -o runs.poet 2>&1)" "runs.poet: 2 events of 1 host, one
runs-2.poet: 2 events of 1 host, two"
said=$(poet import shiviz bare.log -o x.poet --parser '(?<event>.*)\n(?<host>\S*) (?<clock>{.*})' 2>&1)
like "an expression that does not fit: another is named" "$said" \
    '^poet import: bare.log:3: invalid vector clock: .*; the expression does not match the first line, this one does: \(\?<host>'
said=$(poet import shiviz bare.log -o missing/x.poet 2>&1)
is "where nothing can be written: a failure" "$? $said" "1 poet import: missing: No such file or directory"
check "and nothing is" test ! -e missing -a ! -e x.poet
poet import shiviz bare.log other.log -s '^==' -o x.poet 2>/dev/null
is "several logs are not split" $? 2
printf 'p {"p":2}\nagain\n' >twice.log
said=$(poet import shiviz bare.log twice.log -o x.poet 2>&1)
like "complaints name the file" "$said" '^poet import: twice.log:1: invalid vector clock: event numbers of a host'

# Times: as numbers, as dates with other groups, as GoVector writes them, and not at all.
stamps() { poet dump --json "$1" | sed -n 's/.*"time_ns":\([0-9]*\).*/\1/p' | tr '\n' ' '; }
timed() { printf '%s p {"p":1}\none\n%s p {"p":2}\ntwo\n%s q {"q":1,"p":1}\nthree\n' "$@"; }
timed 1700000000500000000 1700000000500000007 1700000000500000003 >govector.log
is "numbers before the clocks are times" "$(poet import shiviz govector.log -o g.poet 2>&1)" "g.poet: 3 events of 2 hosts"
is "in ns, from the first on" "$(stamps g.poet)" "0 7 3 "
check "and that trace is sound" sound g.poet
like "the text stays" "$(poet dump g.poet)" '"timestamp: 1700000000500000007"'
timed 17 18.5 17.25 >short.log
poet import shiviz -u ms short.log -p '(?<timestamp>[\d.]+) (?<host>\S*) (?<clock>{.*})\n(?<event>.*)' -o s.poet 2>/dev/null
is "of a unit that is said" "$(stamps s.poet)" "0 1500000 250000 "
timed "2024-01-02 03:04:05.5" "2024-01-02 03:04:06.25" "2024-01-02 03:04:05.75" >dates.log
poet import shiviz dates.log -p '(?<date>\S+) (?<time>\S+) (?<host>\S*) (?<clock>{.*})\n(?<event>.*)' -o d.poet 2>/dev/null
is "dates and times" "$(stamps d.poet)" "0 750000000 250000000 "
sed 's/$/\r/' govector.log >crlf.log
is "lines of other systems" "$(poet import shiviz crlf.log -o c.poet 2>&1) $(stamps c.poet)" "c.poet: 3 events of 2 hosts 0 7 3 "
timed 17 soon 19 >none.log
said=$(poet import shiviz none.log -p '(?<timestamp>\S+) (?<host>\S*) (?<clock>{.*})\n(?<event>.*)' -o n.poet 2>&1)
is "what has no time: all by their order, and that is said" "$? $said" "0 poet import: none.log:3: event without a readable time; using log order as time for all events
n.poet: 3 events of 2 hosts"
is "a microsecond each" "$(stamps n.poet)" "0 1000 2000 "
poet import shiviz -u weeks short.log -o x.poet 2>/dev/null
is "no unit" $? 2

# A host that begins again: q knows p at 2 whether or not it has received of the later one, r knows neither.
printf 'p {"p":1}\na\np {"p":2}\nb\nq {"q":1, "p":2}\nc\nr {"r":1}\nd\n' >again.log
printf 'p {"p":1}\ne\np {"p":3, "q":1}\nf\nq {"q":2, "p":2}\ng\nq {"q":3, "p":3}\nh\n' >>again.log
said=$(poet import shiviz again.log -o again.poet 2>&1)
is "a host that begins again is another line" "$? $said" "0 poet import: again.log:9: host \"p\" restarted: it is a new line from here on; events that may come after it are uncertain
again.poet: 8 events of 4 hosts"
check "and that trace is sound" sound again.poet
is "with a name of its own" "$(poet dump --json again.poet | grep -o '"name":"p ([0-9])"')" '"name":"p (2)"'
at() { poet dump --json again.poet | sed -n 's/^{"event":"\([0-9:]*\)".*"annotations":\["'"$1"'"\].*/\1/p'; }
ordered() { poet order again.poet "$(at "$1")" "$(at "$2")" 2>/dev/null; }
is "what one life alone can have told is ordered" "$(ordered b c) $(ordered c f) $(ordered f h) $(ordered e h)" "before before before before"
is "what another one may have told is not known" "$(ordered e g) $(ordered b e) $(ordered e c)" "unknown unknown unknown"
is "who knows of no life comes after none" "$(ordered a d) $(ordered d b)" "concurrent concurrent"
done_testing
