#!/bin/bash
# poet locks: how often and how long each lock was held and waited for, by which thread; single holds; lock convoys.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

program() { # NAME <SOURCE: compiles and runs it
    { echo "#define _GNU_SOURCE"; cat "$root/tests/e2e/slow.h" "$root/tests/e2e/asleep.h"; cat; } >"$1.c"
    poetcc -trace -g "$1.c" -o "$1" || not_ok "$1.c compiles with -trace"
    POET_OUTPUT=$1.poet "./$1" >"$1.out" 2>/dev/null
    until_true finished "$1.poet"
}
figures() { # RUN OBJECT [THREAD]: acquisitions, held_ns, longest_hold_ns, waits, waited_ns, in a line
    poet locks "$1.poet" --json | python3 -c '
import json, sys
lock, found = None, None
for line in sys.stdin:
    o = json.loads(line)
    if "row" not in o: continue
    row = o["row"]
    if o["depth"] == 0: lock = row["object"]
    if lock == sys.argv[1] and (row["thread"] or "") == (sys.argv[2] if len(sys.argv) > 2 else ""):
        found = row
print(*[found[k] for k in ("acquisitions", "held_ns", "longest_hold_ns", "waits", "waited_ns")] if found else ["none"])
' "$2" ${3:+"$3"}
}
between() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; } # NUMBER LEAST MOST

# ---- a mutex that is held for known times, released while its thread waits for a condition ----
program held <<'C'
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, spare = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t config = PTHREAD_RWLOCK_INITIALIZER;
static struct sleeper sleeper;
static int full;
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static void *reader(void *a)
{
    pthread_setname_np(pthread_self(), "reader");
    pthread_rwlock_rdlock(&config);
    pthread_mutex_lock(&table);
    about_to_wait(&sleeper);
    while (!full)
        pthread_cond_wait(&filled, &table);
    pthread_mutex_unlock(&table);
    pthread_rwlock_unlock(&config);
    return a;
}
int main(void)
{
    pthread_t t;
    long long held = 0, around = 0, start = now();
    pthread_create(&t, 0, reader, 0);
    until_asleep(&sleeper, 1);
    pthread_rwlock_rdlock(&config); /* both read it */
    pthread_rwlock_unlock(&config);
    for (int i = 0; i < 20; i++) {
        long long before = now();
        pthread_mutex_lock(&table);
        long long begin = now();
        nap(2);
        full = i == 19;
        pthread_cond_signal(&filled);
        held += now() - begin;
        pthread_mutex_unlock(&table); // releases
        around += now() - before;
    }
    pthread_join(t, 0);
    pthread_mutex_lock(&spare);
    pthread_mutex_unlock(&spare);
    printf("%lld %lld %lld\n", held, around, now() - start);
    return 0;
}
C
read -r held around elapsed <held.out
set -- $(figures held M:table T:main)
is "a mutex: its acquisitions" "$1" 20
check "a mutex: the time for which it was held is that of the program's clock" between "$2" "$held" "$around"
set -- $(figures held M:table)
check "a mutex: the sum of its threads" between "$1" 22 200 # the reader, once and after each wake-up
check "a mutex: it is not held in a wait for a condition" between "$2" "$held" "$elapsed"
set -- $(figures held RW:config)
is "a read-write lock: its acquisitions" "$1" 2
set -- $(figures held M:spare)
is "a lock without waits" "$1 $4 $5" "1 0 0"
like "text: objects, their threads, and where they were held longest" "$(poet locks held.poet)" \
    '^M:table +[0-9]+ .* main \(held\.c:[0-9]+\)$'
is "text: no column about the end of the run if no lock was held then" "$(poet locks held.poet | grep -c 'at the end')" 0

# ---- every wait counts, and each hold ----
program convoy <<'C'
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper sleepers[3];
static void *worker(void *a)
{
    about_to_wait(a);
    pthread_mutex_lock(&table);
    nap(2);
    pthread_mutex_unlock(&table);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    pthread_mutex_lock(&table);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, &sleepers[i]);
    for (int i = 0; i < 3; i++) until_asleep(&sleepers[i], 1);
    pthread_mutex_unlock(&table);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
C
set -- $(figures convoy M:table)
is "acquisitions and waits" "$1 $4" "4 3"
is "the wait time is that of poet waits" "$5" \
    "$(poet waits convoy.poet --by object --json | json '[outer_rows | select(.object == "M:table") | .waited_ns] | add')"
is "each hold, with the threads that waited when it ended" \
    "$(poet locks convoy.poet --object M:table --by hold --json | json '[outer_rows | .waiters] | map(tostring) | join(" ")')" "3 2 1 0"
is "the holds add up to the time of the lock" \
    "$(poet locks convoy.poet --object M:table --by hold --json | json '[outer_rows | .held_ns] | add')" "$2"
is "the convoy: its waits and threads" "$(poet locks convoy.poet --by convoy --csv | tail -n +2 | head -n 1 | tr -d '\r' | cut -d, -f1,4,5)" "M:table,3,3"
is "the object by its number" "$(poet locks convoy.poet --object "$(poet locks convoy.poet --json | sed -n 's/.*"lines":\[\([0-9]*\).*/\1/p' | head -n 1)" --csv)" \
    "$(poet locks convoy.poet --object M:table --csv)"

# ---- parts of the run, and what is held at its end ----
first=$(poet locks convoy.poet --object M:table --by hold --json | json '[outer_rows | .from_ns] | .[1]')
is "a part of the run: the holds in it" \
    "$(poet locks convoy.poet --object M:table --by hold --from "${first}ns" --json | json '[outer_rows] | length')" 3
is "of some threads" "$(poet locks convoy.poet --threads main --csv | sed -n 2p | cut -d, -f3)" 1
program dead <<'C'
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&a);
    exit(3);
}
C
like "a lock that is held at the end" "$(poet locks dead.poet)" '^M:a .* held$'

# ---- errors ----
like "holds of all locks" "$(poet locks convoy.poet --by hold 2>&1)" '^poet locks: --by hold needs an object: --object LINE$'
like "no such lock" "$(poet locks convoy.poet --object M:tabel 2>&1)" '^poet locks: --object M:tabel: no such line'
like "no such row" "$(poet locks convoy.poet --by lok 2>&1)" 'lock, hold( or|,) convoy'
done_testing
