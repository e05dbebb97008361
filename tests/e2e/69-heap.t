#!/bin/bash
# poet memory: call stacks, C++, invalid frees, each block, heap size over time; and programs with invalid frees
# end as they do untraced.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >forms.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <string>
#define KEPT __attribute__((noinline))
struct alignas(64) wide { char c[64]; };
static void *volatile keep[32];
KEPT static void all_forms()
{
    delete new int;
    delete[] new int[5];
    operator delete(operator new(4, std::nothrow));
    operator delete[](operator new[](4, std::nothrow));
    delete new wide;
    delete[] new wide[2];
    operator delete(operator new(10), (std::size_t)10);
    operator delete[](operator new[](10), (std::size_t)10);
    operator delete(operator new(10), std::nothrow);
    operator delete(operator new(10, std::align_val_t(128)), (std::size_t)10, std::align_val_t(128));
    operator delete[](operator new[](10, std::align_val_t(128)), std::align_val_t(128));
    free(memalign(64, 10));
    free(valloc(10));
    free(pvalloc(10));
    free(aligned_alloc(64, 64));
}
KEPT static void grows()
{
    std::string *s = new std::string("x");
    s->append(500, 'y');
    keep[0] = s;
}
KEPT static void lines()
{
    char *line = nullptr, *text;
    size_t n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (getline(&line, &n, f) < 0 || asprintf(&text, "%d", 12345) < 0)
        exit(3);
    keep[1] = line;
    keep[2] = text;
    fclose(f);
    puts(""); /* the C library's own buffer */
}
KEPT static void thrown()
{
    volatile size_t most = (size_t)1 << 62;
    try {
        keep[9] = new char[most];
    } catch (const std::bad_alloc &) {
        keep[9] = new char[7];
    }
}
KEPT static void inner(int n) { keep[10 + n] = malloc(1000 + n); }
KEPT static void middle(int n) { inner(n); inner(n + 2); keep[31] = nullptr; }
KEPT static void outer() { middle(0); middle(1); keep[31] = nullptr; }
static int order(const void *a, const void *b)
{
    keep[8] = malloc(3000);
    free(keep[8]);
    return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
    alignas(16) char local[64];
    memset(local, 0, sizeof local); // no size stands before it, so that the C library always rejects it
    int numbers[2] = {2, 1};
    for (int i = 1; i < argc; i++) {
        std::string how = argv[i];
        if (how == "forms") all_forms();
        if (how == "grows") grows();
        if (how == "lines") lines();
        if (how == "thrown") thrown();
        if (how == "deep") { outer(); qsort(numbers, 2, sizeof *numbers, order); }
        if (how == "twice") { free(keep[3] = malloc(9)); free(keep[3]); }
        if (how == "stack") free(local + 16);
        if (how == "inside") free((char *)(keep[3] = malloc(99)) + 3);
        if (how == "new-free") free(keep[3] = operator new(4));
        if (how == "malloc-delete") { keep[3] = malloc(4); operator delete(keep[3]); }
        if (how == "array") { keep[3] = operator new[](12); operator delete(keep[3]); }
        if (how == "null") for (int k = 0; k < 5; k++) free(keep[7]);
        if (how == "again") { keep[3] = realloc(realloc(nullptr, 10), 20); free(keep[3]); }
    }
}
END
check "forms.cc compiles" c++ -std=c++17 -g -O2 -fno-builtin -w forms.cc -o forms
# record NAME PROGRAM ARG...: records into NAME.poet, its table in NAME.json; the status in $status
record() {
    name=$1
    shift
    { (poet record -m memory -o "$name.poet" "$@" >/dev/null) 2>"$name.err"; } 2>/dev/null
    status=$?
    until_true finished "$name.poet"
    poet memory --json "$name.poet" >"$name.json"
}

