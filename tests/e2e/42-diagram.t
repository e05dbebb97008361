#!/bin/bash
# What a picture says of who woke whom, where threads are meanwhile, and whose marks are whose.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- a wake-up that is lost: one is woken from outside of the lock, two wait for ever ----
cat >hang.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static volatile int waiting, given; /* looked at without the lock: how often is no matter of the trace */
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
        pthread_mutex_lock(&lock); /* which it gives back when it waits */
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    given = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&more);
    while (given) /* until it is taken */
        usleep(1000);
    usleep(20000);
    _exit(0);
}
C
poetcc -trace -g hang.c -o hang
POET_OUTPUT=hang.poet ./hang
until_true finished hang.poet
poet show hang.poet --last 30 --footnotes >hang.txt
like "who woke whom" "$(cat hang.txt)" '^1:[0-9]+ T:main: signals, before [0-9]+:[0-9]+ T:taker[#0-9]*: woken$'
is "who waits for ever, for what and where" "$(grep -c '^T:taker[#0-9]*: waits on CV:more, in M:lock$' hang.txt)" 2
like "their rows are not empty" "$(grep '^T:taker' hang.txt)" '╍╍╍'
like "threads of one name are numbered" "$(sed -n 's/^\(T:[^ ]*\) .*/\1/p' hang.txt | tr '\n' ' ')" 'T:taker T:taker#2 T:taker#3 '
is "no addresses" "$(grep -c '(0x' hang.txt)" 0
like "but where they are asked for" "$(poet show hang.poet --labels address)" 'T:taker \(0x[0-9a-f]+\)'
check "a row by its number of a twin" poet export hang.poet -o row.txt --lines 'taker#2'
is "it alone" "$(grep -c '^T:[^:]*  ' row.txt)" 1
poet export hang.poet -o hang.pdf --last 30
pdftotext -layout hang.pdf hang.words
like "on the rows of those that wait" "$(cat hang.words)" 'waits on CV:more'
like "whose mark it is" "$(cat hang.words)" '^ .* taker(#[23])?( |$)'
for words in 'locks' 'lock request' 'acquires, releases' 'thread is inside an object' \
    'thread is blocked inside that object' 'happens before: wake-up, create, join'; do
    like "the legend: $words" "$(cat hang.words)" "$words"
done
is "no addresses in it, either" "$(grep -c '(0x' hang.words)" 0

# ---- without the dotted arrows nothing else changes ----
poet export hang.poet -o with.txt
poet export hang.poet -o without.txt --no-order-arrows
is "arrows are left out on request" "$(grep -c ', before ' without.txt)" 0
is "and nothing else" "$(grep -v ', before ' with.txt | md5sum)" "$(md5sum <without.txt)"
poet export hang.poet -o with.svg --no-legend
poet export hang.poet -o without.svg --no-legend --no-order-arrows
is "a picture with them is as large" "$(grep -o '<svg[^>]*' with.svg)" "$(grep -o '<svg[^>]*' without.svg)"
check "but another one" test "$(md5sum <with.svg)" != "$(md5sum <without.svg)"

# ---- where a lock is not shown, its waiting is told all the same ----
like "on a line that is not shown" "$(poet show hang.poet --lines 'main,taker*')" '^T:taker#[23]: waits on CV:more, in M:lock'

# ---- threads that ended, semaphores, once ----
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
like "created" "$(cat ends.txt)" '^1:1 T:main: start, before [0-9:]+ T:work: created$'
like "ended and joined" "$(cat ends.txt)" 'T:work: exits, before [0-9:]+ T:main: joined$'
like "given and taken" "$(cat ends.txt)" 'T:work[#2]*: posts a unit, before [0-9:]+ T:work[#2]*: acquires a unit$'
like "initialised and ready" "$(cat ends.txt)" 'T:work[#2]*: init done, before [0-9:]+ T:work[#2]*: already initialized$'
is "nothing is drawn after the end of a thread" "$(grep -c '^T:work.*■━*╌' ends.txt)" 0
# each of them is so
sed -n 's/^\([0-9]*:[0-9]*\) .*, before \([0-9]*:[0-9]*\) .*/\1 \2/p' hang.txt ends.txt >pairs
is "and what is said to be before is" "$(
    for f in hang ends; do
        sed -n 's/^\([0-9]*:[0-9]*\) .*, before \([0-9]*:[0-9]*\) .*/\1 \2/p' $f.txt | poet order $f.poet -
    done | sort | uniq -c | grep -vc before)" 0

# ---- notes that are long stand below, once ----
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
is "a note stands in the picture once" "$(grep -c 'several signals are possible wakers' several.words)" 1
is "with its number beside each mark" "$(grep -o 'taker[#2]* ?1' several.words | sort | tr '\n' ' ')" "taker ?1 taker#2 ?1 "

# ---- an old trace: drawn as the newer description says, checked as it was recorded ----
mkdir old
sed 's/^version = .*/version = 1;/; s/ ends = true;//; s/ away = true;//; s/ arrow = "dotted";//; s/ who = true;//' \
    "$root/config/pthread.conf" >old/pthread.conf
sed -i '/name = "wait";/,/}/s/ wait_class = "rendezvous";//; s/allowed_after_on_line = \["", "released", "wait", "timed_wait"\]/allowed_after_on_line = ["", "released"]/' old/pthread.conf
check "the old description is good" poet check old/pthread.conf
POET_CONFIG="$work/old" POET_OUTPUT=old.poet ./hang
until_true finished old.poet
poet show old.poet >old.txt 2>old.err
is "it is said once" "$(grep -c 'drawn by the installed version [0-9]* of the target description "pthread".*recorded with version 1' old.err)" 1
like "it is drawn as today" "$(cat old.txt)" 'T:taker[#0-9]*: waits on CV:more, in M:lock'
like "what waits is told, too" "$(poet blocked old.poet 2>/dev/null)" 'waits on CV:more'
like "what must hold is what it was recorded with" "$(poet check old.poet)" 'acquired must not follow wait'
is "a trace of today says nothing" "$(poet show hang.poet 2>&1 >/dev/null)" ""

# ---- in the viewer: a switch, which is kept, and nothing moves ----
. "$root/tests/e2e/display.sh"
script() { timeout 300 poet view "$1" --script script >log 2>&1 || { cat log; return 1; }; }
printf 'goto 1:1\nscene on.scene\naction order-arrows\nscene off.scene\nquit\n' >script
check "a switch in the menu" script ends.poet
check "arrows at first" grep -q '^link order' on.scene
is "none when they are off" "$(grep -c '^link order' off.scene)" 0
is "nothing else changes but the legend" "$(grep -v '^link order\|^note' on.scene | sed 1d | md5sum)" \
    "$(grep -v '^link order\|^note' off.scene | sed 1d | md5sum)"
like "the legend is on at first" "$(cat on.scene)" '^note .*"locks|^note .*"threads"'
printf 'scene again.scene\nquit\n' >script
check "the next time" script ends.poet
is "it is as it was left" "$(grep -c '^link order' again.scene)" 0
printf 'said\nquit\n' >script
check "an old trace in the viewer" script old.poet
like "it says that it is drawn as today" "$(cat log)" 'drawn by the installed version [0-9]* of the target description'
done_testing
