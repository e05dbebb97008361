#!/bin/bash
# What is measured is chosen before a program runs; and numbers that others print are told to a run: poet watch.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
# of FILE METER COLUMN [THREAD]
of() { FILE=$1 perl -MJSON::PP -e 'open my $f, "<", $ENV{FILE} or die; my ($meter, $column) = @ARGV;
    print join " ", map { $_->{$column} // "null" } grep { $_->{meter} eq $meter } map { decode_json($_)->{row} // () } <$f>' "${@:2}"; }
status() { "$@" >/dev/null 2>&1; echo $?; }

# ---- poet watch ----
cat >waits.c <<'END'
#include <stdio.h>
int main(void) { puts("ready"); fflush(stdout); return getchar() == 'x'; }
END
poetcc -trace waits.c -o waits || exit 1
start_server -o traces/ -q
is "no run yet" "$(status poet watch a=true)" 1
mkfifo to from
./waits <to >from &
pids="$pids $!"
exec 5>to 6<from
read -r word <&6
echo "load: -12.5 and 7" >file
echo 3 >counter
poet watch --run latest --count 3 --every 10 'up=n=$(($(cat counter) + 1)); echo $n | tee counter' --file load=file \
    'fails=exit 3' 'dies=kill -9 $$' 'empty=echo none' --file gone=no-such-file 2>watch.err
is "three looks" $? 0
poet meters --json latest >m.json
is "a command's number" "$(of m.json up last) $(of m.json up min) $(of m.json up max) $(of m.json up count)" "6 4 6 3"
is "a file's first number" "$(of m.json load last) $(of m.json load kind)" "-12.5 sampled"
is "which has no total" "$(of m.json load total)" null
is "what fails is said once, with its name" "$(sort watch.err)" "poet watch: dies: kill -9 \$\$: it was ended by signal 9
poet watch: empty: echo none: there is no number in it
poet watch: fails: exit 3: it failed with status 3
poet watch: gone: no-such-file: No such file or directory"
is "and has no row" "$(of m.json fails last)" ""
poet watch --every 5 "long=exec sleep 100.\$PPID" &
watch=$!
until_true pgrep -f "^sleep 100.$watch"
kill -INT $watch
wait $watch
is "Ctrl-C ends it" $? 0
poet watch --every 5 'one=echo 1' 5>&- &
watch=$!
has_one() { poet meters --json latest >one.json && [ "$(of one.json one last)" = 1 ]; }
check "live" until_true has_one
exec 5>&-
until_true finished latest
wait $watch
is "the run's end ends it" $? 0
poet meters --json latest >live.json
stop_server
trace=$(ls traces/*.poet)
poet meters --json "$trace" >file.json
check "the file says what the server said" cmp live.json file.json
check "the trace is sound" sound "$trace"
is "of a file nothing can be told" "$(poet watch --run "$trace" a=true 2>&1)" "poet watch: $trace: no program of this run is there"
is "no command" "$(poet watch 2>&1 | head -n 1)" "poet watch: a NAME=COMMAND or a --file NAME=PATH is needed"
is "no name" "$(poet watch 'true' 2>&1 | head -n 1)" "poet watch: true: write NAME=COMMAND"
is "how often" "$(poet watch --every 0 a=b 2>&1 | head -n 1)" "poet watch: --every 0: write milliseconds, 1 to 86400000"
done_testing
