#!/bin/bash
# Rows: pinned, searched, as high as there is room; deadlocks and signals that woke nobody in pictures.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- a deadlock is drawn red, and said, wherever it is shown ----
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
is "two that wait for each other are said to" "$(poet show crossed.poet | grep -c 'requests M:[a-z]*, in a deadlock$')" 2
check "a picture of it" poet export crossed.poet -o crossed.svg
like "the legend says so" "$(cat crossed.svg)" 'in a deadlock'
is "who waits is tied in red to what it waits for" "$(grep -c 'stroke:rgb(75%,0%,10%).*stroke-dasharray:5,3' crossed.svg)" 2
is "the legend shows its arrows" "$(grep -c 'fill:rgb(35%,35%,35%)' crossed.svg)" 2
poet show crossed.poet --color=always >coloured
like "in a terminal, too" "$(cat coloured)" '38;5;161m'
poet export crossed.poet -o begin.svg --from 1:1 --to 1:2
is "where nothing of it is seen nothing is said" "$(grep -c 'in a deadlock' begin.svg)" 0

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
# The viewer does what is written, one round after the other; in between it is done to.
rounds() {
    for i in $(seq 1500); do
        printf 'await go%d\nstate told\nspots spots%d\nrows rows%d\nawait read%d\n' $i $i $i $i
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
eventually() { # NAME COMMAND...: looks again until it holds
    name=$1
    shift
    for pause in 0.1 0.1 0.2 0.2 0.5 0.5 1 1 1 2 2 2 5 5 5 10 10 10; do # a key may take its time
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

{ echo 'action start'; rounds; } >script
poet view many.poet --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "a window" until_true shown '^many$'
w=$(window '^many$')
look
last=$(tail -n 1 rows1 | cut -d' ' -f1)

# pinned: by the menu's action, by a key; they stay while one scrolls
first=$(nth 1 | cut -d' ' -f1)
event=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | grep -v "^$first:" | head -n 1)
line=${event%%:*}
xdotool mousemove --window "$w" $(spot event "$event") click 1
is_selected() { tail -n 1 told | grep -q " selected $event "; }
eventually "an event is selected" is_selected
key k
is_pinned() { nth 1 | grep -q "^$line .* pinned$" && [ "$(figure_of pinned)" = 1 ]; }
eventually "a key pins its row on top" is_pinned
y=$(nth 1 | cut -d' ' -f3)
key Escape
for _ in 1 2 3 4 5 6; do key shift+Down; done
scrolled() { [ "$(figure_of rise)" != 0.0 ] && nth 1 | grep -q "^$line .* $y pinned$"; }
eventually "others scroll, it does not" scrolled
windows() { xdotool search --onlyvisible --name '.*' 2>/dev/null | wc -l; }
before=$(windows)
xdotool mousemove --window "$w" $(spot name "$line") click 3
opened() { [ "$(windows)" -gt "$before" ]; }
check "it has a menu" until_true opened
key Down Return
unpinned() { [ "$(figure_of pinned)" = 0 ]; }
eventually "and does" unpinned
key ctrl+z
eventually "which can be undone" is_pinned

# searched by name
key ctrl+r
look
xdotool type --window "$w" boss-3
found() { [ "$(mark found)" = 1 ] && grep -q '^[0-9]* T:Boss-32 [0-9]* found$' rows$round; }
eventually "a row is found by its name, whether large or small" found
at=$(sed -n 's/^[0-9]* T:Boss-32 \([-0-9]*\) found$/\1/p' rows$round)
check "and seen, though it was far below" test "$at" -gt 0 -a "$at" -lt "$(figure_of canvas)"
key ctrl+a
xdotool type --window "$w" 'boss*'
found_5() { [ "$(mark found)" = 5 ]; }
eventually "with a * all of the name counts" found_5
key Return
key Escape
left() { [ "$(mark found)" = 0 ]; }
eventually "Escape leaves it" left
key ctrl+r
look
xdotool type --window "$w" 'nobody'
eventually "there may be none of the name" left
key Escape

# the whole run: all of its rows
key asterisk
fits() { [ "$(tail -n 1 rows$round | sed 's/ pinned//; s/.* //')" -lt "$(figure_of canvas)" ] && [ "$(figure_of rise)" = 0.0 ]; }
eventually "all rows fit" fits
is "and there they are" "$(figure_of pinned) $(($(wc -l <rows$round) - 1))" "1 $(sed -n '1s/rows \([0-9]*\) .*/\1/p' rows1)"
kill $viewer

# few rows grow, up to twice their height; a view keeps which are pinned
left=$(sed -n 's/.*>M:left: acquired (\([0-9]*\):.*/\1/p' crossed.svg)
cat >few <<S
rows few0
action pin-line $left
view few.view
rows few1
quit
S
poet view crossed.poet --script few >log 2>&1
high() { sed -n '1s/.* high \([0-9]*\).*/\1/p' $1; }
check "few rows are higher" test "$(high few0)" -gt "$(high rows1)" -a "$(high few0)" -le $((2 * $(high rows1) + 1))
is "one was pinned" "$(sed -n 2p few1 | cut -d' ' -f1,2,4)" "$left M:left pinned"
like "and it is so in the view" "$(tr -d '\n ' <few.view)" 'kind="mutex";name="left";pinned=true;'
check "a picture of the view" poet export crossed.poet --view few.view -o few.txt
like "has it on top" "$(head -n 1 few.txt)" '^M:left '
done_testing
