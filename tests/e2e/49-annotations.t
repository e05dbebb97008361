#!/bin/bash
# Labels of the diagram: signals without a waiter, threads that have not arrived, the end of a run; notes of several
# writers; a deadlock in a web page.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- signals that wake no thread ----
# Tests for each signal at which moment it was sent: the condition variable bears the name of the moment.
cat >moments.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t early = PTHREAD_COND_INITIALIZER, heard = PTHREAD_COND_INITIALIZER,
                      late = PTHREAD_COND_INITIALIZER, open = PTHREAD_COND_INITIALIZER,
                      elsewhere = PTHREAD_COND_INITIALIZER;
static int waits, woken;
static void await(pthread_cond_t *c, pthread_mutex_t *m)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    pthread_mutex_lock(m);
    pthread_cond_timedwait(c, m, &ts);
    pthread_mutex_unlock(m);
}
static void *taker(void *a)
{
    pthread_mutex_lock(&lock);
    waits = 1;
    while (!woken) pthread_cond_wait(&heard, &lock);
    pthread_mutex_unlock(&lock);
    await(&early, &lock);
    await(&late, &lock);
    await(&open, &lock);
    await(&elsewhere, &other);
    return a;
}
static void *caller(void *a) /* not ordered with any thread until it exits */
{
    for (int i = 0; i < 20; i++) {
        pthread_cond_signal(&open);
        usleep(500);
    }
    return a;
}
static int seen(void)
{
    pthread_mutex_lock(&lock);
    int n = waits;
    pthread_mutex_unlock(&lock);
    return n;
}
int main(void)
{
    pthread_t t[2];
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&early); /* before any thread waits */
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&elsewhere); /* not under the lock of the threads that will wait */
    pthread_create(&t[1], 0, caller, 0);
    pthread_create(&t[0], 0, taker, 0);
    while (!seen()) usleep(1000);
    pthread_mutex_lock(&lock);
    woken = 1;
    pthread_cond_signal(&heard);
    pthread_mutex_unlock(&lock);
    pthread_join(t[0], 0);
    pthread_cond_signal(&late); /* after all waits, without the lock */
    pthread_join(t[1], 0);
}
C
poetcc -trace -g moments.c -o moments
POET_OUTPUT=moments.poet ./moments
until_true finished moments.poet
poet export moments.poet --all -o moments.txt
struck() { sed -n "s/^[0-9:]* *T:[a-z]*: signals CV:$1, no waiter$/x/p" moments.txt | tr -d '\n'; }
is "a signal before any wait, under the lock, has no waiter" "$(struck early)" x
is "a signal before the waiters are created, without the lock, has no waiter" "$(struck elsewhere)" x
is "a signal after the last wait, without the lock, has no waiter" "$(struck late)" x
is "a signal that wakes a thread has a waiter" "$(struck heard)" ""
is "a signal concurrent with a wait is not marked as without waiter" "$(struck open)" ""
like "a signal without a waiter has a mark of its own" "$(cat moments.txt)" '⊘'
like "a signal without a waiter has a mark of its own in ASCII" "$(poet show moments.poet --ascii --last 400)" '%'
poet export moments.poet --all --no-title -o moments.svg
like "the SVG's legend has the signal without a waiter" "$(cat moments.svg)" 'no waiter'
like "the title of a mark says that the signal has no waiter" "$(cat moments.svg)" '<title>[^<]*about CV:early, no waiter'
like "a part of the run has the signal without a waiter" "$(poet show moments.poet --from 1:1 --to 1:6)" 'signals CV:early, no waiter$'

