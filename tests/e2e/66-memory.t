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
expect plain.json <<'E'
memory: a has seven of a hundred blocks left | row("a (takes.c:10)") | of("T:a") | .unfreed_blocks, .unfreed_bytes => 7 700
memory: b has five of 33 blocks left | row("b (takes.c:16)") | of("T:b") | .unfreed_blocks, .unfreed_bytes => 5 165
memory: usable size is not less than the requested size | row("a") | of("T:a").usable >= 700 => true
E
is "memory: main's block was freed by another thread" "$(json 'row("main") | of("T:main") |
    "\(.unfreed_blocks) \(.freed_by_other_thread) \(.freed_by_other_thread_bytes)"' plain.json)" "0 1 64"
expect plain.json <<'E'
memory: free(NULL) is counted at its source line | row("b (takes.c:18)") | of("T:b").nulls => 1
memory: the totals | total | .unfreed_blocks, .unfreed_bytes, .freed_by_other_thread => 12 865 1
E
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
expect many.json <<'E'
memory: a block of realloc has its final size | [row("many") | of("T:main").unfreed_bytes] | sort[] => 12 77
memory: allocations of a child are not its parent's | total.unfreed_bytes => 954
E
is "memory: no freed block was unknown" "$(grep -c "before tracing started" many.json)" 0

# ---- a double free: the C library aborts the program, and it is recorded ----
(./takes twice) >/dev/null 2>&1
plain=$?
record twice twice
is "twice: the status is that of an untraced run" $status $plain
is "memory: the double free has its place" \
    "$(json 'row("twice (takes.c:33)") | of("T:main").error' twice.json)" "double free"
like "memory: the double free has the place of the first free" \
    "$(json '[row("twice") | of("T:main").first_freed_at][0]' twice.json)" "^main \(takes.c:5[0-9]\)"

# ---- killed ----
record killed kill
is "killed: the program was killed by SIGKILL" $status 137
is "killed: memory has all allocations" \
    "$(json 'total | "\(.unfreed_blocks) \(.unfreed_bytes)"' killed.json)" "12 865"

# ---- live, from a server ----
start_server -o traces/ -q
poet record -m memory ./takes
until_true finished latest
poet memory --json latest >live.json
stop_server
poet memory --json traces/takes*.poet >file.json
is "live: memory of the server" "$(json total.unfreed_bytes live.json)" 865
check "live: memory of the file equals that of the server" diff live.json file.json

# ---- a program with a malloc of its own ----
cat >own.cc <<'END'
#include <cstddef>
alignas(64) static char memory[1 << 20];
static std::size_t used;
extern "C" void *malloc(std::size_t bytes)
{
    void *p = memory + used;
    used += (bytes + 63) & ~std::size_t(63);
    return p;
}
extern "C" void *aligned_alloc(std::size_t, std::size_t bytes) { return malloc(bytes); }
extern "C" int posix_memalign(void **p, std::size_t, std::size_t bytes) { return !(*p = malloc(bytes)); }
static bool is_own(void *p) { return p >= memory && p < memory + sizeof memory; }
static unsigned freed, freed_of_others;
extern "C" void free(void *p) { ++*(!p || is_own(p) ? &freed : &freed_of_others); }
extern "C" void *calloc(std::size_t n, std::size_t bytes) { return malloc(n * bytes); }
extern "C" void *realloc(void *, std::size_t bytes) { return malloc(bytes); }
int main()
{
    int *kept = new int[10];
    struct alignas(64) line { char of[64]; } *aligned = new line;
    unsigned before = freed;
    delete new char;
    delete aligned;
    return !is_own(kept) + 2 * (freed != before + 2) + 4 * (freed_of_others > 0);
}
END
c++ -std=c++17 -g own.cc -o own && ./own
is "a program with a malloc of its own: operators new and delete use it" "$?" 0
poet record -m memory -o own.poet ./own
is "and so they do under poet record -m memory" "$?" 0
like "a program with a malloc of its own: poet memory says what is measured" "$(poet memory own.poet)" \
    "note: own\[[0-9]+\] defines malloc itself, which is not measured: only operators new and delete are"
cat >plt.c <<'END'
#include <stdlib.h>
int main(void)
{
    void *(*volatile allocate)(size_t) = malloc; /* the address is that of the program's PLT entry */
    void (*volatile release)(void *) = free;
    release(allocate(10));
    return allocate(20) == 0;
}
END
cc -g -fno-pie -no-pie plt.c -o plt && poet record -m memory -o plt.poet ./plt
is "a program that is not position-independent, and takes the address of malloc, runs" "$?" 0
is "and defines no malloc" "$(poet memory plt.poet | grep -c 'defines malloc')" 0
like "without one it does not" "$(poet memory traces/takes*.poet | grep -c 'defines malloc')" "^0$"

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
