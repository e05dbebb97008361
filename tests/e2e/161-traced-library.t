#!/bin/bash
# A shared library compiled with -trace in programs that are not: the program's behavior is unchanged, and calls
# of the library are recorded, wherever the C library is in the search order.
. "$(dirname "$0")/lib.sh"
export POET_KEEP=1 POET_QUIET=1
cat >tally.c <<'C'
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t tally_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tally_even = PTHREAD_COND_INITIALIZER;
static int tally;
int tally_add(void)
{
    pthread_mutex_lock(&tally_lock);
    int now = ++tally;
    pthread_cond_broadcast(&tally_even);
    while (tally % 2)
        pthread_cond_wait(&tally_even, &tally_lock);
    pthread_mutex_unlock(&tally_lock);
    return now;
}
static void *add(void *unused)
{
    tally_add();
    return unused;
}
void tally_two(void)
{
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    tally_add();
    pthread_join(other, NULL);
}
C
cat >linked.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int tally_add(void);
void tally_two(void);
static void *add(void *unused)
{
    tally_add();
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t other;
    int status = 0;
    tally_two();
    pthread_create(&other, NULL, add, NULL);
    tally_add();
    pthread_join(other, NULL);
    if (argc > 1) {
        pid_t child = fork();
        if (child == 0) {
            tally_two();
            _exit(7);
        }
        waitpid(child, &status, 0);
        printf("%d ", WEXITSTATUS(status));
    }
    tally_two();
    printf("done\n");
    return 0;
}
C
cat >opened.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    void (*two)(void);
    void *library = dlopen("./libtally.so", RTLD_NOW | atoi(argv[1]));
    if (!library || dlerror()) /* no error message of libpoet is left */
        return 2;
    *(void **)&two = dlsym(library, "tally_two");
    two();
    printf("%s\n", dlerror() ? "an error" : "done");
    return dlclose(library);
}
C
check "a library compiles with -trace" poetcc -trace -g -fPIC -shared tally.c -o libtally.so
check "a program that links it compiles without -trace" "${CC:-cc}" -g linked.c -L. -ltally -Wl,-rpath,"$work" -o linked -pthread
check "a program that opens it compiles without -trace" "${CC:-cc}" -g opened.c -o opened -ldl
is "linked library: the program runs without a server" "$(POET_SERVER=none ./linked)" done
is "linked library: the program runs" "$(./linked)" done
trace=$(trace_of linked)
check "linked library: the trace passes poet check" sound "$trace"
is "linked library: each lock and unlock of the library is recorded" "$(poet dump "$trace" | grep -c ' lock .* at tally.c:')" "$(poet dump "$trace" | grep -c ' unlock .* at tally.c:')"
is "linked library: its pthread_create calls are recorded" "$(poet dump "$trace" | grep -c ' create .* at tally.c:')" 2
like "linked library: a thread that the program created is marked as uncertain" "$(poet dump "$trace")" ' start .* T:0x.* UNCERTAIN .*not traced from start'
rm "$trace"
is "linked library in a program that forks: the program runs" "$(./linked fork)" "7 done"
trace=$(trace_of linked)
check "linked library in a program that forks: the trace passes poet check" sound "$trace"
is "linked library in a program that forks: pthread_create calls of the child are recorded" "$(poet dump "$trace" | grep -c ' create .* at tally.c:')" 3
rm "$trace"
for how in "0 locally" "256 for all" "8 before all else"; do # RTLD_LOCAL, RTLD_GLOBAL, RTLD_DEEPBIND
    is "library opened ${how#* }: the program runs" "$(./opened "${how%% *}")" done
    trace=$(trace_of opened)
    check "library opened ${how#* }: the trace passes poet check" sound "$trace"
    is "library opened ${how#* }: its pthread_create calls are recorded" "$(poet dump "$trace" | grep -c ' create .* at tally.c:')" 1
    rm "$trace"
done
# Libraries before libpoet and the C library in the search order still get the library's calls.
for kind in thread address; do
    "${CC:-cc}" -g -fsanitize=$kind linked.c -L. -ltally -Wl,-rpath,"$work" -o "linked-$kind" -pthread || continue
    is "linked library with the sanitizer of $kind: the program runs" "$("./linked-$kind" 2>&1)" done
done
check "a library compiles with -trace -processes -fopenmp" poetcc -trace -processes -fopenmp -g -fPIC -shared tally.c -o libtally.so
is "linked library with -processes and -fopenmp: the program runs" "$(./linked fork)" "7 done"
# A function that this C library lacks fails; it is not called.
cat >none.c <<'C'
#define _GNU_SOURCE
#include "clients/libpoet/next_symbol.h"
#include <stdio.h>
int main(void)
{
    long (*call)(int) = (long (*)(int))next_none;
    void *known = next_call("gnu_get_libc_version");
    printf("%d %d %d\n", next_call("no_such_function_of_any_library") == NULL, known && !next_is_ours(known), call(1) == -1 && errno == ENOSYS);
    return 0;
}
C
"${CC:-cc}" -I"$root" none.c -o none -ldl
is "functions that this C library lacks: calls fail" "$(./none)" "1 1 1"
done_testing
