#!/bin/bash
# Rows of the viewer: pinning, search, height; deadlocks in the diagram.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- a deadlock is drawn red and labeled in every output ----
cat >crossed.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *work(void *a)
{
    pthread_mutex_t *first = a ? &left : &right, *second = a ? &right : &left;
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(second);
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 3);
    pthread_create(&t[0], 0, work, 0);
    pthread_create(&t[1], 0, work, &both);
    pthread_barrier_wait(&both);
    pthread_join(t[0], 0);
}
C
poetcc -trace -g crossed.c -o crossed
POET_OUTPUT=crossed.poet ./crossed &
crossed=$!
pids="$pids $crossed"
disown $crossed
until_true sh -c 'poet blocked crossed.poet | grep -q "^DEADLOCK"'
kill -KILL $crossed
until_true finished crossed.poet
is "poet show labels both requests of the deadlock" "$(poet show crossed.poet | grep -c 'requests M:[a-z]*, in a deadlock$')" 2
check "poet export writes an SVG of the deadlock" poet export crossed.poet -o crossed.svg
like "the SVG's legend has the deadlock" "$(cat crossed.svg)" 'in a deadlock'
is "the SVG draws red dashed lines from the threads to the locks" "$(grep -c 'stroke:rgb(75%,0%,10%).*stroke-dasharray:5,3' crossed.svg)" 2
is "the SVG's legend shows the arrows" "$(grep -c 'fill:rgb(35%,35%,35%)' crossed.svg)" 2
poet show crossed.poet --color=always >coloured
like "poet show colors the deadlock on a terminal" "$(cat coloured)" '38;5;161m'
poet export crossed.poet -o begin.svg --from 1:1 --to 1:2
is "a part of the run without the deadlock does not mention it" "$(grep -c 'in a deadlock' begin.svg)" 0

# ---- the viewer: rows ----
cat >many.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    char name[16];
    int i = (int)(long)a;
    snprintf(name, sizeof name, "%s-%d", i % 8 ? "worker" : "Boss", i);
    pthread_setname_np(pthread_self(), name);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return a;
}
int main(void)
{
    pthread_t t[40];
    for (long i = 0; i < 40; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 40; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -g many.c -o many
POET_OUTPUT=many.poet ./many
until_true finished many.poet

. "$root/tests/e2e/display.sh"
# The viewer executes what is written, one round after the other; keys and clicks come in between.
rounds() {
    for i in $(seq 1500); do
        printf 'await go%d\nstate selection told\nstate positions spots%d\nstate rows rows%d\nawait read%d\n' $i $i $i $i
    done
    echo quit
}
round=0
look() {
    [ $round -gt 0 ] && touch read$round
    round=$((round + 1))
    touch go$round
    until_true test -s rows$round
}
eventually() { # eventually NAME COMMAND...: repeats the command until it succeeds
    name=$1
    shift
    for pause in 0.1 0.1 0.2 0.2 0.5 0.5 1 1 1 2 2 2 5 5 5 10 10 10; do # a key may take a while
        look
        "$@" && { ok "$name"; return; }
        sleep $pause
    done
    not_ok "$name" "$(head -n 8 rows$round)"
}
key() { xdotool key --window "$w" "$@"; }
spot() { sed -n "s/^$1 $2 //p" spots$round; }
figure_of() { sed -n "1s/.* $1 \([^ ]*\).*/\1/p" rows$round; }
nth() { sed -n "$(($1 + 1))p" rows$round; }
mark() { grep -c " $1\$\| $1 " rows$round; }

{ echo 'action time 0; action end'; echo 'action start'; rounds; } >script
poet view many.poet --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the viewer opens a window" until_true shown '^many$'
w=$(window '^many$')
look
last=$(tail -n 1 rows1 | cut -d' ' -f1)

# Pinned rows: by the menu's action and by a key; they stay in view during scrolling.
first=$(nth 1 | cut -d' ' -f1)
event=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | grep -v "^$first:" | head -n 1)
line=${event%%:*}
xdotool mousemove --window "$w" $(spot event "$event") click 1
is_selected() { tail -n 1 told | grep -q " selected $event "; }
eventually "a click selects an event of the row" is_selected
key k
is_pinned() { nth 1 | grep -q "^$line .* pinned$" && [ "$(figure_of pinned)" = 1 ]; }
eventually "a key pins the row to the top" is_pinned
y=$(nth 1 | cut -d' ' -f3)
key Escape
for _ in 1 2 3 4 5 6; do key shift+Down; done
scrolled() { [ "$(figure_of rise)" != 0.0 ] && nth 1 | grep -q "^$line .* $y pinned$"; }
eventually "the pinned row does not scroll" scrolled
windows() { xdotool search --onlyvisible --name '.*' 2>/dev/null | wc -l; }
before=$(windows)
xdotool mousemove --window "$w" $(spot name "$line") click 3
opened() { [ "$(windows)" -gt "$before" ]; }
check "the row's menu opens" until_true opened
key Down Return
unpinned() { [ "$(figure_of pinned)" = 0 ]; }
eventually "the row's menu unpins it" unpinned
key ctrl+z
eventually "undo pins the row again" is_pinned

# Search of rows by name.
key ctrl+r
look
xdotool type --window "$w" boss-3
found() { [ "$(mark found)" = 1 ] && grep -q '^[0-9]* T:Boss-32 [0-9]* found$' rows$round; }
eventually "the search of rows ignores case" found
at=$(sed -n 's/^[0-9]* T:Boss-32 \([-0-9]*\) found$/\1/p' rows$round)
check "the found row is scrolled into view" test "$at" -gt 0 -a "$at" -lt "$(figure_of canvas)"
key ctrl+a
xdotool type --window "$w" 'boss*'
found_5() { [ "$(mark found)" = 5 ]; }
eventually "a pattern with * matches the whole name" found_5
key Return
key Escape
left() { [ "$(mark found)" = 0 ]; }
eventually "Escape closes the search of rows" left
key ctrl+r
look
xdotool type --window "$w" 'absent'
eventually "the search of rows has no match for an unknown name" left
key Escape

# All rows of the whole run.
key asterisk
fits() { [ "$(tail -n 1 rows$round | sed 's/ pinned//; s/.* //')" -lt "$(figure_of canvas)" ] && [ "$(figure_of rise)" = 0.0 ]; }
eventually "the overview fits all rows" fits
is "the overview has the pinned row and all others" "$(figure_of pinned) $(($(wc -l <rows$round) - 1))" "1 $(sed -n '1s/rows \([0-9]*\) .*/\1/p' rows1)"
kill $viewer

# A few rows grow, up to twice their height; a view keeps the pinned ones.
left=$(sed -n 's/.*>M:left: acquired (\([0-9]*\):.*/\1/p' crossed.svg)
cat >few <<S
state rows few0
action pin-line $left
action save-view few.view
state rows few1
quit
S
poet view crossed.poet --script few >log 2>&1
high() { sed -n '1s/.* high \([0-9]*\).*/\1/p' $1; }
check "a few rows are higher, at most twice" test "$(high few0)" -gt "$(high rows1)" -a "$(high few0)" -le $((2 * $(high rows1) + 1))
is "the viewer keeps a row pinned" "$(sed -n 2p few1 | cut -d' ' -f1,2,4)" "$left M:left pinned"
like "the saved view has the pinned row" "$(tr -d '\n ' <few.view)" 'kind="mutex";name="left";pinned=true;'
check "poet export draws the saved view" poet export crossed.poet --view few.view -o few.txt
like "the exported view has the pinned row on top" "$(head -n 1 few.txt)" '^M:left '
done_testing
