#!/bin/bash
# Threads that cannot share their measurements with the server: their events are recorded, and poet calls says that their
# calls are missing.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >calls.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void *work(void *p)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    puts("done");
    return 0;
}
C
poetcc -profile -g calls.c -o calls
# (A queue takes less than 1 MB, the measurements of a thread more.)
(ulimit -f 1024; POET_OUTPUT=limited.poet ./calls >said 2>&1)
is "limit on file size: the program's status and output are those of an untraced run" "$? $(cat said)" "0 done"
until_true finished limited.poet
check "limit on file size: the trace is sound" sound limited.poet
like "limit on file size: poet calls says that calls are missing" "$(poet calls limited.poet)" \
    '^note: calls of up to 2 threads are missing: measurements could not be shared'
is "limit on file size: poet calls gives no advice that was followed" "$(poet calls limited.poet | grep -c 'compile with')" 0
like "limit on file size: poet stat says it" "$(poet stat limited.poet)" '^not traced +calls of a thread were not measured'
begin_of() { poet dump limited.poet | awk -v thread="$1" '$3 == "acquire" && $4 == thread { print $1; exit }'; }
is "limit on file size: answers about the order do not depend on it" \
    "$(poet order limited.poet "$(begin_of T:main)" "$(begin_of T:work)" 2>&1)" concurrent
POET_OUTPUT=free.poet ./calls >said
until_true finished free.poet
is "no limit: poet calls has no such note" "$(poet calls free.poet | grep -c 'are missing')" 0
done_testing
