#!/bin/bash
# No peer holds the server's loop: whatever one asks for, the others are served, and lose nothing.
. "$(dirname "$0")/lib.sh"
export POET_TEST_WATCHDOG_MS=1000 # of work in one turn; ten times what it takes with sanitizers
attack() { timeout 900 python3 "$root/tests/e2e/loop.py" "$@"; }
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
    pthread_t t; /* threads that begin now are followed, too */
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

is "lines that end with gaps" "$(attack gone 20000)" nothing
check "are closed" until_true finished "$(file gone)"
is "and what they lost is told" "$(figure "$(file gone)" lost)" $((20000 * 999999))
is "slots that wait for 30 000 announcements" "$(attack held 30000)" nothing
check "all come" until_true finished "$(file held)"
is "in the end" "$(figure "$(file held)" events)" 30000
is "a viewer that asks much and reads late is answered in full" "$(attack unread 50)" "each once"
is "kinds of lines without number are refused" "$(attack kinds 5000)" "LINE: too many line types"
is "a type after too many others is refused" "$(attack after 5000)" "TYPE: a type comes after too many others"
is "30 000 texts of one event" "$(attack texts 30000)" nothing
check "are told once" until_true finished "$(file texts)"
is "as many as are kept" "$(poet dump "$(file texts)" | grep -c 'further texts of this event are not kept')" 1
is "a slot that says it is longer than all memory" "$(attack wrap 0)" \
    "SLOTS: a slot announces more data than follows"
like "one program does not take all mappings" "$(attack queues 70000)" "^THREAD: more threads at once than one program may have"
like "an expression that costs too much is told, and holds up nobody" "$(attack search '(a+)+$')" \
    "asked often, the expression is too costly for 9999 texts"

mkfifo leave
attack pending 400000 <leave >sent &
pids="$pids $!"
exec 9>leave
until_true grep -q sent sent
waits() { [ "$(figure "$(file pending)" pending)" = 400000 ]; }
check "much that is pending is counted" until_true waits
is "and told once each" "$(poet dump "$(file pending)" --json | grep -c '"event":"1:')" 400000
exec 9>&-
check "and closed" until_true finished "$(file pending)"
is "with all that came" "$(figure "$(file pending)" events)/$(figure "$(file pending)" lost)" 400000/1

touch stop
wait $victim
check "a program beside all that" until_true finished "$(file victim)"
is "lost nothing" "$(figure "$(file victim)" lost)/$(figure "$(file victim)" pending)" 0/0
marks=$(poet dump "$(file victim)" --json | grep -c '"type":"unlock"')
is "neither before nor after" "$marks" $(($(cat pairs) + 1))

mkfifo again
attack pending 400000 <again >sent2 &
pids="$pids $!"
exec 9>again
until_true grep -q sent sent2
kill "$server"
check "SIGTERM is answered whatever there is to do" until_true eval "! kill -0 $server"
exec 9>&-
wait 2>/dev/null
is "no turn of the loop was long" "$(grep -E 'event loop stalled' server.log)" ""
like "as was watched" "$(cat server.log)" "longest event loop iteration"

# ---- whatever was put off: a run is the same live and read again, number by number ----
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
is "a run is the same live and from its file" "$differs" ""
done_testing
