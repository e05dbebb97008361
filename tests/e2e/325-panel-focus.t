#!/bin/bash
# The event panel: it begins at its top while no event is selected, and the focus goes to the diagram, not to the nearest
# row or button, when the part of the panel that has it is hidden.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
cat >queue.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t narrow = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&narrow);
        nanosleep(&(struct timespec){0, 10000000}, 0);
        pthread_mutex_unlock(&narrow);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
}
C
poetcc -trace -g queue.c -o queue
POET_OUTPUT=queue.poet ./queue
until_true finished queue.poet

# (more rounds than fit into a minute)
for i in $(seq 2000); do printf 'await go%d\nstate focus focus; state selection selection; state panel panel%d\n' $i $i; done >script
: >focus
poet view queue.poet --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the window opens" until_true shown '^queue$'
focus '^queue$'
round=0
told_all() { [ "$(wc -l <focus)" -ge "$round" ] && [ "$(wc -l <selection)" -ge "$round" ] && [ -s panel$round ]; }
look() { # sets $state to what has the focus, what is selected, and the first label of the panel
    round=$((round + 1))
    touch go$round
    until_true told_all
    state="$(tail -n 1 focus) $(tail -n 1 selection | grep -o ' selected [^ ]*') panel $(head -n 1 panel$round)"
}
is_so() {
    look
    printf '%s\n' "$state" | grep -Eq -- "$1"
}
by_key() { # by_key NAME KEY PATTERN
    xdotool key "$2"
    until_true is_so "$3" && ok "$1" || not_ok "$1" "$state"
}
is_elsewhere() { look && [ "${state%% panel*}" != "$before" ]; }
tab_to() { # presses Tab until the pattern matches, at most 30 times
    for _ in $(seq 30); do
        before=${state%% panel*}
        xdotool key Tab
        until_true is_elsewhere
        printf '%s\n' "$state" | grep -Eq -- "$1" && return
    done
    echo "# Tab never led to $1: $state"
    return 1
}
canvas='^focus GtkDrawingArea '
look
like "the key findings are shown" "$state" ' panel Key findings'
check "they begin at the top of the panel" test "$(pixels colors '^queue$' 300x26+960+80)" -gt 3
again xdotool key ctrl+f -- is_so '^focus GtkText ' # the first key may be lost
by_key "ctrl+f moves the focus to the search of events" ctrl+f '^focus GtkText '
by_key "Escape there moves it to the diagram, and shows the key findings" Escape "$canvas.* selected none panel Key findings"
check "Tab reaches a key finding" tab_to '^focus GtkListBoxRow '
by_key "the next Tab leaves the list of them" Tab '^focus GtkScale '
check "Tab reaches it again" tab_to '^focus GtkListBoxRow '
by_key "Enter there selects its event, and gives the focus to the diagram" Return "$canvas.* selected [1-9].* panel Partner"
check "Tab reaches the buttons for the selected event" tab_to '^focus GtkButton .* selected [1-9].* panel Partner'
by_key "if these are hidden, the focus goes to the diagram" ctrl+z "$canvas.* selected none panel Key findings"
by_key "where Right selects an event" Right "$canvas.* selected [1-9].* panel Partner"
is "the viewer prints no warnings" "$(grep -Ec 'CRITICAL|WARNING' log)" 0
kill $viewer
wait $viewer 2>/dev/null
done_testing
