#!/bin/bash
# The diagnosis of blocked threads: will never resume, will likely never resume, may resume; healthy waits are not called hung.
. "$(dirname "$0")/lib.sh"
cat >fate.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static sem_t jobs;
static pthread_t a, b;
static volatile int signalled;
static void *grab(void *p)
{
    pthread_mutex_t *mine = p ? &first : &second, *other = p ? &second : &first;
    pthread_mutex_lock(mine);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(other);
    return p;
}
static void *waits(void *p)
{
    pthread_mutex_lock(&first);
    pthread_cond_wait(&more, &first);
    pthread_mutex_unlock(&first);
    return p;
}
static void *waits_a_while(void *p)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 600;
    pthread_mutex_lock(&first);
    pthread_cond_timedwait(&more, &first, &t);
    pthread_mutex_unlock(&first);
    return p;
}
static void *signals(void *p) { pthread_cond_signal(&more); signalled = 1; return p; }
static void *signals_inside(void *p)
{
    pthread_mutex_lock(&first);
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&first);
    return p;
}
static void *takes(void *p) { sem_wait(&jobs); sem_wait(&jobs); return p; }
static void *comes(void *p)
{
    pthread_barrier_wait(&both);
    if (p) pthread_barrier_wait(&both);
    return p;
}
static void *keeps(void *p) { pthread_mutex_lock(&first); return p; }
static void *asks(void *p) { pthread_mutex_lock(&first); return p; }
static void start(pthread_t *t, void *(*f)(void *), void *p, const char *name)
{
    pthread_create(t, 0, f, p);
    pthread_setname_np(*t, name);
}
int main(int n, char **v)
{
    const char *how = n > 1 ? v[1] : "";
    pthread_barrier_init(&both, 0, 2);
    sem_init(&jobs, 0, 0);
    if (!strcmp(how, "deadlock")) {
        start(&a, grab, 0, "ann");
        start(&b, grab, &b, "bob");
    } else if (!strcmp(how, "lost")) { /* without the lock, and too early */
        start(&b, signals, 0, "bob");
        while (!signalled)
            usleep(1000);
        start(&a, waits, 0, "ann");
        pthread_join(b, 0);
    } else if (!strcmp(how, "before")) {
        start(&b, signals_inside, 0, "bob");
        pthread_join(b, 0);
        start(&a, waits, 0, "ann");
    } else if (!strcmp(how, "semaphore")) {
        sem_post(&jobs);
        start(&a, takes, 0, "ann");
    } else if (!strcmp(how, "barrier")) {
        start(&b, comes, 0, "bob");
        start(&a, comes, &a, "ann");
        pthread_join(b, 0);
    } else if (!strcmp(how, "kept")) {
        start(&b, keeps, 0, "bob");
        pthread_join(b, 0);
        start(&a, asks, 0, "ann");
    } else if (!strcmp(how, "pool")) { /* healthy: main will signal at some time */
        start(&a, waits, 0, "ann");
        sleep(600);
    } else if (!strcmp(how, "gone")) { /* the signaling thread has exited; main may signal */
        start(&b, signals_inside, 0, "bob");
        pthread_join(b, 0);
        start(&a, waits, 0, "ann");
        sleep(600);
    } else if (!strcmp(how, "timed")) { /* healthy: it times out */
        start(&a, waits_a_while, 0, "ann");
    } else if (!strcmp(how, "outside")) { /* healthy: a signal from outside */
        sigset_t set;
        int number;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, 0);
        start(&a, waits, 0, "ann");
        sigwait(&set, &number);
    }
    pthread_join(a, 0);
    return 0;
}
C
poetcc -trace -g fate.c -o fate
start_server -q
# says SOURCE FILTER: whether the filter of the JSON of `poet blocked` yields true
says() {
    [ "$(poet blocked --json "$1" | json '
        def named($thread): .blocked[] | select(.thread.label | test("T:" + $thread + "\\b"));
        def outcome($thread): [named($thread).outcome][-1];
        def waits_for($thread): [named($thread).waits_for.label][-1];
        def diagnosis: .diagnoses[0];
        def uncertain($why): any(diagnosis.uncertainties[]?; . == $why);
        .[0] | '"$2")" = true ]
}
# live HOW FILTER: runs the program until the filter yields true; then it is killed, and $trace is what it left
run=0
live() {
    ./fate "$1" &
    program=$!
    pids="$pids $program"
    run=$((run + 1))
    source="unix:$XDG_RUNTIME_DIR/poet.sock#$run"
    until_true says "$source" "$2"
}
over() {
    kill -KILL $program 2>/dev/null
    wait $program 2>/dev/null
    until_true finished "$source"
}
main_joins='(waits_for("main") // "" | startswith("T:ann")) and .live' # the last thread that it joins

live deadlock "$main_joins"' and (.cycles | length > 0)'
deadlock=$source
check "deadlock: its threads and the thread that joins one of them never resume" says "$source" \
    '[outcome("ann", "bob", "main")] == ["never", "never", "never"]'
text=$(poet blocked "$source")
like "deadlock: each thread has a row with the holder" "$text" 'T:ann waits for M:second, held by T:bob \(acquired at event [0-9]+:[0-9]+\)|T:ann waits for M:first'
is "deadlock: two rows" "$(printf '%s\n' "$text" | grep -c 'waits for M:.*, held by T:.* (acquired at event')" 2
like "deadlock: the join says that the joined thread is blocked itself" "$text" 'T:ann is itself blocked on M:.* and will never resume'
like "deadlock: a live wait has its duration" "$text" '^    for [0-9.]+ (ms|s), event'
check "deadlock: --json has the time and the event of the acquisition" says "$source" \
    '.now_ns > 0 and (.cycles[0][0].acquired_event | contains(":"))'
over
like "deadlock: after the end the duration ends with the trace" "$(poet blocked "$source")" '^    for [0-9.]+ (ms|s) \(until the end of the trace\), event'

live lost "$main_joins"' and outcome("ann") != null'
check "a signal concurrent with the wait is possibly lost" says "$source" \
    'diagnosis | .relation == "concurrent" and .type == "signal" and (.woke_waiter | not) and (.text |
        test("event \\d+:\\d+, no thread was woken; concurrent with the wait \\(event \\d+:\\d+\\): possible lost wake-up"))'
