#!/bin/bash
# What becomes of those who wait: who can never go on, and who must not be said never to.
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
    } else if (!strcmp(how, "lost")) { /* not under the lock, and too early */
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
    } else if (!strcmp(how, "pool")) { /* healthy: main will signal, some time */
        start(&a, waits, 0, "ann");
        sleep(600);
    } else if (!strcmp(how, "gone")) { /* who signalled has ended; main may signal */
        start(&b, signals_inside, 0, "bob");
        pthread_join(b, 0);
        start(&a, waits, 0, "ann");
        sleep(600);
    } else if (!strcmp(how, "timed")) { /* healthy: it gives up by itself */
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
# blocked SOURCE PERL: does the JSON of `poet blocked` fulfil an expression?  $j is what it says.
cat >says.pl <<'P'
use JSON::PP;
my ($source, $expression) = @ARGV;
my $j = decode_json(`poet blocked --json $source`);
our %fate = map { ($_->{thread}{label} =~ /T:(\w+)/)[0] => $_->{outcome} } @{$j->{blocked}};
our %on = map { ($_->{thread}{label} =~ /T:(\w+)/)[0] => $_->{waits_for}{label} } @{$j->{blocked}};
our $v = $j->{diagnoses}[0] // {};
our %doubt = map { $_ => 1 } @{$v->{uncertainties} // []};
exit(eval($expression) ? 0 : 1);
P
says() { perl says.pl "$@"; }
# live HOW PERL: runs it until that is so; then it is killed, and $trace is what it left
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
main_joins='($on{main} // "") =~ /^T:ann/ && $j->{live} && ' # the last that it joins

live deadlock "$main_joins"'@{$j->{cycles}}'
deadlock=$source
check "a deadlock is never over, nor is who waits for one of it" says "$source" \
    '$fate{ann} eq "never" && $fate{bob} eq "never" && $fate{main} eq "never"'
text=$(poet blocked "$source")
like "a row for each of the two" "$text" 'T:ann waits for M:second, held by T:bob \(acquired at event [0-9]+:[0-9]+\)|T:ann waits for M:first'
is "two of them" "$(printf '%s\n' "$text" | grep -c 'waits for M:.*, held by T:.* (acquired at event')" 2
like "a join says that the other waits itself" "$text" 'T:ann is itself blocked on M:.* and will never resume'
like "what is live says for how long by the clock" "$text" '^    for [0-9.]+ (ms|s), event'
check "and so it is told to programs" says "$source" '$j->{now_ns} > 0 && $j->{cycles}[0][0]{acquired_event} =~ /:/'
over
like "afterwards, until when" "$(poet blocked "$source")" '^    for [0-9.]+ (ms|s) \(until the end of the trace\), event'

live lost "$main_joins"'$fate{ann}'
check "a signal concurrent with the wait is perhaps lost" says "$source" \
    '$v->{relation} eq "concurrent" && $v->{type} eq "signal" && !$v->{woke_waiter} && $v->{text} =~ /event \d+:\d+, no thread was woken; concurrent with the wait \(event \d+:\d+\): possible lost wake-up/'
check "so it is a hang as far as is seen, and the doubt is named" says "$source" \
    '$fate{ann} eq "likely_never" && $doubt{woken} && !$doubt{handler} && $fate{main} eq "likely_never"'
over

live before "$main_joins"'$fate{ann}'
check "a signal before the wait began cannot wake it: a hang" says "$source" \
    '$v->{relation} eq "before" && $fate{ann} eq "never" && $fate{main} eq "never" && !%doubt && $v->{text} =~ /^HANG: no remaining thread can wake the waiters of /'
check "with who did it, and how that is" says "$source" \
    '@{$v->{candidates}} == 1 && $v->{candidates}[0]{label} =~ /bob|signals/ && $v->{candidates}[0]{state} eq "exited"'
over

live semaphore "$main_joins"'$fate{ann} && $v->{type} eq "sem_post"'
check "nobody is left who could post, but for signal handlers" says "$source" \
    '$fate{ann} eq "likely_never" && $doubt{handler}'
over

live barrier "$main_joins"'$fate{ann} && $v->{text} =~ /has not arrived/'
check "who has not come to a barrier" says "$source" \
    '$v->{text} =~ /has not arrived: T:(bob|comes) [^,]*\(exited\)/ && $fate{ann} =~ /^(likely_)?never$/'
over

live kept "$main_joins"'$fate{ann}'
check "who holds a lock and has ended never leaves it" says "$source" '$fate{ann} eq "never" && $fate{main} eq "never"'
over

# These must not be called hung.
live pool '$fate{ann}'
check "a pool whose feeder only sleeps is open" says "$source" '$fate{ann} eq "may_resume"'
over
live gone '$fate{ann}'
check "who signalled has ended, another runs: perhaps, and it is named" says "$source" \
    '$fate{ann} eq "likely_never" && $doubt{running} && $v->{running}[0]{label} =~ /main/'
over
live timed '$fate{ann} && $fate{main}'
check "who waits for a time only goes on" says "$source" '$fate{ann} eq "may_resume" && $fate{main} eq "may_resume"'
over
live outside '$fate{ann} && $fate{main}'
check "who waits for a signal from outside goes on, and may wake others" says "$source" '$fate{ann} eq "may_resume" && $fate{main} eq "may_resume"'
over

# A semaphore that threads share: each event's counts are those of asking for every pair, and quick.
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
# Every event there is, and how it stands to some of them.
perl -MJSON::PP -ne 'my $e = decode_json($_); print "$e->{event}\n" if ($e->{event} // "") =~ /^\d+:\d+$/' shared.json >events
chosen=$(awk 'NR % 23 == 5' events | head -n 6)
for e in $chosen; do
    sed "s/\$/ $e/" events | poet order "$source" - 2>/dev/null | sort | uniq -c |
        awk -v e="$e" '{ n[$2] = $1 } END { print e, n["before"] + 0, n["after"] + 0, n["concurrent"] + 0, n["unknown"] + 0 }'
done >wanted

. "$root/tests/e2e/display.sh"
{ for e in $chosen; do printf 'select %s\nstate counted\n' "$e"; done; echo quit; } >script
poet view "$source" --script script >log 2>&1
sed -E 's/^ *selected ([^ ]*) .* before ([0-9]+) after ([0-9]+) concurrent ([0-9]+) .* unknown ([0-9]+) .*/\1 \2 \3 \4 \5/' counted >got
is "six events are selected" "$(wc -l <got)" 6
is "counts beside an event are those of asking for every pair" "$(cat got)" "$(cat wanted)"
like "and they are whole" "$(cat counted)" ' whole 1 '

# How long a thread waited, though others went in and out meanwhile; the time between two, and what lies there.
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
printf 'goto %s\nselect %s\nsecond %s\nstate told\nquit\n' "$wake" "$wake" "$wait" >script
poet view "$source" --script script >log 2>&1
told() { tail -n 1 told | sed "s/.* $1 \([^ ]*\) .*/\1/"; }
apart=$(($(time_of "$wake") - $(time_of "$wait")))
like "it lasted" "$apart" '^[0-9]{5,}$'
near() { [ "$1" -ge $(($2 - 1)) ] && [ "$1" -le $(($2 + 1)) ]; }
check "the waking thread waited since its own wait, not since the line's event before it" near $(($(told waited) / 1000)) $apart
check "the time between two selected events" near $((-$(told ns) / 1000)) $apart
is "and how many events were recorded between them" "$(told between)" \
    "$(awk -v a="$wait" -v b="$wake" '$1 == b { exit } on && $1 !~ /^h/ { n++ } $1 == a { on = 1 } END { print n + 0 }' dump)"

# The badge, from the first second: of a hang, a deadlock, of nobody.
printf 'state first\nquit\n' >script
worst() { rm -f first; poet view "$1" --script script >log 2>&1; sed -n 's/.* worst \([a-z]*\) .*/\1/p' first; }
is "the badge of a run in which no thread waits" "$(worst "$source")" none
is "and of a deadlock" "$(worst "$deadlock")" deadlock
like "which is drawn: two that wait, and by what the other came in" "$(cat first)" ' stuck 2 '
done_testing
