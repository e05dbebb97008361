#!/bin/bash
# Parts of a run as traces of their own: they open everywhere, have the events and the order of the run, say what they
# are, and do not take threads that continued for blocked ones.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >work.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static sem_t items;
static int count;
static void *producer(void *p)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
        sem_post(&items);
    }
    return p;
}
static void *consumer(void *p)
{
    for (int i = 0; i < 100; i++) {
        sem_wait(&items);
        pthread_mutex_lock(&lock);
        while (!count) pthread_cond_wait(&more, &lock);
        count--;
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    sem_init(&items, 0, 0);
    pthread_create(&t[0], NULL, consumer, NULL);
    pthread_create(&t[1], NULL, producer, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
C
poetcc -trace -g work.c -o work || exit 1
POET_OUTPUT=work.poet ./work
until_true finished work.poet
ids() { poet dump "$1" --json 2>/dev/null | json '.[] | .event // empty' | tr -d '"' | grep -v h | sort; }
middle=$(poet dump work.poet --json | json '.[] | select(.type == "wake" or .type == "sem_acquired") | .event' | tr -d '"' | sed -n 50p)
poet cut work.poet --past-of "$middle" -o past.poet >said || exit 1
ids work.poet >all
ids past.poet >past
head -n 40 past >few
before() { # SOURCE: the relation of some events to the middle, and to each other
    awk -v m="$2" '{ if (m) print $1, m; if (last) print last, $1; last = $1 }' few | poet order "$1" - 2>/dev/null
}
is "the causal past is before its event" "$(poet order work.poet - 2>/dev/null < <(sed "s/$/ $middle/" past) | sort -u | tr '\n' ' ')" "before same "
is "every event of the past is there" \
    "$(poet order work.poet - 2>/dev/null < <(sed "s/$/ $middle/" all) | grep -c 'before\|same')" "$(wc -l <past)"
is "they are ordered as in the run" "$(before past.poet "$middle")" "$(before work.poet "$middle")"
like "poet cut says what it wrote" "$(cat said)" "^past.poet: $(wc -l <past) of $(wc -l <all) events"
like "poet stat says what it is" "$(poet stat past.poet 2>/dev/null)" "^cut  *a cut of run work@.*: the causal past of event $middle; "
like "so does every command" "$(poet blocked past.poet 2>&1 >/dev/null)" "past.poet: a cut of run work"
is "as JSON" "$(poet stat past.poet --json 2>/dev/null | json '.[0].cut | startswith("a cut of run work")')" true
is "it is whole and consistent" "$(poet check past.poet 2>/dev/null)" "past.poet: $(wc -l <past) events: OK"
is "threads that continued are not blocked" "$(poet blocked past.poet 2>/dev/null)" "no thread is blocked"
is "nothing in it is lost or pending" "$(figure past.poet lost pending inconsistent)" "0 0 0"
check "the report" poet report past.poet
check "a diagram" poet export past.poet -o past.svg
is "the state at its end is that of the run at its event" \
    "$(poet state past.poet --csv 2>/dev/null | tail -n +2)" "$(poet state work.poet --at "$middle" --csv | tail -n +2)"
check "a cut of a cut" poet cut past.poet --past-of "$(tail -n 1 few)" -o again.poet
check "it is consistent, too" poet check again.poet

late=$(sed -n 2p few)
poet cut work.poet --between "$late" "$middle" -o between.poet >/dev/null || exit 1
ids between.poet >between
is "what is between is after the one and before the other" \
    "$({ sed "s/^/$late /" between; sed "s/$/ $middle/" between; } | poet order work.poet - 2>/dev/null | sort -u | tr '\n' ' ')" "before same "
check "it is consistent" poet check between.poet
poet cut work.poet --future-of "$middle" -o after.poet >/dev/null
is "what is after" "$(ids after.poet | sed "s/^/$middle /" | poet order work.poet - 2>/dev/null | sort -u | tr '\n' ' ')" "before same "
poet cut work.poet --past-of "$middle" --lines T:main,T:producer -o lines.poet >/dev/null || exit 1
ids lines.poet | head -n 40 >few
is "with other lines left out the order is the same" "$(before lines.poet)" "$(before work.poet)"
check "a cut with lines left out is consistent" poet check lines.poet
poet cut work.poet --from 0ms --to 10s -o range.poet >/dev/null
is "a range with everything has everything" "$(ids range.poet | cmp - all && echo same)" same

poet cut work.poet --between "$middle" "$late" -o none.poet >/dev/null 2>why
is "a reversed pair has nothing between" $? 1
like "and it is said" "$(cat why)" "did not happen before"
is "no file is left behind" "$(ls none.poet* 2>/dev/null)" ""
poet cut work.poet --past-of "$middle" >/dev/null 2>&1
is "no output file" $? 2
poet cut work.poet -o x.poet >/dev/null 2>&1
is "no events selected" $? 2
poet cut work.poet --past-of "$middle" --from 1ms -o x.poet >/dev/null 2>&1
is "two selections" $? 2

# ---- many lines: those that are needed, with new numbers ----
cat >many.c <<'C'
#include <pthread.h>
static pthread_mutex_t locks[1500];
int main(void)
{
    for (int i = 0; i < 1500; i++) {
        pthread_mutex_init(&locks[i], NULL);
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_unlock(&locks[i]);
    }
    return 0;
}
C
poetcc -trace -g many.c -o many || exit 1
POET_OUTPUT=many.poet ./many
until_true finished many.poet
event=$(poet dump many.poet | sed -n 's/^\([0-9:]*\) .* released *M:.*/\1/p' | sed -n 10p)
poet cut many.poet --past-of "$event" -o ten.poet --json >said
is "only the lines with events are kept" "$(figure ten.poet lines)" 11
new=$(json '.[0].lines | index('"${event%:*}"') + 1' said)
check "the numbers of the run are listed" test "$new" -ge 1
is "an event has its number on its line" "$(poet dump ten.poet 2>/dev/null | grep -c "^$new:${event#*:} .* released")" 1
check "it is consistent" poet check ten.poet

# ---- the oldest part of the run was discarded ----
cat >on.c <<'C'
#include <pthread.h>
int main(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 400000; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
C
poetcc -trace -g on.c -o on || exit 1
poet record --keep 4M -o kept.poet ./on
check "events were discarded" test "$(figure kept.poet discarded)" -gt 0
last=$(poet dump kept.poet | tail -n 1 | cut -d' ' -f1)
poet cut kept.poet --past-of "$last" -o end.poet >/dev/null || exit 1
check "a cut of what is kept is consistent" poet check end.poet
is "it has all that is kept" "$(poet dump end.poet 2>/dev/null | wc -l)" "$(poet dump kept.poet | wc -l)"

# ---- a damaged file ----
head -c $(($(stat -c %s past.poet) - 2000)) past.poet >short.poet
like "a cut that is cut short says so" "$(poet stat short.poet 2>/dev/null)" "truncated|its end is missing"
done_testing
