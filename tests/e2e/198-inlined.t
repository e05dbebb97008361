#!/bin/bash
# Inlined functions: a source line is given with the function that contains it in the source.
. "$(dirname "$0")/lib.sh"
cat >nested.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *volatile kept[3];
#define INLINED static inline __attribute__((always_inline))
INLINED void *make(int bytes)
{
    return malloc(bytes);
}
INLINED void keep(int i)
{
    pthread_mutex_lock(&lock);
    kept[i] = make(100 + i);
    kept[2] = make(10);
    pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) static void *work(void *unused)
{
    keep(0);
    __asm__ volatile("" ::: "memory");
    return unused;
}
INLINED void *run(void *unused)
{
    return work(unused);
}
static void *begin(void *unused)
{
    return run(unused);
}
INLINED void finish(pthread_t thread)
{
    pthread_join(thread, NULL);
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, begin, NULL);
    finish(thread);
    return 0;
}
END
for how in "gcc -g" "gcc -g -gsplit-dwarf" "clang -g"; do
    set -- $how
    command -v "$1" >/dev/null || { skip "$1 is not installed"; continue; }
    export CC="$1"
    shift
    poetcc -trace -O2 "$@" nested.c -o nested
    poet record -m memory -o nested.poet ./nested 2>/dev/null
    like "$how: a wait is in the function that contains its source line" "$(poet waits --csv --columns location nested.poet | tr -d '\r')" \
        '^finish \(nested.c:33\)$'
    like "$how: a call stack has the inlined functions" \
        "$(poet memory --json --by path nested.poet | grep '"unfreed_bytes":100,')" \
        '"context":."make .nested.c:8.","keep .nested.c:13.","work .nested.c:19."'
    is "$how: a call tree has the inlined functions" "$(poet memory --tree --csv --columns function,unfreed_bytes nested.poet | grep nested.c | tr '\r\n' ' ;' | tr -d ' ')" \
        "work(nested.c:19),110;keep(nested.c:13),100;make(nested.c:8),100;keep(nested.c:14),10;make(nested.c:8),10;"
    like "$how: a function is given with its own name" "$(poet memory --by function --csv --columns function,unfreed_bytes nested.poet | tr -d '\r')" '^make,110$'
    rm -f nested.poet
done
done_testing