check "a possibly lost signal: likely never resumes, with the reason" says "$source" \
    'outcome("ann") == "likely_never" and uncertain("woken") and (uncertain("handler") | not) and
        outcome("main") == "likely_never"'
over

live before "$main_joins"' and outcome("ann") != null'
check "a signal before the wait: never resumes" says "$source" \
    'diagnosis.relation == "before" and outcome("ann") == "never" and outcome("main") == "never" and
        (diagnosis.uncertainties // []) == [] and
        (diagnosis.text | startswith("HANG: no remaining thread can wake the waiters of "))'
check "a signal before the wait: --json has the signaler and the order" says "$source" \
    'diagnosis.candidates | length == 1 and (.[0].label | test("bob|signals")) and .[0].state == "exited"'
over

live semaphore "$main_joins"' and outcome("ann") != null and diagnosis.type == "sem_post"'
check "no thread is left that could post, except for signal handlers" says "$source" \
    'outcome("ann") == "likely_never" and uncertain("handler")'
over

live barrier "$main_joins"' and outcome("ann") != null and (diagnosis.text | contains("has not arrived"))'
check "blocked at a barrier: --json has the threads that have not arrived" says "$source" \
    '(diagnosis.text | test("has not arrived: T:(bob|comes) [^,]*\\(exited\\)")) and
        (outcome("ann") | test("^(likely_)?never$"))'
over

live kept "$main_joins"' and outcome("ann") != null'
check "the lock of an exited holder is never released" says "$source" '[outcome("ann", "main")] == ["never", "never"]'
over

# Healthy waits, which must not be called hung.
live pool 'outcome("ann") != null'
check "a pool with a sleeping feeder may resume" says "$source" 'outcome("ann") == "may_resume"'
over
live gone 'outcome("ann") != null'
check "the signaler has exited, another thread runs: may resume, and that thread is named" says "$source" \
    'outcome("ann") == "likely_never" and uncertain("running") and (diagnosis.running[0].label | contains("main"))'
over
live timed 'outcome("ann") != null and outcome("main") != null'
check "a timed wait may resume" says "$source" \
    '[outcome("ann", "main")] == ["may_resume", "may_resume"]'
over
live outside 'outcome("ann") != null and outcome("main") != null'
check "a wait for a signal from outside may resume and wake others" says "$source" \
    '[outcome("ann", "main")] == ["may_resume", "may_resume"]'
over

# A semaphore that threads share: the counts of related events equal those of asking for every pair, and are quick.
cat >shared.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static void *work(void *p)
{
    for (int i = 0; i < 12; i++) { sem_post(&s); if (i % 3 == 0) sem_wait(&s); }
    return p;
}
int main(void)
{
    pthread_t t[3];
    sem_init(&s, 0, 0);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g shared.c -o shared
run=$((run + 1))
./shared
source="unix:$XDG_RUNTIME_DIR/poet.sock#$run"
until_true finished "$source"
poet dump --json "$source" >shared.json
# Every event, and its relation to some selected ones.
json '.[].event | select(. // "" | test("^\\d+:\\d+$"))' shared.json >events
chosen=$(awk 'NR % 23 == 5' events | head -n 6)
for e in $chosen; do
    sed "s/\$/ $e/" events | poet order "$source" - 2>/dev/null | sort | uniq -c |
        awk -v e="$e" '{ n[$2] = $1 } END { print e, n["before"] + 0, n["after"] + 0, n["concurrent"] + 0, n["unknown"] + 0 }'
done >wanted

. "$root/tests/e2e/display.sh"
{ echo 'action time 0; action end'; for e in $chosen; do printf 'action select %s\nstate selection counted\n' "$e"; done; echo quit; } >script
poet view "$source" --script script >log 2>&1
sed -E 's/^ *selected ([^ ]*) .* before ([0-9]+) after ([0-9]+) concurrent ([0-9]+) .* unknown ([0-9]+) .*/\1 \2 \3 \4 \5/' counted >got
is "six events are selected" "$(wc -l <got)" 6
is "counts beside a selected event are those of asking for every pair" "$(cat got)" "$(cat wanted)"
like "counts beside a selected event are complete" "$(cat counted)" ' whole 1 '

# How long a thread waited though others acquired the mutex meanwhile; the time between two events, and the events in it.
cat >long.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int in;
static void *waits(void *p)
{
    pthread_mutex_lock(&m);
    in = 1;
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    for (int there = 0; !there; usleep(1000)) {
        pthread_mutex_lock(&m);
        there = in;
        pthread_mutex_unlock(&m);
    }
    usleep(20000);
    for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
C
poetcc -trace -g long.c -o long
run=$((run + 1))
./long
source="unix:$XDG_RUNTIME_DIR/poet.sock#$run"
until_true finished "$source"
poet dump "$source" >dump
event() { awk -v type="$1" '$3 == type { print $1; exit }' dump; }
time_of() { awk -v e="$1" '$1 == e { printf "%d", $2 * 1000000 + 0.5 }' dump; }
wait=$(event wait) wake=$(event wake)
printf 'action time 0; action end\naction go %s\naction select %s\naction select %s second\nstate selection told\nquit\n' "$wake" "$wake" "$wait" >script
poet view "$source" --script script >log 2>&1
told() { tail -n 1 told | sed "s/.* $1 \([^ ]*\) .*/\1/"; }
apart=$(($(time_of "$wake") - $(time_of "$wait")))
like "the program measured its wait" "$apart" '^[0-9]{5,}$'
near() { [ "$1" -ge $(($2 - 1)) ] && [ "$1" -le $(($2 + 1)) ]; }
check "the wait of the selected wake-up lasts since its own start, not since the line's previous event" near $(($(told waited) / 1000)) $apart
check "the time between two selected events is that of their stamps" near $((-$(told ns) / 1000)) $apart
is "the number of events recorded between two selected ones is that of the dump" "$(told between)" \
    "$(awk -v a="$wait" -v b="$wake" '$1 == b { exit } on && $1 !~ /^h/ { n++ } $1 == a { on = 1 } END { print n + 0 }' dump)"

# The badge of a run, from its start: none, or a deadlock.
printf 'state selection first\nquit\n' >script
worst() { rm -f first; poet view "$1" --script script >log 2>&1; sed -n 's/.* worst \([a-z]*\) .*/\1/p' first; }
is "the badge of a run without blocked threads is none" "$(worst "$source")" none
is "the badge of a deadlocked run is deadlock" "$(worst "$deadlock")" deadlock
like "the diagram marks the two threads of the deadlock" "$(cat first)" ' stuck 2 '
done_testing