# For each signal without a waiter, every wait at its condition variable is ordered before or after it.
cat >random.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t c[3] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static pthread_barrier_t all;
static void *work(void *a)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    unsigned seed = (unsigned)(long)a;
    for (int i = 0; i < 60; i++) {
        int what = rand_r(&seed) % 5, k = rand_r(&seed) % 3;
        pthread_mutex_t *l = &m[k == 2]; /* one lock for each condition variable */
        struct timespec ts;
        clock_gettime(CLOCK_REALTIME, &ts);
        ts.tv_nsec = (ts.tv_nsec + 200000) % 1000000000;
        if (what < 2) {
            pthread_mutex_lock(l);
            pthread_cond_signal(&c[k]);
            pthread_mutex_unlock(l);
        } else if (what < 4) {
            pthread_cond_broadcast(&c[k]);
        } else {
            pthread_mutex_lock(l);
            pthread_cond_timedwait(&c[k], l, &ts);
            pthread_mutex_unlock(l);
        }
        if (rand_r(&seed) % 4 == 0) usleep(rand_r(&seed) % 300);
    }
    pthread_barrier_wait(&all); /* what follows is not before any event of another thread */
    for (int i = 0; i < 6; i++) {
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
    }
    return 0;
}
int main(void)
{
    pthread_t t[4];
    pthread_barrier_init(&all, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)(i + 7));
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -g random.c -o random
POET_OUTPUT=random.poet timeout 60 ./random
until_true finished random.poet
poet export random.poet --all -o random.txt
sed -n 's/^\([0-9:]*\) .*no waiter$/\1/p' random.txt >claimed
poet dump random.poet --json >random.json
# Asks for each signal and each wait (S W, and the end of that wait K S): one of the two must be "before".
cat >pairs.py <<'P'
import json, subprocess, sys
events = [e for e in map(json.loads, open("random.json", encoding="utf-8")) if "event" in e]
claimed = open("claimed").read().split()
name = lambda e: json.dumps(e["object"], sort_keys=True)
waits, last = [], {}
for e in events:
    if e["type"] in ("wait", "timed_wait"):
        last[json.dumps(e["thread"], sort_keys=True)] = e
    elif e["type"] in ("wake", "timeout"):
        waits.append((last.pop(json.dumps(e["thread"], sort_keys=True)), e))
waits += [(w, None) for w in last.values()]
by = {e["event"]: e for e in events}
asked = [(s, w, k) for s in claimed for w, k in waits if name(by[s]) == name(w)]
lines = []
for s, w, k in asked:
    lines += [s + " " + w["event"], (k["event"] if k else s) + " " + s]
told = subprocess.run(["poet", "order", "random.poet", "-", "--json"], input="\n".join(lines), text=True,
                      capture_output=True).stdout.splitlines()
said = [json.loads(l)["order"] for l in told]
bad = [a for i, a in enumerate(asked) if "before" not in (said[2 * i], said[2 * i + 1])]
print(len(claimed) > 0, len(asked) > 0, len(said) == len(lines), len(bad))
for s, w, k in bad[:5]:
    print("# ", s, w["event"], k and k["event"], file=sys.stderr)
P
is "every signal marked as without waiter is ordered with all waits" "$(python3 pairs.py)" "True True True 0"

# ---- threads that have not arrived at a barrier ----
cat >come.c <<'C'
#include <pthread.h>
static pthread_barrier_t all;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    pthread_barrier_wait(&all); /* all three arrive the first time */
    if (a) {
        pthread_mutex_lock(&m);
        pthread_mutex_lock(&m);
    }
    pthread_barrier_wait(&all);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&all, 0, 3);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, i == 1 ? &all : 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
C
# hung PROGRAM PATTERN...: runs it until poet blocked prints all patterns; then it is killed
hung() {
    POET_OUTPUT=$1.poet ./$1 >/dev/null 2>&1 &
    running=$!
    pids="$pids $running"
    disown $running
    until_true says "$1.poet" "${@:2}"
    kill -KILL $running
    until_true finished "$1.poet"
}
says() {
    blocked=$(poet blocked "$1")
    for pattern in "${@:2}"; do grep -Eq -- "$pattern" <<<"$blocked" || return; done
}
poetcc -trace -g come.c -o come
hung come '^DEADLOCK: a thread waits for itself' 'has not arrived: T:work#2 \(blocked\)$'
is "blocked: a barrier lists the threads that have not arrived" "$(poet blocked come.poet | sed -n 's/^ *has not arrived: //p')" "T:work#2 (blocked)"

# ---- how a run ended, as far as it is recorded ----
like "poet ls lists a killed run with its deadlock" "$(poet ls come.poet)" 'killed \(or exited in an untraced call\), deadlock$'
is "poet ls --json has the status killed" "$(poet ls --json come.poet | grep -c '"status": *"killed"')" 1