# ---- callers, through libraries ----
record all ./forms forms grows lines thrown again
is "all: the program ends normally" $status 0
expect all.json <<'E'
memory: growth of a std container is attributed to its caller | [row("grows").unfreed_bytes] | sort[] => 32 502
memory: allocations of the C library are attributed to its caller | [row("lines").unfreed_bytes] | sort[] => 6 120
memory: allocations after a new that threw | row("thrown").unfreed_bytes => 7
memory: nothing else is left | total.unfreed_bytes => 667
E
is "memory: no invalid free is reported" "$(grep -c '"error":"' all.json)" 0
like "memory: buffers of the C library are listed separately" "$(poet memory all.poet)" "bytes\) belong to libc and the dynamic loader"
is "memory --by function" "$(poet memory --csv --by function --columns function,unfreed_blocks,unfreed_bytes all.poet | tr -d '\r' | grep -E '^(grows|lines)' | sort | xargs)" "grows,2,534 lines,2,126"
is "memory --by file" "$(poet memory --csv --by file --columns function,unfreed_blocks,unfreed_bytes all.poet | tr -d '\r' | grep -c 'forms.cc,5,667$')" 1

# ---- call stacks ----
record deep ./forms deep
poet memory --tree --columns function,unfreed_bytes deep.poet >tree.txt
is "memory --tree: the tree of callers" \
    "$(sed -nE 's/^( *[A-Za-z_0-9]+) \(forms.cc:[0-9]+\) +([0-9]+).*/\1 \2;/p' tree.txt | tr -d '\n' | sed 's/main 0.*//')" \
    "main 4006;  outer 2004;    middle 1003;      inner 1003;    middle 1001;      inner 1001;  outer 2002;    middle 1002;      inner 1002;    middle 1000;      inner 1000;"
is "memory --tree: each path has its bytes" "$(sed -nE 's/.*inner.* ([0-9]+)$/\1/p' tree.txt | tr '\n' ' ')" "1003 1001 1002 1000 "
like "memory --by path: a call through a library and back" "$(poet memory --by path --json deep.poet | grep '"function":"order')" '"context":\["order [^]]*"qsort[^]]*"main'
poet memory --tree --csv deep.poet >tree.csv
is "memory --tree: complete stacks end at main" "$(grep -c -E '_start|libc_start' tree.csv)" 0
like "memory: no stack is incomplete" "$(poet memory deep.poet | grep -c 'only in part')" "^0"

# ---- invalid frees are events, recorded before the C library aborts the program ----
# wrong HOW TYPE FAULT
wrong() {
    { (./forms "$1" >/dev/null) 2>/dev/null; } 2>/dev/null
    local plain=$?
    record wrong ./forms "$1"
    is "$1: the status is that of an untraced run" $status $plain
    like "$1: the invalid free is an event with its source line" "$(poet dump wrong.poet)" "$2 .*T:main .*forms.cc:[0-9]+"
    like "$1: memory has a row of the invalid free with its event" "$(grep '"error":"' wrong.json)" "\"error\":\"$3\".*\"event\":\"1:"
}
wrong twice double_free "double free"
wrong stack invalid_free "invalid free \\(not an allocation\\)"
wrong inside invalid_free "invalid free \\(not a block start\\)"
wrong new-free mismatched_free "mismatched: new \\+ free"
wrong malloc-delete mismatched_free "mismatched: malloc \\+ delete"
wrong array mismatched_free "mismatched: new\\[\\] \\+ delete or new \\+ delete\\[\\]"
record null ./forms null
is "memory: free(NULL) is counted" "$(json 'row("main").nulls' null.json)" 5
is "memory: the first free(NULL) is an event" "$(poet dump null.poet | grep -c free_null)" 1

# ---- each block ----
cat >each.c <<'END'
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct female { char name[128]; int age; double height; };
struct male { char name[100]; short age; struct female *knows; };
static void *all[9];
static void show(int i, void *p, size_t n)
{
    char text[100];
    all[i] = p;
    sprintf(text, "%p,%zu,%zu\n", p, n, malloc_usable_size(p));
    fputs(text, stderr);
}
int main(int argc, char **argv)
{
    static const size_t sizes[] = {sizeof(char), sizeof(int), sizeof(float), sizeof(double), sizeof(struct female),
                                   sizeof(struct male), 6, 9, 12};
    for (int i = 0; i < 9; i++)
        show(i, malloc(sizes[i]), sizes[i]);
    free(malloc(50));
    free(argv[argc]); /* nothing */
    if (argc > 1)
        getchar();
    for (int i = 0; argc > 1 && i < 9; i++)
        free(all[i]);
    if (argc > 1)
        getchar();
    return 0;
}
END
check "each.c compiles" cc -g -O0 -fno-builtin each.c -o each
record each ./each
is "memory --each: nine blocks with the addresses and sizes that the program prints" \
    "$(poet memory --each --csv --columns address,unfreed_bytes,usable each.poet | tr -d '\r' | grep ^0x | sort)" "$(sort each.err)"
