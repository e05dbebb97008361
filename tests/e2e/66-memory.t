#!/bin/bash
# What is taken from the heap: by whom, where, given back by whom, twice, killed, in a child; and programs do as they did.
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
    keep[21] = strdup("eleven and "); /* 12 with its end */
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
check "it compiles" cc -g -O0 -fno-builtin -w takes.c -o takes -pthread
# of FILE SCOPE THREAD COLUMN: of the rows of `poet memory --json` in FILE
of() { perl -MJSON::PP -e 'my ($file, $scope, $thread, $column) = @ARGV; open my $f, "<", $file or die;
    print join " ", map { $_->{$column} // "null" } grep { ($_->{function} // "") =~ /^$scope/ && ($_->{thread} // "") eq $thread }
        map { decode_json($_)->{row} // () } <$f>' "$@"; }
total() { perl -MJSON::PP -e 'my ($file, $column) = @ARGV; open my $f, "<", $file or die;
    print map { $_->{$column} // "null" } map { decode_json($_)->{total} // () } <$f>' "$@"; }
# record NAME ARG...: to NAME.poet, its table in NAME.json
record() {
    name=$1
    shift
    (poet record -m memory -o "$name.poet" ./takes "$@") 2>"$name.err"
    status=$?
    until_true finished "$name.poet"
    poet memory --json "$name.poet" >"$name.json"
}

# ---- never freed ----
record plain
is "it ends as it did" $status 0
is "a: seven of a hundred" "$(of plain.json 'a \(takes.c:10' T:a unfreed_blocks) $(of plain.json 'a ' T:a unfreed_bytes)" "7 700"
is "b: five of 33" "$(of plain.json 'b \(takes.c:16' T:b unfreed_blocks) $(of plain.json 'b \(takes.c:16' T:b unfreed_bytes)" "5 165"
check "usable is no less" [ "$(of plain.json 'a ' T:a usable)" -ge 700 ]
is "main's block was freed by another" "$(of plain.json main T:main unfreed_blocks) $(of plain.json main T:main freed_by_other_thread) $(of plain.json main T:main freed_by_other_thread_bytes)" "0 1 64"
is "free(NULL) is b's, with its line" "$(of plain.json 'b \(takes.c:18' T:b nulls)" 1
is "in all" "$(total plain.json unfreed_blocks) $(total plain.json unfreed_bytes) $(total plain.json freed_by_other_thread)" "12 865 1"
check "the trace is sound" sound plain.poet
is "by thread" "$(poet memory --csv --by thread plain.poet | cut -d, -f2-4)" "thread,unfreed_blocks,unfreed_bytes
T:a,7,700
T:b,5,165
T:main,0,0"
like "by library" "$(poet memory --by library plain.poet)" "12 +865 +1 +0 +1 +13 +929 +takes"
is "of one thread" "$(poet memory --csv --threads a plain.poet | tail -n +2 | cut -d, -f2-4)" "T:a,7,700"
like "in words" "$(poet memory plain.poet)" "^a \(takes.c:10\) +T:a +7 +700"
poet memory plain.poet -o plain.pdf
like "on paper" "$(pdftotext -layout plain.pdf -)" "not freed"

# ---- all calls; a child ----
record many many fork
is "it ends as it did" $status 0
is "what realloc gave is one block of 77 bytes, a copy 12" "$(of many.json many T:main unfreed_bytes | tr ' ' '\n' | sort -n | xargs)" "12 77"
is "what a child takes is not its parent's" "$(total many.json unfreed_bytes)" 954
is "all that was freed was known" "$(grep -c "before tracing started" many.json)" 0

# ---- freed twice: the C library ends it, and it is there ----
(./takes twice) >/dev/null 2>&1
plain=$?
record twice twice
is "it is ended as it was" $status $plain
is "the second one has its place" "$(of twice.json 'twice \(takes.c:33' T:main error)" "double free"
like "and where the first was" "$(of twice.json twice T:main first_freed_at)" "^main \(takes.c:5[0-9]\)"

# ---- killed ----
record killed kill
is "it is killed" $status 137
is "and all is known" "$(total killed.json unfreed_blocks) $(total killed.json unfreed_bytes)" "12 865"

# ---- live, by a server ----
start_server -o traces/ -q
poet record -m memory ./takes
until_true finished latest
poet memory --json latest >live.json
stop_server
poet memory --json traces/takes*.poet >file.json
is "the server knows it" "$(total live.json unfreed_bytes)" 865
check "the file says what the server said" diff live.json file.json

# ---- programs do as they did ----
seq 50000 | sort -r >numbers
poet record -m memory -o sort.poet sort --parallel=4 -n numbers >sorted 2>sort.err
is "sort ends well" $? 0
check "and sorts" cmp sorted <(seq 50000)
is "without a word" "$(cat sort.err)" ""
if command -v xz >/dev/null; then
    poet record -m memory -o xz.poet xz -T2 -c numbers | xz -d >back
    check "xz packs" cmp back numbers
fi
poet record -o none.poet grep -c libpoet-memory /proc/self/maps >maps
is "nobody has it who did not ask" "$(cat maps)" 0
poet record -o not.poet ./takes
like "and it is said" "$(poet memory not.poet)" "no heap data: use poet record -m memory"
is "another meter is refused" "$(poet record -m cat ./takes 2>/dev/null; echo $?)" 2
done_testing
