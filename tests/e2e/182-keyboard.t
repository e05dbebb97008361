#!/bin/bash
# Keyboard of the viewer: Escape closes pages of the drawer, and keys reach the diagram afterwards. Of several
# keys pressed before the server has answered, the last one determines the diagram.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
cat >few.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static sem_t s[2];
static void *answer(void *a)
{
    for (int i = 0; i < 5; i++) { sem_wait(&s[0]); sem_post(&s[1]); }
    return a;
}
int main(void)
{
    pthread_t t;
    sem_init(&s[0], 0, 0);
    sem_init(&s[1], 0, 0);
    pthread_create(&t, 0, answer, 0);
    for (int i = 0; i < 5; i++) { sem_post(&s[0]); sem_wait(&s[1]); }
    usleep(20000);
    pthread_join(t, 0);
}
C
poetcc -trace -g few.c -o few
POET_OUTPUT=few.poet ./few
until_true finished few.poet

# (more rounds than fit into a minute)
rounds() { for i in $(seq 2000); do printf 'await go%d\nstate selection told\n' $i; done; }
{ printf '%s\n' 'action time 0; action end' 'action start' 'await time' 'action time 5'; rounds; } >script
: >told
poet view few.poet --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the window opens" until_true shown '^few$'
w=$(window '^few$')
focus '^few$'
key() { xdotool key --window "$w" "$@"; }
round=0
told_more() { [ "$(wc -l <told)" -gt "$before" ]; }
tells() { # waits for the next state, which must match
    before=$(wc -l <told)
    round=$((round + 1))
    touch go$round
    until_true told_more
    tail -n 1 told | grep -q -- "$1"
}
by_key() { # NAME KEY PATTERN: presses the key, again if it was lost
    again key "$2" -- tells "$3" && ok "$1" || not_ok "$1" "$(tail -n 1 told)"
}
touch time
by_key "alt+a opens the page of waits" alt+a ' drawer waits '
by_key "alt+s opens the page of states by time" alt+s ' drawer states '
by_key "Escape closes the drawer" Escape ' drawer none '
by_key "F6 opens the drawer" F6 ' drawer states '
by_key "F6 closes the open drawer" F6 ' drawer none '
by_key "Right selects an event in the diagram" Right ' selected [1-9]'
by_key "alt+a opens the page of waits while an event is selected" alt+a ' drawer waits '
by_key "alt+s replaces the page of waits by that of states" alt+s ' drawer states '
by_key "ctrl+z reaches the diagram from the page of states" ctrl+z ' selected none '
by_key "Escape closes the drawer after ctrl+z" Escape ' drawer none '
is "the viewer prints no warnings" "$(grep -Ec 'CRITICAL|WARNING' log)" 0
kill $viewer
wait $viewer 2>/dev/null

# ---- view by time before the whole run by order has arrived ----
start_server -o again.poet -q
./few
until_true finished again.poet
{ printf '%s\n' 'action time 0; action end' 'action start' 'await ready' 'state selection begun'
    for i in $(seq 2000); do printf 'await seen%d\nstate overview-bands strips\nstate selection looked\n' $i; done; } >script
: >looked
poet view "unix:$XDG_RUNTIME_DIR/poet.sock" --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the window on the server opens" until_true shown '^few'
w=$(window '^few')
focus '^few'
touch ready
until_true test -s begun
server_pid=$(own_processes poet-server)
stop_process $server_pid
before=$(picture '^few')
changed() { [ "$(picture '^few')" != "$before" ]; }
key asterisk
until_true changed
before=$(picture '^few')
key t
until_true changed
kill -CONT $server_pid
seen=0
has_looked() { [ "$(wc -l <looked)" -ge $seen ]; }
by_time() {
    seen=$((seen + 1))
    touch seen$seen
    until_true has_looked
    grep '^strips ' strips 2>/dev/null | tail -n 1 | grep -q '^strips by time'
}
until_true by_time
like "view by time before the run has arrived: the range is in ns" "$(grep '^strips ' strips | tail -n 1)" '^strips by time, -?[0-9]+ to [0-9]{8,},'
kill $viewer
wait $viewer 2>/dev/null
stop_server
done_testing