# ---- two transposed letters ----
like "two transposed letters in an option get a suggestion" "$(poet export --tiem 2>&1)" 'did you mean --time\?'

# ---- a deadlock and a lost signal in a web page ----
poet export come.poet -o come.html
poet export moments.poet -o moments.html
like "the page has the deadlocked threads" "$(cat come.html)" '^"stuck":\[\["[0-9]+:[0-9]+","[0-9]+:[0-9]+"\]\]'
is "the page of another run has no deadlocked threads" "$(grep -c '^"stuck":\[\]' moments.html)" 1
like "the page has the signal without a waiter" "$(cat moments.html)" '"u":"no waiter"'
is "the page is small" "$(($(stat -c %s moments.html) < 65536 + 200 * $(figure moments.poet events)))" 1
if command -v chromium >/dev/null; then
    red='document.querySelectorAll("#svg [stroke=\"#bf001a\"]")'
    told=$(printf '%s\n' "eval [...$red].map(e => e.tagName).sort().join()" 'eval pages.waiting, document.getElementById("legend").textContent' |
        timeout 120 python3 "$root/tests/e2e/browser.py" "file://$work/come.html")
    like "the page draws the deadlock in red" "$told" 'circle,line'
    like "the page's legend has the deadlock" "$told" 'in a deadlock'
    told=$(echo 'eval document.getElementById("legend").textContent' |
        timeout 120 python3 "$root/tests/e2e/browser.py" "file://$work/moments.html")
    like "the page's legend has the signal without a waiter" "$told" 'no waiter'

    # The page gives the relation of any two events as poet order does, with the same reasons.
    cat >asked.js <<'J'
(() => { let s = 7; const next = () => (s = (s * 1103515 + 12345) % 2147483648) % N, all = [];
for (let k = 0; k < 200; k++) { const a = next(), b = next(), r = relation(a, b); all.push([id(a), id(b), r, reasonText(a, b)]); }
return JSON.stringify(all); })()
J
    cat >same.py <<'P'
import json, subprocess, sys
page = json.loads(open("page.json").read())
page = json.loads(page) if isinstance(page, str) else page
told = subprocess.run(["poet", "order", sys.argv[1], "-", "--json"], input="\n".join(a + " " + b for a, b, _, _ in page),
                      text=True, capture_output=True).stdout.splitlines()
begins = {"concurrent": "Considering traced synchronization: ", "unknown": "Untraced synchronization may order them: "}
bad = 0
for (a, b, r, why), line in zip(page, told):
    said = json.loads(line)
    wanted = begins.get(said["order"], "") + "; ".join(said["reasons"]) + "." if said["reasons"] else ""
    if (r, why) != (said["order"], wanted):
        bad += 1
        if bad < 4: print("# ", a, b, r, why, said)
print(len(page), len(told), bad, len({r for _, _, r, _ in page}) > 2, len({why for _, _, r, why in page if r == "unknown"}) > 3)
P
    compared() { # compared RUN [OPTION...]: how many pairs, how many are wrong; are there all answers, and several reasons?
        run=$1
        shift
        poet export "$run.poet" "$@" -o "$run.html" && echo "eval $(tr '\n' ' ' <asked.js)" |
            timeout 120 python3 "$root/tests/e2e/browser.py" "file://$work/$run.html" >page.json && python3 same.py "$run.poet"
    }
    is "the reasons of unknown order in a page are those of poet order" "$(compared random --last 200)" "200 200 0 True False"
    start_server -o doubts.poet -q
    python3 "$root/tests/e2e/doubts.py" 1
    until_true finished latest
    stop_server
    is "with several reasons of uncertainty each pair in a page has its own" "$(compared doubts)" "200 200 0 True True"
else
    skip "chromium is not installed"
fi

# ---- notes: no writer overwrites another's ----
events=$(poet dump moments.poet --json | sed -n 's/.*"event":"\([0-9]*:[0-9]*\)".*/\1/p' | head -n 12)
writers=
for e in $events; do
    poet note moments.poet "$e" "by $e" 2>>note.err &
    writers="$writers $!"