like "memory --each: a block has its stack" "$(poet memory --each --json each.poet | sed -n 2p)" '"context":\["main \(each.c:[0-9]+\)"\]'
is "memory: free(NULL) has its source line" "$(json 'row("main (each.c:22)").nulls' each.json)" 1

# ---- live; heap size over time ----
mkfifo go
start_server -o traces/ -q
poet record -m memory ./each wait <go 2>/dev/null &
recorded=$!
exec 9>go
blocks() { poet memory --each --csv --columns address latest 2>/dev/null | grep -c ^0x; }
has() { [ "$(blocks)" = "$1" ]; }
check "live: each block is listed" until_true has 9
echo >&9
check "live: freed blocks are not listed" until_true has 0
exec 9>&-
wait $recorded
until_true finished latest
like "memory --chart curves has the heap size" "$(poet memory --chart curves latest)" "heap_live"
like "memory has the peak heap size" "$(poet memory latest)" "peak heap of .*: [0-9]{3,} bytes at [0-9]"
stop_server

# ---- comparison with valgrind ----
cat >leak.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *volatile x;
static void *a(void *p) { for (int i = 0; i < 7; i++) x = malloc(100); return p; }
static void *b(void *p) { for (int i = 0; i < 5; i++) x = malloc(33); free(p); free(0); return 0; }
int main(void)
{
    void *given = malloc(64);
    pthread_t t, u;
    pthread_create(&t, 0, a, 0);
    pthread_create(&u, 0, b, given);
    pthread_join(t, 0);
    pthread_join(u, 0);
    x = 0;
}
END
check "leak.c compiles" cc -g -fno-builtin -w leak.c -o leak -pthread
record leak ./leak
expect leak.json <<'E'
memory: 12 blocks, 865 bytes | total | .unfreed_blocks, .unfreed_bytes, .freed_by_other_thread_bytes => 12 865 64
E
if command -v valgrind >/dev/null; then
    valgrind --leak-check=full ./leak 2>memcheck
    like "valgrind's memcheck counts the same bytes and blocks" "$(cat memcheck)" "definitely lost: 865 bytes in 12 blocks"
else
    skip "valgrind is not installed: memcheck's counts" "valgrind is not installed"
fi

# ---- a child of fork that records ----
cat >child.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile keep, *volatile mine;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void child(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    mine = malloc(5000);
    free(keep); /* allocated by its parent */
    free(malloc(10));
}
int main(void)
{
    keep = malloc(300);
    if (!fork()) {
        child();
        _exit(0);
    }
    wait(0);
    free(keep);
    return 0;
}
END
check "child.c compiles" cc -g -O0 -fno-builtin child.c -o child -pthread
record child ./child
expect child.json <<'E'
memory: a child has its own allocations | row("child"), total | .unfreed_bytes => 5000 5000
E
is "memory: a free of the parent's block in the child is valid" "$(grep -c '"error":"' child.json)" 0

# ---- programs with operators new and delete of their own ----
cat >own.cc <<'END'
#include <cstdlib>
#include <new>
static void *volatile keep;
void *operator new(std::size_t n) { if (void *p = malloc(n + 16)) return (char *)p + 16; throw std::bad_alloc(); }
void operator delete(void *p) noexcept { if (p) free((char *)p - 16); }
int main()
{
    keep = new int[3];
    operator delete[](keep, (std::size_t)12); /* calls those above in the end */
    keep = new int;
    operator delete(keep, (std::size_t)4);
    keep = nullptr;
}
END
check "own.cc compiles" c++ -std=c++17 -g -O0 -w own.cc -o own
record own ./own
is "a program with its own new and delete ends normally" $status 0
is "memory: with its own new and delete no block is left and no free is invalid" \
    "$(json total.unfreed_blocks own.json) $(grep -c '"error":"' own.json)" "0 0"
done_testing
