#!/bin/bash
# Every table has the same figures in every format, live and from the file; incomplete runs are reported as such.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
tables="states
states --list
states --tasks
states --created
waits
waits --while
waits --by wait
waits --knots
path --top 999
path --by piece
report"

# ---- threads, a mutex, a barrier, a semaphore, a condition variable, a read-write lock, under any schedule ----
cat >mixed.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t all;
static sem_t places;
static int jobs;
static void pause_ms(int ms) { clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, ms * 1000000L}, 0); }
static void *work(void *number)
{
    long me = (long)number;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        while (!jobs) pthread_cond_wait(&filled, &m);
        jobs--;
        pthread_mutex_unlock(&m);
        sem_wait(&places), pause_ms((int)me), sem_post(&places);
        me == 2 ? pthread_rwlock_wrlock(&l) : pthread_rwlock_rdlock(&l);
        pause_ms(1);
        pthread_rwlock_unlock(&l);
        pthread_barrier_wait(&all);
    }
    return number;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&all, 0, 3);
    sem_init(&places, 0, 1);
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 9; i++) {
        pause_ms(1);
        pthread_mutex_lock(&m), jobs++, pthread_cond_signal(&filled), pthread_mutex_unlock(&m);
    }
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -g mixed.c -o mixed || exit 1
start_server -o mixed.poet -q
./mixed
until_true finished latest
wait=$(poet waits --by wait --top 1 --json latest | sed -n 's/.*"depth":0.*"event":"\([0-9:]*\)".*/\1/p')
tables="$tables
waits --why $wait"
echo "$tables" | while read -r table; do poet $table --json "$endpoint" >"live.$(echo "$table" | tr ' ' .)"; done
stop_server
check "mixed: the trace is sound" sound mixed.poet

# words [HEAD]: the text without layout and pages; HEAD, the column titles, once
words() {
    tr '\f' '\n' | sed 's/  */ /g; s/^ //; s/ $//' |
        awk -v head="$1" '/^[0-9]+\/[0-9]+$/ || !NF { next } $0 == head && seen++ { next } { print }' | tr '\n' ' ' | sed 's/ note: / /g'
}
while read -r table; do
    poet $table --json mixed.poet >file.json
    check "$table: the live table equals that of the file" cmp "live.$(echo "$table" | tr ' ' .)" file.json
    poet ${table/#report/report --all} mixed.poet >whole
    words <whole >text
    poet $table mixed.poet -o table.pdf
    pdftotext -layout table.pdf - | words "$(sed -n 2p whole | sed 's/  */ /g; s/^ //; s/ $//')" >paper
    check "$table: text and PDF have the same words" sh -c "cmp paper text || diff paper text"
    case $table in states | waits | report)
        cp table.pdf before.pdf
        poet $table mixed.poet -o table.pdf
        check "$table: the PDF has the same bytes each time" cmp table.pdf before.pdf ;;
    esac
    [ "$table" = report ] && continue # several tables with different columns
    poet $table --csv mixed.poet >table.csv
    check "$table: CSV and JSON have the same figures" python3 - <<'PY'
import csv, json
rows, named = [], None
for o in map(json.loads, open("file.json")):
    if "columns" in o: named = [c["name"] for c in o["columns"]]
    elif "row" in o: rows.append(["" if o["row"][n] is None else o["row"][n] for n in named])
told = list(csv.reader(open("table.csv", newline="")))
assert told[0] == named, (told[0], named)
assert len(told) == len(rows) + 1, (len(told), len(rows))
same = lambda a, b: a == str(b) or (isinstance(b, float) and float(a) == b)
for a, b in zip(told[1:], rows): assert all(map(same, a, b)), (a, b)
PY
done <<<"$tables"

# ---- totals ----
figure_of() { grep -o "\"$1\":[0-9]*" | tail -n 1 | tr -dc 0-9; }
long=$(poet path --json mixed.poet | tail -n 1 | figure_of length_ns)
step=$(poet path mixed.poet --json | sed -n '2s/.*"segment":"\([^"]*\)".*/\1/p')
is "path --what-if with factor 1 has the length of the run" \
    "$(poet path --json --what-if "$step=1" mixed.poet | tail -n 1 | figure_of if_ns)" "$long"
is "path --by piece: the pieces are consecutive" "$(poet path --by piece --json mixed.poet |
    json '[rows] | (range(1; length) as $i | select(.[$i].from_ns != (.[$i - 1] | .from_ns + .critical_path_ns)) | "gap"),
        sum(.[].critical_path_ns)')" "$long"

# ---- a truncated file ----
size=$(stat -c %s mixed.poet)
for less in 20 400 4000; do
    head -c $((size - less)) mixed.poet >cut.poet
    like "truncated by $less: waits --json has a note" "$(poet waits --json cut.poet 2>cut.txt | tail -n 1)" "the trace is truncated; later activity is unknown"
    like "truncated by $less: a warning is printed" "$(cat cut.txt)" "the trace is truncated"
    is "truncated by $less: times add up" "$(poet check cut.poet 2>&1 | grep -E 'interval of|states of|release of|do not sum|length of|worker thread')" ""
done
like "truncated: the PDF has the note" "$(poet states cut.poet -o cut.pdf 2>/dev/null; pdftotext cut.pdf - | words)" "the trace is truncated; later"
is "truncated: the report has the note once" "$(poet report cut.poet 2>/dev/null | grep -c 'the trace is truncated')" 1

# ---- a run under --keep: all threads run in step, so that no thread has its whole lifetime in the kept part ----
cat >long.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static void *work(void *x)
{
    for (int i = 0; i < 250000; i++) {
        if (i % 10000 == 0) pthread_barrier_wait(&all);
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    }
    return x;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&all, 0, 3);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -O2 -g long.c -o long || exit 1
start_server --keep 16M -o kept.poet -q
./long
until_true finished latest
for table in states waits path; do poet $table --json "$endpoint" >live.$table; done
stop_server
first=$(poet states --json kept.poet | sed -n 's/.*the first \([0-9]*\) events were discarded.*/\1/p')
like "--keep: states report the number of discarded events" "$first" "^[1-9][0-9]*$"
is "--keep: kept and discarded events are all" "$(($(poet dump --json kept.poet | grep -c '^{"event"') + first))" "$(figure kept.poet events)"
for table in states waits path; do
    poet $table --json kept.poet >file.json
    check "--keep, $table: the live table equals that of the file" cmp live.$table file.json
    like "--keep, $table: a note has the number of discarded events" "$(tail -n 1 file.json)" "the first $first events were discarded"
done
like "--keep: an unknown time of creation is null" "$(poet states --tasks --json kept.poet | grep '"T:main"')" '"created_at_ns":null'
like "--keep: an unknown time of start is null" "$(poet states --created --json kept.poet | grep '"T:main"')" '"started_at_ns":null'
like "--keep: the start of the critical path is reported" "$(poet path kept.poet)" "the path starts at .*: earlier events were discarded"
check "--keep: poet check accepts the file" poet check kept.poet
done_testing
