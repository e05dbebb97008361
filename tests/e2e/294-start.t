#!/bin/bash
# What a program waits for at its start: the server keeps the kernel's records of context switches ready while no program
# runs, and checks a description again only if its text is another one.
. "$(dirname "$0")/lib.sh"
echo 'int main(void) { return 0; }' >true.c
poetcc -trace true.c -o true || exit 1
export POET_QUIET=1
# events_of PID: how many perf events a process has open
events_of() { ls -l "/proc/$1/fd" | grep -c 'anon_inode:\[perf_event\]'; }
has_events() { [ "$(events_of "$1")" = "$2" ]; }
has_ended() { [ "$(poet runs | grep -c ' ended ')" = "$1" ]; }

start_server -o runs/
kept=$server
./true
until_true has_ended 1
if poet states latest 2>&1 | grep -q 'perf_event_open. is not available'; then
    skip "perf_event_open is not permitted"
else
    check "between programs the server has one event open" until_true has_events "$kept" 1
fi
stop_server
POET_PERF=off start_server -o off/
is "POET_PERF=off: it has none" "$(events_of "$server")" 0
stop_server

start_server -o texts/
./true
until_true has_ended 1
installed=$(find -L "$B/share" "$root/config" -name pthread.conf 2>/dev/null | head -n 1)
mkdir -p .config/poet
{ cat "$installed"; echo 'events: ( { nonsense: 1 } )'; } >.config/poet/pthread.conf
./true
until_true has_ended 2
complaints() { grep -c 'pthread:[0-9]*: ' server.log; }
like "a description that has changed is checked again" "$(complaints)" '^[1-9]'
before=$(complaints)
rm .config/poet/pthread.conf
./true
until_true has_ended 3
is "the one before is valid still" "$(complaints)" "$before"
stop_server
done_testing
