# Which run `latest` is, and that each table says which run it is about.
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
is "beside a live run that began before, the newest is another" \
    "$(poet stat --json | perl -ne 'print $1 if /"run":"([^"]*)"/')" late
kill "$early"
wait "$early" 2>/dev/null
until_true finished "$(trace_of early)"
touch -d '+1 hour' "$(trace_of early)"
touch -d '-1 hour' "$(trace_of late)"
is "the newest run is the one that began last, whenever its file was written" \
    "$(poet dump | md5sum)" "$(poet dump "$(trace_of late)" | md5sum)"
is "as poet ls has it" "$(poet ls | awk 'NR == 2 { print $1 }')" "$(trace_of late)"
check "the file is whole" poet check "$(trace_of late)"

like "a table says which run it is of, and when that began" "$(poet states | head -n 1)" \
    "^late: .*; run of 20[0-9-]* [0-9:]*$"
begun=$(poet ls --json late.*.poet | perl -ne 'print $1 if /"start_ns":(\d+)/')
like "and as JSON" "$(poet states --json | head -n 1)" "\"run\":\"late\",\"start_ns\":$begun,"
# What the head says of it is not believed where it is damaged.
cp "$(trace_of early)" bad.poet
printf '\377' | dd of=bad.poet bs=1 seek=103 conv=notrunc 2>/dev/null
touch -d '-2 hours' bad.poet
is "a damaged begin is not believed" \
    "$(poet dump | md5sum)" "$(poet dump "$(trace_of late)" | md5sum)"
like "and said to be damaged" "$(poet check bad.poet 2>&1)" "damage|cannot be read"
done_testing
