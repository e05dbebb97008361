#!/bin/bash
# A program with a remote POET_SERVER starts one agent for all processes of its run: configuration errors are
# reported and do not stop the program; events recorded before the server listens are forwarded later.
. "$(dirname "$0")/lib.sh"

far=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
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
/* work NAME MORE...: the threads of each program do the same; a program starts the next one and waits for it */
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
begins() { # begins NAME: the first file of this run on the server
    ls served/"$1"-*.poet 2>/dev/null | head -n 1
}
ended() { [ -n "$(begins "$1")" ] && finished "$(begins "$1")"; }
none_left() { [ "$(agents)" = 0 ]; }
left() { ls "$work/state/poet/agent/"*"$far"/*.poet 2>/dev/null; }

# ---- configuration errors ----
is "missing key: the error says how to create one, and the program continues" "$(at 127.0.0.1:$far)" \
    "poet: poet://127.0.0.1:$far: no key ($work/.config/poet/key); create one with poet key and copy the file to each host: tracing disabled
done"
poet key >/dev/null
POET_KEY_FILE=$work/other poet key >/dev/null
like "unknown host: the error says to check the name" "$(at nowhere.invalid:1 | head -n 1)" \
    "^poet: poet://nowhere.invalid:1: .*: check the host name and port, or use the host's address: tracing disabled$"
like "unknown protocol: the error says that tracing is disabled" "$(at unknown://host | head -n 1)" "^poet: unknown://host: .*: tracing disabled$"
like "unencrypted remote address: the error says that it is not supported" "$(at tcp:127.0.0.1:$far | head -n 1)" "^poet: tcp:127.0.0.1:$far: unencrypted connections are not supported; .*: tracing disabled$"
is "configuration errors: two lines each" "$(for at in nowhere.invalid:1 unknown://host tcp:127.0.0.1:1; do at $at; done | wc -l)" 6
is "configuration errors: no agent remains" "$(agents)$(ls "$work/state/poet/agent" 2>/dev/null)" 0
like "missing poet-server program: the error says that an agent is needed" "$(POET_SERVER_PROGRAM=/nowhere at 127.0.0.1:$far | head -n 1)" "^poet: an agent is needed and poet-server was not found: tracing disabled"

# ---- events recorded before the server listens ----
said=$(POET_RUN=early at 127.0.0.1:$far)
like "no server is listening: the program runs, and the message says where events are kept" "$said" \
    "^poet: poet://127.0.0.1:$far: no server is listening; start: poet server --listen poet://127.0.0.1:$far; events are kept in $work/state/poet/agent/.* until it is reachable$"
is "no server is listening: the message has two lines" "$(echo "$said" | wc -l)" 2
is "no server is listening: the agent waits" "$(agents)" 1
took() { [ "$(figure "$(left)" events)" -gt 500 ]; } # the program does not wait forever
until_true took
agent=$(own_processes poet-server)
kill -KILL $agent
gone() { ! kill -0 $agent 2>/dev/null; }
until_true gone
rm "$work/run"/agent-*.sock
is "the journal of a killed agent remains" "$(left | wc -l)" 1
cp "$(left)" early.poet
POET_RUN=second at 127.0.0.1:$far >/dev/null # its agent forwards the leftover journal of the first
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
pids="$pids $!"
until_true ended early
check "events of the killed agent arrive once the server listens" sound "$(begins early)"
until_true ended second
check "events of a second run arrive once the server listens" sound "$(begins second)"
poet merge early.poet -o merged.poet
is "the forwarded run is equal to the merged journal" "$(poet dump "$(begins early)" | cksum)" "$(poet dump merged.poet | cksum)"
[ "$(figure merged.poet events)" -gt 500 ] || not_ok "the forwarded run has more than 500 events"
until_true none_left
is "agents exit when everything is forwarded" "$(agents)" 0
is "no journal remains after everything is forwarded" "$(left)" ""

# ---- one agent per run ----
POET_RUN=job POET_SERVER=127.0.0.1:$far ./work a b c d >/dev/null 2>said
is "with a server that listens programs print nothing" "$(cat said)" ""
until_true ended job
is "a run of five programs, each started by the one before, contains all five" "$(poet stat "$(begins job)" | grep -c '^program')" 5
check "the run of five programs passes poet check" sound "$(begins job)"
is "the run of five programs has one agent" "$(grep -c 'the agent of .* connected' server.log)" 2
POET_SERVER=127.0.0.1:$far ./work a b >/dev/null 2>&1
until_true ended work
is "programs started by one another share a run without POET_RUN" "$(poet stat "$(begins work)" | grep -c '^program')" 3
export WAIT_FOR="$work/many.go" # no program exits before all are connected: the run and its agent could end with it
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
is "the run of eight programs started at once contains all eight" "$(poet stat "$(begins many)" | grep -c '^program')" 8
is "the run of eight programs has one agent" "$(grep -c 'the agent of .* connected' server.log)" 4
check "the run of eight programs passes poet check" sound "$(begins many)"
POET_RUN=file POET_OUTPUT=file.poet at 127.0.0.1:$far >/dev/null
check "POET_OUTPUT takes precedence over a remote POET_SERVER" sound file.poet

# ---- task placement ----
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
is "task placement is the same through an agent as in a local trace" "$(stays "$(begins moves)")" "$(stays moves.poet)"
like "the local trace has task placement" "$(stays moves.poet)" "^first left"

like "POET_REPORT with an agent: an error says that no report is made" "$(POET_REPORT=page.pdf POET_RUN=report POET_SERVER=127.0.0.1:$far ./work a b 2>&1 | grep POET_REPORT)" \
    "^poet: POET_REPORT: an agent has only a part of the run; run poet report on the server's host$"
is "POET_REPORT with an agent: the error is printed once" "$(POET_REPORT=1 POET_RUN=report POET_SERVER=127.0.0.1:$far ./work a b 2>&1 | grep -c POET_REPORT)" 1

# ---- a key that does not match ----
like "key mismatch: the error says so" "$(POET_RUN=strange POET_KEY_FILE=$work/other at 127.0.0.1:$far)" \
    "^poet: poet://127.0.0.1:$far: key mismatch: .*the key file must be a copy of the server's .*; events are kept in "
cp .config/poet/key other
until_true ended strange
check "key mismatch: events arrive once the keys match" sound "$(begins strange)"
done_testing
