#!/bin/sh
# A program speaks with its own machine alone: where POET_SERVER names a server elsewhere it starts an agent, which all processes of its run
# share.  What is wrong is said in one line, and the program goes on; what is recorded before the server is there comes to it later.
. "$(dirname "$0")/lib.sh"

far=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
    done_testing
    exit 0
fi
cat >work.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *a)
{
    for (int i = 0; i < 50; i++)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return a;
}
/* work NAME MORE...: what the threads of each program do is the same; the next one is started by it, and waited for */
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        pthread_create(&t, NULL, one, NULL);
        pthread_join(t, NULL);
    }
    if (argc > 1 && fork() == 0) {
        execv(argv[0], argv + 1 - (argv[1] = argv[0], 0));
        _exit(1);
    }
    while (wait(NULL) > 0)
        ;
    while (getenv("WAIT_FOR") && access(getenv("WAIT_FOR"), F_OK) != 0)
        usleep(1000);
    puts("done");
    return 0;
}
C
poetcc -trace -g -w work.c -o work -pthread
at() { POET_SERVER=$1 ./work 2>&1; }
agents() { ls "$work/run"/agent-*.sock 2>/dev/null | wc -l; }
begins() { # begins NAME: of a run whose file is there
    ls served/"$1"-*.poet 2>/dev/null | head -n 1
}
ended() { [ -n "$(begins "$1")" ] && finished "$(begins "$1")"; }
none_left() { [ "$(agents)" = 0 ]; }
left() { ls "$work/state/poet/agent/"*"$far"/*.poet 2>/dev/null; }

# ---- what is wrong is said ----
is "no key: one line, and the program goes on" "$(at 127.0.0.1:$far)" \
    "poet: poet://127.0.0.1:$far: no key ($work/.config/poet/key); create one with poet key and copy the file to each host: tracing disabled
done"
poet key >/dev/null
POET_KEY_FILE=$work/other poet key >/dev/null
like "no such host" "$(at nowhere.invalid:1 | head -n 1)" \
    "^poet: poet://nowhere.invalid:1: .*: check the host name and port, or use the host's address: tracing disabled$"
like "no such way" "$(at unknown://host | head -n 1)" "^poet: unknown://host: .*: tracing disabled$"
like "in the clear" "$(at tcp:127.0.0.1:$far | head -n 1)" "^poet: tcp:127.0.0.1:$far: unencrypted connections are not supported; .*: tracing disabled$"
is "each of these in one line" "$(for at in nowhere.invalid:1 unknown://host tcp:127.0.0.1:1; do at $at; done | wc -l)" 6
is "and no agent stays" "$(agents)$(ls "$work/state/poet/agent" 2>/dev/null)" 0
like "no agent to be found" "$(POET_SERVER_PROGRAM=/nowhere at 127.0.0.1:$far | head -n 1)" "^poet: an agent is needed and poet-server was not found: tracing disabled"

# ---- early ----
said=$(POET_RUN=early at 127.0.0.1:$far)
like "nobody there: the program runs, and it is said where its events are kept" "$said" \
    "^poet: poet://127.0.0.1:$far: no server is listening; start: poet server --listen poet://127.0.0.1:$far; events are kept in $work/state/poet/agent/.* until it is reachable$"
is "in one line" "$(echo "$said" | wc -l)" 2
is "its agent waits" "$(agents)" 1
took() { [ "$(figure "$(left)" events)" -gt 500 ]; } # the program does not wait for ever
until_true took
agent=$(own_processes poet-server)
kill -KILL $agent
gone() { ! kill -0 $agent 2>/dev/null; }
until_true gone
rm "$work/run"/agent-*.sock
is "the agent was killed: its journal is there" "$(left | wc -l)" 1
cp "$(left)" early.poet
POET_RUN=second at 127.0.0.1:$far >/dev/null # its agent finds what the first has left
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
pids="$pids $!"
until_true ended early
check "what was early comes later, though its agent was killed" sound "$(begins early)"
until_true ended second
check "so does what another one recorded meanwhile" sound "$(begins second)"
poet merge early.poet -o merged.poet
is "nothing is missing, nothing twice" "$(poet dump "$(begins early)" | cksum)" "$(poet dump merged.poet | cksum)"
[ "$(figure merged.poet events)" -gt 500 ] || not_ok "there was something"
until_true none_left
is "then the agents end" "$(agents)" 0
is "and nothing is left" "$(left)" ""

# ---- one agent for a run ----
POET_RUN=job POET_SERVER=127.0.0.1:$far ./work a b c d >/dev/null 2>said
is "a server that is there: nothing is said" "$(cat said)" ""
until_true ended job
is "five programs, each started by the one before" "$(poet stat "$(begins job)" | grep -c '^program')" 5
check "are one run, and sound" sound "$(begins job)"
is "by one agent" "$(grep -c 'the agent of .* connected' server.log)" 2
POET_SERVER=127.0.0.1:$far ./work a b >/dev/null 2>&1
until_true ended work
is "also where nobody named the run" "$(poet stat "$(begins work)" | grep -c '^program')" 3
export WAIT_FOR="$work/many.go" # none of them ends before all are there: the run, and its agent, might end with it
programs=
for i in 1 2 3 4 5 6 7 8; do
    POET_RUN=many POET_SERVER=127.0.0.1:$far ./work >/dev/null 2>&1 &
    programs="$programs $!"
done
all_there() { poet runs --json "unix:$work/server.sock" | grep '"many"' | grep -q '"connected":8'; }
until_true all_there
touch "$WAIT_FOR"
unset WAIT_FOR
# shellcheck disable=SC2086 # some processes
wait $programs
until_true ended many
is "eight at once" "$(poet stat "$(begins many)" | grep -c '^program')" 8
is "have one agent, too" "$(grep -c 'the agent of .* connected' server.log)" 4
check "and are sound" sound "$(begins many)"
POET_RUN=file POET_OUTPUT=file.poet at 127.0.0.1:$far >/dev/null
check "POET_OUTPUT is a server of its own all the same" sound file.poet

# ---- which task was on which thread ----
cat >moves.c <<'C'
#include <poet.h>
POET_RUNTIME("ucpp");
int main(void)
{
    poet_line_t task = poet_task("task", "mover", 0);
    poet_worker_thread("first", "left");
    poet_task_switch(task);
    poet_event(task, poet_type("create", 0), 0, 0);
    poet_event(0, poet_type("start", 0), 0, 0);
    poet_event(0, poet_type("end", 0), 0, 0);
    poet_task_switch(0);
    return 0;
}
C
poetcc -trace -g moves.c -o moves
POET_OUTPUT=moves.poet ./moves 2>/dev/null
until_true finished moves.poet
POET_SERVER=127.0.0.1:$far ./moves
until_true ended moves
stays() { poet states --placement "$1" 2>/dev/null | awk '$1 == "first" { print $1, $2, $3 }'; }
is "is known of what came by an agent, too" "$(stays "$(begins moves)")" "$(stays moves.poet)"
like "(there was one)" "$(stays moves.poet)" "^first left"

like "no report is made by an agent, and that is said once" "$(POET_REPORT=page.pdf POET_RUN=report POET_SERVER=127.0.0.1:$far ./work a b 2>&1 | grep POET_REPORT)" \
    "^poet: POET_REPORT: an agent makes no report, as it has a part of the run alone: when it has ended, poet report of the server's$"
is "(once)" "$(POET_REPORT=1 POET_RUN=report POET_SERVER=127.0.0.1:$far ./work a b 2>&1 | grep -c POET_REPORT)" 1

# ---- another key ----
like "another key" "$(POET_RUN=strange POET_KEY_FILE=$work/other at 127.0.0.1:$far)" \
    "^poet: poet://127.0.0.1:$far: key mismatch: .*the key file must be a copy of the server's .*; events are kept in "
cp .config/poet/key other
until_true ended strange
check "once it is the same, all comes" sound "$(begins strange)"
done_testing
