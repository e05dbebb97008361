#!/bin/bash
# Exit statuses, formats and accepted findings of --fail-on; poet record --hang-timeout.
. "$(dirname "$0")/lib.sh"

cat >dead.c <<'C'
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t forks = PTHREAD_MUTEX_INITIALIZER, knives = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int done; /* orders the threads in a way that is not traced */
static void *alice(void *p)
{
    pthread_mutex_lock(&forks);
    if (p)
        pthread_barrier_wait(&both);
    pthread_mutex_lock(&knives);
    pthread_mutex_unlock(&knives);
    pthread_mutex_unlock(&forks);
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return p;
}
static void *bob(void *p)
{
    pthread_mutex_lock(&knives);
    if (p)
        pthread_barrier_wait(&both);
    pthread_mutex_lock(&forks);
    pthread_mutex_unlock(&forks);
    pthread_mutex_unlock(&knives);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    void *hang = argc > 1 ? argv : 0;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t, 0, alice, hang);
    while (!hang && !__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        sched_yield();
    bob(hang);
    pthread_join(t, 0);
    return 0;
}
C
gcc -g -pthread dead.c -o dead
export POET_QUIET=1

# ---- poet record ----
poet record -o dead.poet --hang-timeout 4s --fail-on deadlock --error-exitcode 77 --findings dead.sarif -- ./dead hang \
    >out 2>err
is "a hang sets the status: --error-exitcode" $? 77
like "the hang is reported" "$(cat err)" '^poet record: no event was recorded for 4 s: killed$'
like "its cause is printed" "$(cat err)" '^DEADLOCK: 2 threads wait for each other$'
like "the finding is named" "$(cat err)" '^poet record: finding: deadlock [0-9a-f]{16}: DEADLOCK: 2 threads wait for each other \('
is "nothing is written to the program's output" "$(cat out)" ""
poet record -o fine.poet --fail-on deadlock,hang,no-progress --hang-timeout 60s -- ./dead 2>err
is "no finding: the program's status" $? 0
poet record -o status.poet --fail-on deadlock -- sh -c 'exit 3' 2>err
is "no finding: the program's status is passed on" $? 3
poet record -o killed.poet --fail-on deadlock -- sh -c 'kill -KILL $$' 2>err
is "no finding: its signal is passed on" $? 137
poet record -o sleep.poet --hang-timeout 4s --findings sleep.json -- sleep 1000 2>err
is "no progress sets the status" $? 1
is "no progress is a finding of its own" "$(jq -r '.findings[] | .kind, .certainty' sleep.json | paste -sd' ')" \
    "no-progress certain"
printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >static.c
gcc -static static.c -o static
poet record --force -o static.poet --hang-timeout 300ms -- ./static 2>err
is "a program of which nothing is known: the status" $? 1
like "a program of which nothing is known: the reason" "$(cat err)" \
    "^poet record: the program's server did not answer for 0\.3 s: killed\$"
poet record -o heap.poet --fail-on leak -- ./dead 2>err
is "--fail-on leak without -m memory" $? 2
like "it says why" "$(cat err)" '^poet record: --fail-on leak: the heap was not measured: use poet record -m memory$'

# ---- commands ----
# status_of NAME WANTED COMMAND...
status_of() {
    name=$1 wanted=$2
    shift 2
    "$@" >out 2>err
    is "$name" $? "$wanted"
}
status_of "a finding" 1 poet blocked dead.poet --fail-on deadlock
status_of "a finding of any kind" 1 poet blocked dead.poet --fail-on all
status_of "no such finding" 0 poet blocked dead.poet --fail-on abandoned-lock,hang
status_of "an unknown kind" 2 poet blocked dead.poet --fail-on hung
like "the known ones" "$(cat err)" 'unknown kind \(known: all, deadlock, abandoned-lock, hang, rule-violation\)'
status_of "a kind of another command" 2 poet blocked dead.poet --fail-on leak
status_of "no source" 2 poet blocked nosuch.poet --fail-on all
status_of "without --fail-on" 0 poet blocked dead.poet
status_of "a prediction" 1 poet predict fine.poet --fail-on lock-order-inversion
status_of "a report" 1 poet report fine.poet --fail-on lock-order-inversion
status_of "a report without" 0 poet report fine.poet --fail-on deadlock
status_of "a sound trace" 0 poet check fine.poet --fail-on all
status_of "a sound description" 0 poet check pthread --fail-on all
printf 'version = 1;\nevents = (;\n' >bad.conf
status_of "a wrong description" 1 poet check bad.conf --fail-on invalid-description
poet check bad.conf --format gcc >out 2>err
like "its error, as a compiler's" "$(cat out)" '^bad\.conf:2: error: .* \[invalid-description [0-9a-f]{16}\]$'

