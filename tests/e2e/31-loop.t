#!/bin/bash
# No peer blocks the server's event loop: whatever one sends or requests, the others are served and lose nothing.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_TEST_MAPPINGS=2000 # thousands of them take minutes on a nested virtual machine
export POET_TEST_WATCHDOG_MS=1000 # of work in one iteration; ten times what it takes under sanitizers
attack() { timeout 500 python3 "$root/tests/e2e/loop.py" "$@"; }
file() { ls r/"$1"-*.poet; }
cat >victim.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *once(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return a; }
int main(int argc, char **argv)
{
    long n = 0;
    for (struct timespec pause = {0, 100000}; access(argv[1], F_OK) != 0; n++) {
        once(0);
        nanosleep(&pause, 0);
    }
    pthread_t t; /* threads that start now are traced, too */
    pthread_create(&t, 0, once, 0);
    pthread_join(t, 0);
    printf("%ld\n", n);
    return 0;
}
C
poetcc -trace -g victim.c -o victim
start_server -o r/
./victim stop >pairs &
victim=$!
pids="$pids $victim"
until_true eval 'ls r/victim-*.poet'

is "events beyond the end of a line are accepted" "$(attack gone 20000)" nothing
check "a run with lines that end in gaps finishes" until_true finished "$(file gone)"
is "lines that end in gaps: all lost events are counted" "$(figure "$(file gone)" lost)" $((20000 * 999999))
is "slots that wait for 30 000 announcements are accepted" "$(attack held 30000)" nothing
check "a run with slots that wait for announcements finishes" until_true finished "$(file held)"
is "slots that wait for announcements: all events are recorded" "$(figure "$(file held)" events)" 30000
is "a viewer that sends many requests and reads late gets each answer once" "$(attack unread 50)" "each once"
is "line types beyond the limit are refused" "$(attack kinds 5000)" "LINE: too many line types"
is "an event type beyond the limit is refused" "$(attack after 5000)" "TYPE: a type comes after too many others"
is "30 000 annotations of one event are accepted" "$(attack texts 30000)" nothing
check "a run with 30 000 annotations of one event finishes" until_true finished "$(file texts)"
is "annotations beyond the limit are reported once" "$(poet dump "$(file texts)" | grep -c 'further texts of this event are not kept')" 1
is "a slot with a length greater than all memory is refused" "$(attack wrap 0)" \
    "SLOTS: a slot announces more data than follows"
like "a program with too many queues is refused" "$(attack queues 2100)" "^THREAD: more threads at once than one program may have"
like "a costly regular expression is refused and blocks no other client" "$(attack search '(a+)+$')" \
    "asked often, the expression is too costly for 9999 texts"

mkfifo leave
attack pending 400000 <leave >sent &
pids="$pids $!"
exec 9>leave
until_true grep -q sent sent
waits() { [ "$(figure "$(file pending)" pending)" = 400000 ]; }
check "400 000 pending events are counted" until_true waits
is "poet dump lists each pending event once" "$(poet dump "$(file pending)" --json | grep -c '"event":"1:')" 400000
exec 9>&-
check "a run with 400 000 pending events finishes" until_true finished "$(file pending)"
is "a run with pending events has all received events, one lost" "$(figure "$(file pending)" events)/$(figure "$(file pending)" lost)" 400000/1

touch stop
wait $victim
check "the run of a program beside all these peers finishes" until_true finished "$(file victim)"
is "the program beside all these peers lost no event" "$(figure "$(file victim)" lost)/$(figure "$(file victim)" pending)" 0/0
marks=$(poet dump "$(file victim)" --json | grep -c '"type":"unlock"')
is "the program beside all these peers has each annotation once" "$marks" $(($(cat pairs) + 1))

mkfifo again
attack pending 400000 <again >sent2 &
pids="$pids $!"
exec 9>again
until_true grep -q sent sent2
kill "$server"
check "SIGTERM ends the server during work" until_true eval "! kill -0 $server"
exec 9>&-
wait 2>/dev/null
is "no iteration of the event loop was long" "$(grep -E 'event loop stalled' server.log)" ""
like "the server logs the longest iteration of its event loop" "$(cat server.log)" "longest event loop iteration"

# ---- deferred work: a run is the same live and from its file, event by event ----
start_server -o same/ -q
differs=
for program in philosophers list buffer; do
    poetcc -trace -g "$root/examples/$program.c" -o $program
    for i in 1 2 3; do
        POET_RUN=$program$i ./$program >/dev/null 2>&1
        until_true finished "unix:$XDG_RUNTIME_DIR/poet.sock#$program$i"
        poet dump --json "unix:$XDG_RUNTIME_DIR/poet.sock#$program$i" >live.json
        poet dump --json same/$program$i-*.poet >file.json
        cmp -s live.json file.json || differs="$differs $program$i"
    done
done
is "poet dump prints the same of a live run and of its file" "$differs" ""
done_testing
