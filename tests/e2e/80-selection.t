#!/bin/bash
# Selections of the analysis pane in the diagram and the other way round: waits and their sentence, functions and
# their bars, blocks that were not freed; and notes of the tabs.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
. "$root/tests/e2e/display.sh"

# Three threads in a ring, each segment with a function of its own: other threads wait for what is done in these functions.
cat >ring.c <<'C'
#define _GNU_SOURCE
#include "asleep.h"
#include <semaphore.h>
#include <stdlib.h>
#define NI __attribute__((no_instrument_function))
static sem_t s[3];
static struct sleeper at[3];
NI static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void a1(void) { until_asleep(&at[1], 1), nap(100); }
static void a2(void) { nap(60); }
static void a3(void) { about_to_wait(&at[0]), sem_wait(&s[0]); }
static void b2(void) { about_to_wait(&at[1]), sem_wait(&s[1]); }
static void b3(void) { until_asleep(&at[2], 1), nap(80); }
static void c2(void) { about_to_wait(&at[2]), sem_wait(&s[2]); }
static void c3(void) { until_asleep(&at[0], 1), nap(70); }
static void *one(void *a)
{
    pthread_setname_np(pthread_self(), "one");
    b2();
    b3();
    sem_post(&s[2]);
    return a;
}
static void *two(void *a)
{
    pthread_setname_np(pthread_self(), "two");
    c2();
    c3();
    sem_post(&s[0]);
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 3; i++) sem_init(&s[i], 0, 0);
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, two, 0); /* MADE */
    a1();
    sem_post(&s[1]);
    a2();
    a3();
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
C
poetcc -profile -g ring.c -o ring -pthread
POET_OUTPUT=ring.poet ./ring
until_true finished ring.poet
line() { grep -n -- "/\* $1 \*/" ring.c | cut -d: -f1; }

# ---- a wait described in one sentence ----
until=$(poet waits ring.poet --by wait --json | json 'rows | select(.location | first_word == "a3").end_event')
poet waits ring.poet --why "$until" --json >why.json
since=$(json 'first(rows).diverged_event' why.json)
is "waits --why: the paths diverged at a call site" \
    "$(json 'first(rows).diverged_location' why.json)" "main (ring.c:$(line MADE))"
is "waits --why: the paths diverged at the creation of the awaited thread" "$(poet dump --json ring.poet | grep "\"event\":\"$since\"" | grep -c '"type":"create"')" 1
charged() {
    json '.[] | select(.depth == 1).row | select(.segment | first_word == "'"$1"'").attributed_ns' why.json |
        awk '{ printf "%.1f", $1 / 1e6 }'
}
cat >script <<E
action select $until
state wait-cause
state status
quit
E
timeout 100 poet view ring.poet --script script >log 2>&1
said=$(sed -n 's/^reason: //p' log)
like "the sentence has the functions of the awaited threads with their attributions" "$said" \
    "^waited [0-9.]* ms for T:two: T:one b3 \(ring.c:[0-9]*\) $(charged b3) ms, c3 \(ring.c:[0-9]*\) $(charged c3) ms"
like "the sentence has the event at which the paths diverged, and its call" "$said" "; compared since $since at [0-9.]* .?s .thread creation., in main \(ring.c:$(line MADE)\); "
like "the sentence has the function that waited" "$said" "; waiting in a3 \(ring.c:[0-9]*\)$"