done
for w in $writers; do wait "$w"; done
is "twelve writers at once store twelve notes" "$(poet note moments.poet | wc -l)" 12
is "twelve writers at once print no error" "$(cat note.err)" ""
is "no temporary file of the notes remains" "$(ls | grep -c 'poet-notes.')" 0
# A writer waits for the lock, and keeps the notes that were written meanwhile.
exec 7<.
flock 7
poet note moments.poet 1:1 "the last" 7<&- &
writer=$!
pids="$pids $writer"
holds_back() { [ -d /proc/$writer ] && ls -l /proc/$writer/fd 2>/dev/null | grep -q "$work\$"; }
until_true holds_back
sed -i '/"event":"1:1"/d' moments.poet-notes
sed -i '2i {"event":"1:2","text":"meanwhile"}' moments.poet-notes 2>/dev/null
grep -v '"by 1:2"' moments.poet-notes >x && cat x >moments.poet-notes
exec 7<&-
wait $writer
like "a note written while another writer waited is kept" "$(poet note moments.poet)" '^1:2 +meanwhile$'
like "the note of the writer that waited is stored" "$(poet note moments.poet)" '^1:1 +the last$'

# ---- the viewer: of very many rows those with an event in view ----
cat >crowd.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    char n[16];
    snprintf(n, 16, "t%ld", (long)a);
    pthread_setname_np(pthread_self(), n);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void)
{
    for (long r = 0; r < 15; r++) {
        pthread_t t[20];
        for (long i = 0; i < 20; i++) pthread_create(&t[i], 0, work, (void *)(r * 20 + i));
        for (int i = 0; i < 20; i++) pthread_join(t[i], 0);
    }
}
C
poetcc -trace -g crowd.c -o crowd
POET_OUTPUT=crowd.poet ./crowd
until_true finished crowd.poet
. "$root/tests/e2e/display.sh"
printf '%s\n' 'action time 0; action end' 'action busy-rows' 'state rows busy' 'action fit' 'state rows whole' 'action fit' quit >script
check "the viewer shows a run of 300 threads" timeout 60 poet view crowd.poet --script script
rows_of() { sed -n 's/^rows \([0-9]*\) .*/\1/p' "$1"; }
check "the end of the run has rows of the last few threads" test "$(rows_of busy)" -gt 1 -a "$(rows_of busy)" -lt 80
like "the end of the run has a row of the last thread" "$(cat busy)" 'T:t299 '
is "the end of the run has no row of the first thread" "$(grep -c 'T:t0 ' busy)" 0
check "the overview has rows of all threads" test "$(rows_of whole)" -ge 300

# ---- menus and lists, by keyboard ----
if command -v xdotool >/dev/null && command -v openbox >/dev/null; then
    manager
    poet view moments.poet 2>hand.log &
    pids="$pids $!"
    focus '^moments$'
    named() { [ -n "$(own_processes poet-view)" ]; }
    check "the viewer's process is named poet-view" named
    shortcuts() { xdotool key ctrl+question; }
    check "a key opens the list of keyboard shortcuts" again shortcuts -- shown '^Keyboard shortcuts$'
    focus '^Keyboard shortcuts$'
    leave() { xdotool key Escape; }
    check "Escape closes the list of keyboard shortcuts" again leave -- not_shown '^Keyboard shortcuts$'
    focus '^moments$'
    wide=$(xdotool getwindowgeometry --shell "$(window '^moments$')" | sed -n 's/^WIDTH=//p')
    panel="200x200+$((wide - 210))+100"
    first=$(picture '^moments$' "$panel")
    is_first() { [ "$(picture '^moments$' "$panel")" = "$first" ]; }
    is_other() { ! is_first; }
    finds() { xdotool key ctrl+f; }
    check "a key opens the list of events" again finds -- is_other
    check "Escape returns from the list of events" again leave -- is_first
    end_viewers
    is "the viewer logs no CRITICAL or WARNING message" "$(grep -Ec 'CRITICAL|WARNING' hand.log)" 0
else
    skip "xdotool or openbox is not installed"
fi
done_testing
