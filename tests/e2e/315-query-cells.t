#!/bin/bash
# poet query and poet export -f sqlite: each cell of each table is that of the command's --json, on traces of programs of
# several kinds; and docs/query.md names each table and column.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
start_server -o traces/ -q

# same_cells NAME SOURCE [also]: compares all tables
same_cells() {
    rm -f cells.sqlite
    check "$1: export" poet export "$2" -f sqlite -o cells.sqlite
    like "$1: each cell is that of --json" "$(python3 "$root/tests/e2e/query-cells.py" "$2" cells.sqlite $3 2>&1)" \
        '^[0-9]+ tables, [1-9][0-9]{2,} cells$'
}
trace() { ls -t traces/"$1"-*.poet | head -n 1; }

for example in prodcons list buffer stages tasks; do
    compile "$example"
    ./$example >/dev/null
    check "$example: the trace is sound" sound latest
    same_cells "$example" "$(trace "$example")"
done

# ---- a hang, live and ended ----
compile deadlock
./deadlock &
hung=$!
pids="$pids $hung"
blocked_all() { poet blocked latest | grep -q DEADLOCK; }
check "deadlock: it hangs" until_true blocked_all
is "a live run can be queried" "$(poet query --csv latest 'select count(*) from deadlocks' | tr -d '\r' | tail -n 1)" 2
kill -KILL $hung
wait $hung 2>/dev/null
check "deadlock: the run ends" order_ends latest
same_cells deadlock "$(trace deadlock)" also

# ---- a profile, heap blocks, and processes ----
cat >profile.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *kept[20];
static void keep(int i) { kept[i] = malloc(10 + (size_t)i); }
static void *work(void *p)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&m);
        keep(i);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
C
poetcc -trace -profile -g profile.c -o profile
POET_MEASURE=calls=every,memory poet record -o profile.poet -- ./profile
check "profile: the run ends" order_ends profile.poet
same_cells profile profile.poet also
for table in calls call_paths call_intervals waits; do
    like "profile: $table has rows" "$(poet query --csv profile.poet "select count(*) from $table" | tr -d '\r' | tail -n 1)" '^[1-9]'
done

# ---- docs/query.md has the schema ----
# Prints "TABLE COLUMN" for each column of a list of tables.
columns_of() {
    poet query "$1" | sed -n '/^Tables of commands/q;p' | awk '
        /^[a-z]/ { sub(/:.*/, ""); table = $0; next }
        { gsub(/ (integer|real)/, ""); gsub(/,/, " "); for (i = 1; i <= NF; i++) print table, $i }'
}
is "docs/query.md names each table and column" "$(for trace in profile.poet "$(trace deadlock)" "$(trace tasks)"; do
    columns_of "$trace"; done | sort -u | while read -r table column; do
    grep "^| \`$table\`" "$root/docs/query.md" | grep -q "\`$column\`" || echo "$table.$column"; done | paste -sd' ')" ""
done_testing