# ---- a selected function highlights bars by its share of time ----
cat >long.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#define NI __attribute__((no_instrument_function))
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
NI static void nap(int us)
{
    struct timespec t = {0, us * 1000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void common(void) { nap(500); }
static void early(void) { common(); }
static void late(void)
{
    nap(1500);
    common();
}
static void touch(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}
static void *worker(void *a)
{
    pthread_setname_np(pthread_self(), a ? "b" : "a");
    for (int i = 0; i < 150; i++) {
        i < 75 ? early() : late();
        touch();
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
poetcc -profile -g long.c -o long -pthread
POET_OUTPUT=long.poet ./long
until_true finished long.poet
row_of() { # row_of FUNCTION OPTION...: its row in poet calls
    name=$1
    shift
    poet calls long.poet --csv "$@" | tail -n +2 | grep -n "^\"*$name (" | head -n 1 | cut -d: -f1
}
cat >script <<E
action time 0; action end
action start
action show-calls
state overlay none
action select-row $(($(row_of early) - 1))
state table early
state overlay near
action undo
state table undone
state overlay undone.over
action redo
state table redone
state overlay redone.over
action select-row $(($(row_of late) - 1))
action fit
action zoom 0.01 600 300
action zoom 0.1 600 300
state overlay order
action time
state overview-bands strips
state overlay time
action select-row $(($(row_of common) - 1))
state overlay common
action calls-shape tree
action select-row $(($(row_of early --tree) - 1))
state overlay deep
action drawer
state overlay closed
quit
E
timeout 100 poet view long.poet --script script >log 2>&1
like "a function's row is selected" "$(grep '^\*' early)" "early \(long.c"
is "without a selection no bar is highlighted" "$(cat none)" ""
check "a selected function highlights bars of threads" grep -q '^lit [0-9]* [0-9.]* [0-9]* [0-9]*$' near
is "undo clears the highlight" "$(cat undone.over)" ""
is "undo clears the selected row" "$(grep -c '^\*' undone)" 0
is "redo restores both the highlight and the row" "$(cat redone.over; cat redone)" "$(cat near; cat early)"
check "the overview highlights bars of a selected function" grep -q '^lit [0-9]* [0-9.]*$' order
lasted() { # lasted FILE: the highlighted time of all rows in us, in the overview by time
    span=$(($(sed -n 's/.*by time, \([0-9]*\) to \([0-9]*\).*/\2 - \1/p' strips | tail -n 1)))
    awk -v span="$span" '$1 == "lit" && NF == 3 { sum += $3 } END { printf "%d\n", sum * span / 1e3 }' "$1"
}
took() { # took FUNCTION: its total time in us by poet calls
    poet calls long.poet --json | json 'row("'"$1"'").total_ns / 1e3 | floor'
}
near() { # near NAME GOT WANTED: at most two percent more (pixels, shares as bytes); on a busy machine somewhat less
    if [ $((100 * $2)) -lt $((102 * $3)) ] && [ $((100 * $2)) -gt $((85 * $3)) ]; then ok "$1"; else not_ok "$1" "got: $2" "wanted about: $3"; fi
}
near "highlights add up to the function's total time" "$(lasted time)" "$(took late)"
near "highlights of a function with several callers add up to its total time" "$(lasted common)" "$(took common)"
near "highlights of a tree node add up to its time below those callers" "$(lasted deep)" "$(took early)"
is "without the pane no bar is highlighted" "$(grep ^lit closed)" ""
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "the viewer logs no message" quiet

# ---- allocations that were not freed ----
cat >leak.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static sem_t s;
static void *volatile kept;
static void __attribute__((noinline)) keep(int bytes)
{
    kept = malloc(bytes);
    kept = NULL;
}
static void *worker(void *a)
{
    sem_post(&s);
    sem_post(&s); /* BEFORE */
    usleep(50000); /* longer than a tick of the coarse clock that stamps blocks */
    keep(1000);
    usleep(50000);
    sem_post(&s); /* AFTER */
    keep(500);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    sem_init(&s, 0, 0);
    if (argc > 1)
        free(malloc(10));
    else
        pthread_create(&t, NULL, worker, NULL), pthread_join(t, NULL);
}
C
poetcc -trace -g leak.c -o leak -pthread
poet record -m memory -o leak.poet ./leak 2>/dev/null
poet record -m memory -o clean.poet ./leak clean 2>/dev/null
until_true finished leak.poet
until_true finished clean.poet
leaks() { poet report --all $1 | sed -n '/^Memory not freed$/{n;p}'; }
like "report: the number of unfreed bytes and their largest caller" "$(leaks leak.poet)" \
    "2 blocks, 1500 bytes; largest leak: 2 blocks, 1500 bytes by T:worker, worker \(leak.c:[0-9]*\) > keep \(leak.c:[0-9]*\)"
like "report: no unfreed block" "$(leaks clean.poet)" "none of 1 block$"
is "report without heap data does not mention it" "$(leaks ring.poet)" ""
before=$(poet memory leak.poet --json | json '.[] | select(.row.function | first_word == "keep").event')
site() { grep -n "/\* $1 \*/" leak.c | cut -d: -f1; }
like "report: the row of unfreed blocks has the thread's last event before the first of them" "$(poet dump --json leak.poet | grep "\"event\":\"$before\"")" \
    "\"site\":\"[^\"]*:$(site BEFORE)\""
cat >script <<E
action show-memory
action select-row 0
state selection leaked
action undo
state selection leaked
quit
E
timeout 100 poet view leak.poet --script script >log 2>&1
like "a click on the row of unfreed blocks selects that event" "$(sed -n 1p leaked)" " selected $before "
like "undo clears that selection" "$(sed -n 2p leaked)" " selected none "
check "the viewer logs no message with heap data" quiet

# ---- without metrics ----
cat >script <<E
action show-memory
state curve empty
quit
E
timeout 100 poet view ring.poet --script script >log 2>&1
is "an empty tab of metrics has a tooltip and does not crash" "$? $(cat empty)" "0 "

# ---- notes and appearance of the tabs ----
cat >script <<E
action calls-shape icicle
action show-calls
state table boxes
quit
E
timeout 100 poet view ring.poet --script script >log 2>&1
like "the icicle selected before the tab was opened is shown" "$(cat boxes)" "a1 \(ring.c:"
like "memory --chart icicle: boxes have their figures" "$(poet memory leak.poet --tree --chart icicle)" "all  1500 bytes"

# ---- accessibility (AT-SPI) ----
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
    done_testing
    exit
fi
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1 launcher
reads() { # reads FILE READER: the output of the reader for the viewer, which a script drives
    timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
        $launcher --launch-immediately &
        until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
        poet view '"$1"' --script script & viewer=$!
        /usr/bin/python3 -uW ignore '"$2"'; kill $viewer %1' 2>log | grep -v '^SpiRegistry'
}
cat >sentence.py <<'P'
from atspi import until
print("sentence", bool(until(lambda a: a.get_name().startswith("waited ") and "; compared since " in a.get_name() and " in main (ring.c:" in a.get_name())))
P
printf 'action show-waits\naction select %s\n' "$until" >script
is "AT-SPI: the sentence of a selected wait can be read" "$(reads ring.poet sentence.py)" "sentence True"
cat >pages.py <<'P'
from atspi import until
print("total", bool(until(lambda a: a.get_name().startswith("Total: ") and "%" in a.get_name() and "% " not in a.get_name().split("self", 1)[1].split("%")[0])))
print("over", bool(until(lambda a: a.get_name().startswith("No program of this run is connected: "))))
P
printf 'action show-calls\nstate table shown\naction measure\n' >script
is "AT-SPI: a total has its share once; the measurement dialog of an ended run says that no program is connected" "$(reads ring.poet pages.py | tr '\n' ' ')" "total True over True "
cat >memory.py <<'P'
from atspi import until
print("given", bool(until(lambda a: a.get_name() == "All blocks were freed.")))
P
printf 'action show-memory\n' >script
is "AT-SPI: a run without unfreed blocks says so" "$(reads clean.poet memory.py)" "given True"
done_testing
