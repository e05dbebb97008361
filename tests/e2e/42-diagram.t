#!/bin/bash
# Words and arrows of the diagram: the waker of each wake-up, states of threads between marks, labels of marks, notes.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- a lost wake-up: one thread is woken without the lock, two wait forever ----
cat >hang.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static volatile int waiting, given; /* read without the lock, for the number of waiters only */
static void *taker(void *a)
{
    pthread_mutex_lock(&lock);
    waiting++;
    while (!given)
        pthread_cond_wait(&more, &lock);
    given--;
    pthread_mutex_unlock(&lock);
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[i], 0, taker, 0);
        while (waiting <= i) usleep(1000);
        pthread_mutex_lock(&lock); /* the wait releases it */
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    given = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&more);
    while (given) /* until it is consumed */
        usleep(1000);
    usleep(20000);
    _exit(0);
}
C
poetcc -trace -g hang.c -o hang
POET_OUTPUT=hang.poet ./hang
until_true finished hang.poet
poet show hang.poet --last 30 --footnotes >hang.txt
like "poet show pairs the signal with the wake-up" "$(cat hang.txt)" '^1:[0-9]+ T:main: signals, before [0-9]+:[0-9]+ T:taker[#0-9]*: woken$'
is "poet show: two blocked threads, with condition variable and mutex" "$(grep -c '^T:taker[#0-9]*: waits on CV:more, in M:lock$' hang.txt)" 2
like "poet show draws the wait in the rows of blocked threads" "$(grep '^T:taker' hang.txt)" '╍╍╍'
like "poet show numbers threads of the same name" "$(sed -n 's/^\(T:[^ ]*\) .*/\1/p' hang.txt | tr '\n' ' ')" 'T:taker T:taker#2 T:taker#3 '
is "poet show prints no addresses" "$(grep -c '(0x' hang.txt)" 0
like "poet show --labels address prints addresses" "$(poet show hang.poet --labels address)" 'T:taker \(0x[0-9a-f]+\)'
check "poet export --lines selects a row by its number among equal names" poet export hang.poet -o row.txt --lines 'taker#2'
is "poet export --lines NAME#2 exports one thread only" "$(grep -c '^T:[^:]*  ' row.txt)" 1
poet export hang.poet -o hang.pdf --last 30
pdftotext -layout hang.pdf hang.words
like "the PDF labels blocked threads in their rows" "$(cat hang.words)" 'waits on CV:more'
like "the PDF labels the mark of a thread with its name" "$(cat hang.words)" '^ .* taker(#[23])?( |$)'
for words in 'locks' 'lock request' 'acquires, releases' 'thread is inside an object' \
    'thread is blocked inside that object' 'happens before: wake-up, create, join'; do
    like "the PDF's legend: $words" "$(cat hang.words)" "$words"
done
is "the PDF has no addresses" "$(grep -c '(0x' hang.words)" 0

# ---- without the dotted arrows nothing else changes ----
poet export hang.poet -o with.txt
poet export hang.poet -o without.txt --no-order-arrows
is "--no-order-arrows: the text has no arrows" "$(grep -c ', before ' without.txt)" 0
is "--no-order-arrows: nothing else of the text changes" "$(grep -v ', before ' with.txt | md5sum)" "$(md5sum <without.txt)"
poet export hang.poet -o with.svg --no-legend
poet export hang.poet -o without.svg --no-legend --no-order-arrows
is "--no-order-arrows: the SVG has the same size" "$(grep -o '<svg[^>]*' with.svg)" "$(grep -o '<svg[^>]*' without.svg)"
check "--no-order-arrows: the SVG differs" test "$(md5sum <with.svg)" != "$(md5sum <without.svg)"

# ---- the wait for a lock with a hidden line ----
like "a wait is labeled where the line of its object is not shown" "$(poet show hang.poet --lines 'main,taker*')" '^T:taker#[23]: waits on CV:more, in M:lock'