# ---- formats ----
poet blocked dead.poet --format gcc >gcc
like "gcc: the first line" "$(head -n 1 gcc)" '^dead\.c:[0-9]+: error: DEADLOCK: 2 threads wait for each other \(.*\) \[deadlock '
like "gcc: notes" "$(cat gcc)" '^dead\.c:11: note: T:alice waits for M:knives, held by T:main'
is "gcc: nothing of the text" "$(grep -c '^    T:' gcc)" 0
expect dead.sarif <<'END'
SARIF: version | .[0].version => 2.1.0
SARIF: the tool | .[0].runs[0].tool.driver.name => Poet
SARIF: the level | .[0].runs[0].results[] | select(.ruleId == "deadlock").level => error
SARIF: the file | .[0].runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri => dead.c
SARIF: the other places | .[0].runs[0].results[0].relatedLocations | length => 4
SARIF: the identity | .[0].runs[0].results[0].partialFingerprints["poetIdentity/v1"] | length => 16
END
poet predict fine.poet --format junit >junit.xml
check "JUnit is XML" python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' junit.xml
like "JUnit: counts" "$(cat junit.xml)" 'tests="12" failures="1" errors="0" skipped="0"'
like "JUnit: what was not found has passed" "$(cat junit.xml)" 'name="lost-wakeup"/>'
like "annotations" "$(poet blocked dead.poet --format github)" \
    '^::error file=dead\.c,line=[0-9]+,title=deadlock::DEADLOCK: 2 threads wait for each other \(.*\)%0Adead\.c:'
status_of "an unknown format" 2 poet blocked dead.poet --format xml
status_of "a suffix without a format" 2 poet blocked dead.poet --findings a.b
status_of "a file that cannot be written" 2 poet blocked dead.poet --fail-on hang --findings nosuch/a.json

# ---- identity and accepted findings ----
identity() { poet predict "$1" --format json | jq -r '.findings[] | select(.kind == "lock-order-inversion").identity'; }
known=$(identity fine.poet)
like "an identity" "$known" '^[0-9a-f]{16}$'
mkdir moved other
{ printf '\n\n/* moved */\n'; cat dead.c; } >moved/dead.c
sed 's/knives/spoons/g' dead.c >other/dead.c
gcc -g -pthread moved/dead.c -o moved/dead
gcc -g -pthread other/dead.c -o other/dead
poet record -o moved.poet -- moved/dead
is "the identity stays when lines move" "$(identity moved.poet)" "$known"
poet record -o other.poet -- other/dead
check "another lock is another finding" [ "$(identity other.poet)" != "$known" ]
printf '# both are taken at start-up only\nlock-order-inversion %s taken at start-up\n' "$known" >accepted
status_of "an accepted finding" 0 poet predict fine.poet --fail-on all --accepted accepted
like "it is counted" "$(cat err)" '^poet predict: 1 finding accepted by accepted$'
status_of "it does not accept another one" 1 poet predict other.poet --fail-on all --accepted accepted
like "an entry without a finding is reported" "$(cat err)" "^poet predict: accepted: lock-order-inversion $known did not occur"
is "SARIF has the reason" \
    "$(poet predict fine.poet --accepted accepted --format sarif | jq -r '.runs[0].results[0].suppressions[0].justification')" \
    "taken at start-up"
printf 'lock-order-inversion %s\n' "$known" >accepted
status_of "no reason" 2 poet predict fine.poet --fail-on all --accepted accepted
like "its place" "$(cat err)" '^poet predict: accepted:1: no reason'
printf '\nlock-order 12 x\n' >accepted
status_of "no kind" 2 poet predict fine.poet --fail-on all --accepted accepted
like "its line" "$(cat err)" '^poet predict: accepted:2: unknown kind of finding'
status_of "no file" 2 poet predict fine.poet --fail-on all --accepted nosuch
done_testing
