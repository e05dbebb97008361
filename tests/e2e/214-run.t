#!/bin/bash
# poet watch samples values of commands and files into a live run; and files that select what is measured.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
status() { "$@" >/dev/null 2>&1; echo $?; }

# ---- poet watch ----
cat >waits.c <<'END'
#include <stdio.h>
int main(void) { puts("ready"); fflush(stdout); return getchar() == 'x'; }
END
poetcc -trace waits.c -o waits || exit 1
start_server -o traces/ -q
is "watch without a live run exits with 1" "$(status poet watch a=true)" 1
mkfifo to from
./waits <to >from &
pids="$pids $!"
exec 5>to 6<from
read -r word <&6
echo "load: -12.5 and 7" >file
echo 3 >counter
poet watch --run latest --count 3 --every 10 'up=n=$(($(cat counter) + 1)); echo $n | tee counter' --file load=file \
    'fails=exit 3' 'dies=kill -9 $$' 'empty=echo none' --file gone=no-such-file 2>watch.err
is "watch --count 3 ends after three samples" $? 0
poet metrics --json latest >m.json
expect m.json <<'E'
watch: the values of a command | metric("up") | .last, .min, .max, .count => 6 4 6 3
watch --file: the first number of a file | metric("load") | .last, .kind => -12.5 sampled
watch: a sampled metric has no total | metric("load").total => null
E
is "watch: a failing command is reported once with its name" "$(sort watch.err)" "poet watch: dies: kill -9 \$\$: killed by signal 9
poet watch: empty: echo none: no number found
poet watch: fails: exit 3: exited with status 3
poet watch: gone: no-such-file: No such file or directory"
is "watch: a failing command has no row" "$(json 'metric("fails").last' m.json 2>&1)" ""
poet watch --every 5 "long=exec sleep 100.\$PPID" &
watch=$!
sleeping() { [ -n "$(own_processes sleep)" ]; }
until_true sleeping
kill -INT $watch
wait $watch
is "watch: Ctrl-C ends it" $? 0
poet watch --every 5 'one=echo 1' 5>&- &
watch=$!
has_one() { poet metrics --json latest >one.json && [ "$(json 'metric("one").last' one.json)" = 1 ]; }
check "watch: a sample is seen in the live run" until_true has_one
exec 5>&-
until_true finished latest
wait $watch
is "watch ends with the run" $? 0
poet metrics --json latest >live.json
stop_server
trace=$(ls traces/*.poet)
poet metrics --json "$trace" >file.json
check "watch: metrics of the file equal those of the server" cmp live.json file.json
check "watch: the trace is sound" sound "$trace"
is "watch --run FILE is refused" "$(poet watch --run "$trace" a=true 2>&1)" "poet watch: $trace: no program of this run is connected"
is "watch without an operand is refused" "$(poet watch 2>&1 | head -n 1)" "poet watch: missing operand: NAME=COMMAND or --file NAME=PATH"
is "watch: an operand without a name is refused" "$(poet watch 'true' 2>&1 | head -n 1)" "poet watch: true: invalid operand; use NAME=COMMAND"
is "watch --every: an invalid interval is refused" "$(poet watch --every 0 a=b 2>&1 | head -n 1)" "poet watch: --every: invalid value \"0\"; valid: 1 to 86400000 milliseconds"

# ---- measurement files ----
cat >good.conf <<'END'
exact = { calls = "real"; states = true; waits = true; };
statistical = { rate = 250; };
metrics = ( { name = "entries"; count = ["acquired"]; } );
END
is "check: a valid measurement file" "$(poet check ./good.conf)" "./good.conf: calls=real,states,waits,rate=250: OK"
is "metrics -m: a measurement file may define metrics" "$(status poet metrics -m good.conf "$trace")" 0
# broken NAME TEXT COMPLAINT: the error is in the second line
broken() {
    printf '\n%s\n' "$2" >"$1.conf"
    is "check: $1 in a measurement file" "$(poet check "./$1.conf" 2>&1)" "./$1.conf:2: $3"
    rm -f started
    poet record -m "./$1.conf" touch started >"$1.out" 2>&1
    is "record -m: $1 in a measurement file; the program is not started" "$?$(cat "$1.out")$(ls started 2>/dev/null)" "2./$1.conf:2: $3"
}
broken word 'exact = { calls = "cpus"; };' 'invalid value "cpus" for "calls"; did you mean "cpu"?'
broken key 'exact = { call = "cpu"; };' 'unknown key "call"; did you mean "calls"?'
broken rate 'statistical = { rate = 5000; };' '"rate" must be samples per second, 1 to 1000'
broken group 'exact = "calls";' '"exact" must be a group: { states = true; }'
broken formula 'metrics = ( { name = "x"; formula = "y / 2"; } );' '"formula": no metric "y" before it'
broken syntax 'exact = { calls cpu; };' 'syntax error'
is "record -m: an unknown value in a list is refused" "$(poet record -m calls=some true 2>&1 | head -n 1)" \
    "poet record: --measure calls=some: unknown measurement; valid: calls (calls=counts, real, cpu, every, libraries), samples=1 to samples=10000, states, memory, waits, metrics, usage, counters, throttle, rate=1 to rate=1000, none"
is "record -m: a missing measurement file is refused" "$(poet record -m ./none.conf true 2>&1; echo $?)" "poet record: ./none.conf: No such file or directory
2"
cat >spins.c <<'END'
#include <poet.h>
#include <time.h>
static __attribute__((noinline)) void f(void) { __asm__ volatile(""); }
int main(void)
{
    poet_meter_t m = poet_meter("mine", "", POET_COUNT);
    struct timespec t;
    for (int i = 0; i < 500; i++)
        f();
    do {
        poet_add(m, 1);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_nsec < 300000000 && !t.tv_sec);
}
END
poetcc -profile -g spins.c -o spins || not_ok "spins.c compiles with -profile"
calls_of() {
    poet calls --json "$1" | json 'row("f") | "\(.calls) " + if .total_ns > 0 then "timed" else "counted" end'
}
samples() { poet usage --json "$1" | json '[0, rows.samples] | max'; }
poet record -m good.conf -o recorded.poet ./spins
until_true finished recorded.poet
is "record -m FILE measures calls as the file says" "$(calls_of recorded.poet)" "500 timed"
poet metrics --json recorded.poet >m.json
is "record -m FILE: metrics that are off are not counted" "$(json 'metric("mine").count' m.json)" 0
many=$(samples recorded.poet)
poet record -m calls=counts,metrics,rate=5 -o counted.poet ./spins
until_true finished counted.poet
is "record -m LIST measures calls as the list says" "$(calls_of counted.poet)" "500 counted"
check "record -m: the sampling rate is that of the file" [ "$many" -gt $((2 * $(samples counted.poet))) ]
(POET_MEASURE=@good.conf POET_OUTPUT=file.poet ./spins)
until_true finished file.poet
poet metrics --json file.poet >m.json
is "POET_MEASURE=@FILE measures as the file says" \
    "$(calls_of file.poet) $(json 'metric("mine").count' m.json)" "500 timed 0"
unset POET_QUIET
POET_MEASURE=@rate.conf POET_OUTPUT=bad.poet ./spins 2>bad.err
is "POET_MEASURE=@FILE: an invalid file does not stop the program" $? 0
is "POET_MEASURE=@FILE: an invalid file is reported once" "$(grep -c "invalid settings file, ignored" bad.err)" 1
is "POET_MEASURE=@FILE: a missing file is reported once" "$(POET_MEASURE=@none.conf POET_OUTPUT=bad.poet ./spins 2>&1 | grep -c "@none.conf: No such file")" 1
start_server -o asked/ -q
POET_MEASURE=ask ./spins 2>ask.err &
program=$!
pids="$pids $program"
until_true grep -q "for measurement settings" ask.err
until_true poet measure latest calls=counts
wait $program
is "a program waits for the selection of its measurements" "$(calls_of latest)" "500 counted"
stop_server

# ---- the viewer's dialogs ----
. "$root/tests/e2e/display.sh"
command -v xdotool >/dev/null || { skip "xdotool is not installed"; done_testing; exit; }
manager
cat >says.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    FILE *f = fopen("said", "w");
    fprintf(f, "%s %d %s\n", getenv("POET_MEASURE"), argc, argc > 1 ? argv[1] : "");
    fclose(f);
    while (access("stop", F_OK))
        usleep(10000);
}
END
poetcc -trace says.c -o says
poet view 2>view.err &
pids="$pids $!"
focus Poet
again xdotool key F5 -- shown "^Run program$"
focus "^Run program$"
type_into() { xdotool key "$1" && xdotool key ctrl+a && xdotool type "$2"; }
type_into alt+g ./nothing-like-it
xdotool key Return
for key in alt+e alt+t alt+p; do xdotool key $key; done # real time; then CPU time, which replaces it; states
xdotool key alt+c
type_into alt+g ./says
type_into alt+a "'one word' two"
check "the dialog Run program stays open after an error" shown "^Run program$"
xdotool key alt+f
focus "^Save as$"
again write_path "$PWD/saved.conf" -- test -s saved.conf
check "the dialog saves a valid measurement file" poet check ./saved.conf
is "the saved measurement file has the selected values" "$(poet check ./saved.conf)" "./saved.conf: calls=cpu,states,metrics,waits,rate=100: OK"
focus "^Run program$"
again xdotool key alt+r -- test -s said
is "the dialog starts the program with the selected values" "$(cat said)" "calls=cpu,states,metrics,waits,rate=100 3 one word"
check "the dialog closes after the program has started" until_true not_shown "^Run program$"
until_true poet dump latest
check "the viewer shows the started run" until_true shown "says"
again xdotool key ctrl+m -- shown "^Measurement settings$"
focus "^Measurement settings$"
xdotool key alt+o
again xdotool key alt+p -- not_shown "^Measurement settings$"
ok "the dialog of measurement settings closes after a change"
touch stop
until_true finished latest
is "the viewer logs no CRITICAL message" "$(grep -c CRITICAL view.err)" 0
done_testing