# ---- exited threads, semaphores, once ----
cat >ends.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t go;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void first(void) { sem_post(&go); }
static void *work(void *a) { pthread_once(&once, first); sem_wait(&go); sem_post(&go); return a; }
int main(void)
{
    pthread_t t[2];
    sem_init(&go, 0, 0);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g ends.c -o ends
POET_OUTPUT=ends.poet ./ends
until_true finished ends.poet
poet show ends.poet --footnotes >ends.txt
like "poet show: creation of a thread" "$(cat ends.txt)" '^1:1 T:main: start, before [0-9:]+ T:work: created$'
like "poet show: exit and join of a thread" "$(cat ends.txt)" 'T:work: exits, before [0-9:]+ T:main: joined$'
like "poet show: post and acquisition of a semaphore" "$(cat ends.txt)" 'T:work[#2]*: posts a unit, before [0-9:]+ T:work[#2]*: acquires a unit$'
like "poet show: initializer of pthread_once, and a later call" "$(cat ends.txt)" 'T:work[#2]*: init done, before [0-9:]+ T:work[#2]*: already initialized$'
is "poet show draws nothing after the exit of a thread" "$(grep -c '^T:work.*■━*╌' ends.txt)" 0
# Each arrow is an order.
sed -n 's/^\([0-9]*:[0-9]*\) .*, before \([0-9]*:[0-9]*\) .*/\1 \2/p' hang.txt ends.txt >pairs
is "each arrow of poet show is an order of poet order" "$(
    for f in hang ends; do
        sed -n 's/^\([0-9]*:[0-9]*\) .*, before \([0-9]*:[0-9]*\) .*/\1 \2/p' $f.txt | poet order $f.poet -
    done | sort | uniq -c | grep -vc before)" 0

# ---- long notes stand once below the diagram ----
cat >several.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static volatile int waiting;
static int go;
static void *taker(void *a)
{
    pthread_mutex_lock(&lock);
    waiting++;
    while (!go) pthread_cond_wait(&more, &lock);
    pthread_mutex_unlock(&lock);
    return a;
}
static void *giver(void *a) { pthread_cond_broadcast(&more); return a; }
int main(void)
{
    pthread_t t[2], g;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, taker, 0);
    while (waiting < 2) usleep(1000);
    pthread_mutex_lock(&lock);
    pthread_create(&g, 0, giver, 0);
    pthread_join(g, 0);
    go = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g several.c -o several
POET_OUTPUT=several.poet ./several
until_true finished several.poet
poet export several.poet -o several.pdf
pdftotext -layout several.pdf several.words
is "a long note is printed once" "$(grep -c 'several signals are possible wakers' several.words)" 1
is "a long note has its number beside each mark" "$(grep -o 'taker[#2]* ?1' several.words | sort | tr '\n' ' ')" "taker ?1 taker#2 ?1 "

# ---- an old trace: drawn by the installed description, checked by the recorded one ----
mkdir old
sed 's/^version = .*/version = 1;/; s/ ends = true;//; s/ away = true;//; s/ arrow = "dotted";//; s/ show_thread_name = true;//' \
    "$root/config/pthread.conf" >old/pthread.conf
sed -i '/name = "wait";/,/}/s/ wait_class = "rendezvous";//; s/allowed_after_on_line = \["", "released", "wait", "timed_wait"\]/allowed_after_on_line = ["", "released"]/' old/pthread.conf
check "the old description is valid" poet check old/pthread.conf
POET_CONFIG="$work/old" POET_OUTPUT=old.poet ./hang
until_true finished old.poet
poet show old.poet >old.txt 2>old.err
is "an old trace: one notice names both versions of the description" "$(grep -c 'drawn by the installed version [0-9]* of the target description "pthread".*recorded with version 1' old.err)" 1
like "an old trace is drawn by the installed description" "$(cat old.txt)" 'T:taker[#0-9]*: waits on CV:more, in M:lock'
like "poet blocked of an old trace uses the installed description" "$(poet blocked old.poet 2>/dev/null)" 'waits on CV:more'
like "poet check of an old trace uses the recorded description" "$(poet check old.poet)" 'acquired must not follow wait'
is "a trace of the installed version gives no notice" "$(poet show hang.poet 2>&1 >/dev/null)" ""

# ---- the viewer: a switch of arrows that is saved ----
. "$root/tests/e2e/display.sh"
script() { timeout 300 poet view "$1" --script script >log 2>&1 || { cat log; return 1; }; }
printf 'action go 1:1\nstate scene on.scene\naction order-arrows\nstate scene off.scene\nquit\n' >script
check "the viewer's switch of arrows works on a file" script ends.poet
check "the viewer draws arrows at first" grep -q '^link order' on.scene
is "the viewer draws no arrows when they are off" "$(grep -c '^link order' off.scene)" 0
rest() { grep -v '^link order\|^note' "$1" | sed '1d; s/^\(scene [0-9.]*\) x [0-9.]*/\1/'; } # (the height is with the legend)
is "switching arrows off changes nothing else but the legend" "$(rest on.scene)" "$(rest off.scene)"
like "the viewer shows the legend at first" "$(cat on.scene)" '^note .*"locks|^note .*"threads"'
printf 'state scene again.scene\nquit\n' >script
check "the viewer starts again" script ends.poet
is "the viewer keeps the switch of arrows" "$(grep -c '^link order' again.scene)" 0
printf 'state status\nquit\n' >script
check "the viewer opens an old trace" script old.poet
like "the viewer says that an old trace is drawn by the installed description" "$(cat log)" 'drawn by the installed version [0-9]* of the target description'
done_testing
