#!/bin/bash
# poet memory: allocations that were not freed, by thread and place, frees by other threads, double frees, after a kill, in a child.
. "$(dirname "$0")/lib.sh"

cat >takes.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *given, *keep[32];
static void *a(void *p)
{
    for (int i = 0; i < 7; i++)
        keep[i] = malloc(100);
    return p;
}
static void *b(void *p)
{
    for (int i = 0; i < 5; i++)
        keep[7 + i] = malloc(33);
    free(given);
    free(p); /* nothing */
    return 0;
}
static void many(void)
{
    void *p = calloc(3, 5), *q;
    p = realloc(p, 1000);
    p = reallocarray(p, 7, 11);
    if (posix_memalign(&q, 256, 50))
        exit(3);
    free(q);
    free(aligned_alloc(64, 128));
    keep[20] = p;
    keep[21] = strdup("eleven and "); /* 12 with its terminating zero */
}
static void twice(char *p) { free(p); }
int main(int argc, char **argv)
{
    pthread_t t;
    given = malloc(64);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t, 0, i ? b : a, 0);
        pthread_join(t, 0);
    }
    for (; argc > 1; argc--, argv++) {
        if (!strcmp(argv[1], "many"))
            many();
        if (!strcmp(argv[1], "fork") && !fork())
            _exit((keep[22] = malloc(5000)) == 0);
        if (!strcmp(argv[1], "kill"))
            kill(getpid(), 9);
        if (!strcmp(argv[1], "twice")) {
            char *p = malloc(40);
            free(p);
            twice(p);
        }
    }
    wait(0);
    return 0;
}
END
export POET_QUIET=1
check "takes.c compiles" cc -g -O0 -fno-builtin -w takes.c -o takes -pthread
# of FILE SCOPE THREAD COLUMN: a cell of the rows of `poet memory --json` in FILE
of() { perl -MJSON::PP -e 'my ($file, $scope, $thread, $column) = @ARGV; open my $f, "<", $file or die;
    print join " ", map { $_->{$column} // "null" } grep { ($_->{function} // "") =~ /^$scope/ && ($_->{thread} // "") eq $thread }
        map { decode_json($_)->{row} // () } <$f>' "$@"; }
total() { perl -MJSON::PP -e 'my ($file, $column) = @ARGV; open my $f, "<", $file or die;
    print map { $_->{$column} // "null" } map { decode_json($_)->{total} // () } <$f>' "$@"; }
# record NAME ARG...: records into NAME.poet, its table in NAME.json
record() {
    name=$1
    shift
    (poet record -m memory -o "$name.poet" ./takes "$@") 2>"$name.err"
    status=$?
    until_true finished "$name.poet"
    poet memory --json "$name.poet" >"$name.json"
}

# ---- allocations that were not freed ----
record plain
is "plain: the program ends normally" $status 0
is "memory: a has seven of a hundred blocks left" "$(of plain.json 'a \(takes.c:10' T:a unfreed_blocks) $(of plain.json 'a ' T:a unfreed_bytes)" "7 700"
is "memory: b has five of 33 blocks left" "$(of plain.json 'b \(takes.c:16' T:b unfreed_blocks) $(of plain.json 'b \(takes.c:16' T:b unfreed_bytes)" "5 165"
check "memory: usable size is not less than the requested size" [ "$(of plain.json 'a ' T:a usable)" -ge 700 ]
is "memory: main's block was freed by another thread" "$(of plain.json main T:main unfreed_blocks) $(of plain.json main T:main freed_by_other_thread) $(of plain.json main T:main freed_by_other_thread_bytes)" "0 1 64"
is "memory: free(NULL) is counted at its source line" "$(of plain.json 'b \(takes.c:18' T:b nulls)" 1
is "memory: the totals" "$(total plain.json unfreed_blocks) $(total plain.json unfreed_bytes) $(total plain.json freed_by_other_thread)" "12 865 1"
check "plain: the trace is sound" sound plain.poet
is "memory --by thread" "$(poet memory --csv --by thread plain.poet | cut -d, -f2-4)" "thread,unfreed_blocks,unfreed_bytes
T:a,7,700
T:b,5,165
T:main,0,0"
like "memory --by library" "$(poet memory --by library plain.poet)" "12 +865 +1 +0 +1 +13 +929 +takes"
is "memory --threads" "$(poet memory --csv --threads a plain.poet | tail -n +2 | cut -d, -f2-4)" "T:a,7,700"
like "memory as text" "$(poet memory plain.poet)" "^a \(takes.c:10\) +T:a +7 +700"
poet memory plain.poet -o plain.pdf
like "memory as PDF" "$(pdftotext -layout plain.pdf -)" "not freed"

# ---- all allocation functions; a child process ----
record many many fork
is "many: the program ends normally" $status 0
is "memory: a block of realloc has its final size" "$(of many.json many T:main unfreed_bytes | tr ' ' '\n' | sort -n | xargs)" "12 77"
is "memory: allocations of a child are not its parent's" "$(total many.json unfreed_bytes)" 954
is "memory: no freed block was unknown" "$(grep -c "before tracing started" many.json)" 0

# ---- a double free: the C library aborts the program, and it is recorded ----
(./takes twice) >/dev/null 2>&1
plain=$?
record twice twice
is "twice: the status is that of an untraced run" $status $plain
is "memory: the double free has its place" "$(of twice.json 'twice \(takes.c:33' T:main error)" "double free"
like "memory: the double free has the place of the first free" "$(of twice.json twice T:main first_freed_at)" "^main \(takes.c:5[0-9]\)"

# ---- killed ----
record killed kill
is "killed: the program was killed by SIGKILL" $status 137
is "killed: memory has all allocations" "$(total killed.json unfreed_blocks) $(total killed.json unfreed_bytes)" "12 865"

# ---- live, from a server ----
start_server -o traces/ -q
poet record -m memory ./takes
until_true finished latest
poet memory --json latest >live.json
stop_server
poet memory --json traces/takes*.poet >file.json
is "live: memory of the server" "$(total live.json unfreed_bytes)" 865
check "live: memory of the file equals that of the server" diff live.json file.json

# ---- results are those of an untraced run ----
seq 50000 | sort -r >numbers
poet record -m memory -o sort.poet sort --parallel=4 -n numbers >sorted 2>sort.err
is "poet record -m memory: sort ends normally" $? 0
check "poet record -m memory: sort writes its result" cmp sorted <(seq 50000)
is "poet record -m memory: sort prints no message" "$(cat sort.err)" ""
if command -v xz >/dev/null; then
    poet record -m memory -o xz.poet xz -T2 -c numbers | xz -d >back
    check "poet record -m memory: xz writes its result" cmp back numbers
fi
poet record -o none.poet grep -c libpoet-memory /proc/self/maps >maps
is "without -m memory libpoet-memory is not loaded" "$(cat maps)" 0
poet record -o not.poet ./takes
like "without -m memory poet memory gives a note" "$(poet memory not.poet)" "no heap data: use poet record -m memory"
is "record -m: an unknown measurement exits with 2" "$(poet record -m cat ./takes 2>/dev/null; echo $?)" 2
done_testing
