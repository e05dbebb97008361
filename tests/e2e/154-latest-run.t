#!/bin/bash
# Which run `latest` names, and the header line in which each table names its run.
. "$(dirname "$0")/lib.sh"

cat >early.c <<'X'
#include <pthread.h>
#include <unistd.h>
int main(void)
{
    char c;
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return read(0, &c, 1) == 1;
}
X
sed 's/return read.*/return 0 * c;/; s/char c;/char c = 0;/' early.c >late.c
for p in early late; do poetcc -trace $p.c -o $p || exit 1; done

# The run that began first ends last, and its file is written last.
mkfifo go
exec 3<>go
./early <go 2>/dev/null &
early=$!
pids="$pids $early"
has_early() { [ -n "$(trace_of early)" ] && [ "$(figure "$(trace_of early)" events)" -ge 2 ]; }
until_true has_early
./late 2>/dev/null
until_true finished "$(trace_of late)"
is "latest: a live run that began later takes precedence" \
    "$(poet stat --json | json '.[].run')" late
kill "$early"
wait "$early" 2>/dev/null
until_true finished "$(trace_of early)"
touch -d '+1 hour' "$(trace_of early)"
touch -d '-1 hour' "$(trace_of late)"
is "latest: the run that began last, whichever file was written last" \
    "$(poet dump | md5sum)" "$(poet dump "$(trace_of late)" | md5sum)"
is "poet ls lists the run that began last first" "$(poet ls | awk 'NR == 2 { print $1 }')" "$(trace_of late)"
check "the trace passes poet check" poet check "$(trace_of late)"

like "tables name their run and its start in the first line" "$(poet states | head -n 1)" \
    "^late: .*; run of 20[0-9-]* [0-9:]*$"
begun=$(poet ls --json late.*.poet | sed -n 's/.*"start_ns":\([0-9]*\).*/\1/p')
like "tables in JSON name their run and its start" "$(poet states --json | head -n 1)" "\"run\":\"late\",\"start_ns\":$begun,"
# A damaged file header is ignored.
cp "$(trace_of early)" bad.poet
printf '\377' | dd of=bad.poet bs=1 seek=103 conv=notrunc 2>/dev/null
touch -d '-2 hours' bad.poet
is "latest: a start time in a damaged header is ignored" \
    "$(poet dump | md5sum)" "$(poet dump "$(trace_of late)" | md5sum)"
like "poet check reports the damaged header" "$(poet check bad.poet 2>&1)" "damage|cannot be read"
done_testing
