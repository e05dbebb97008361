#!/bin/sh
# A shared library that is compiled with -trace, in programs that are not: they do what they did, and what the library does
# is recorded, wherever the C library stands.
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
    if (!library || dlerror()) /* no error of another's is left */
        return 2;
    *(void **)&two = dlsym(library, "tally_two");
    two();
    printf("%s\n", dlerror() ? "an error" : "done");
    return dlclose(library);
}
C
check "a library, -trace" poetcc -trace -g -fPIC -shared tally.c -o libtally.so
check "a program without" "${CC:-cc}" -g linked.c -L. -ltally -Wl,-rpath,"$work" -o linked -pthread
check "one that opens it" "${CC:-cc}" -g opened.c -o opened -ldl
is "without a server" "$(POET_SERVER=none ./linked)" done
is "the program does what it did" "$(./linked)" done
trace=$(trace_of linked)
check "its trace is sound" sound "$trace"
is "each call of the library is recorded" "$(poet dump "$trace" | grep -c ' lock .* at tally.c:')" "$(poet dump "$trace" | grep -c ' unlock .* at tally.c:')"
is "its threads" "$(poet dump "$trace" | grep -c ' create .* at tally.c:')" 2
like "a thread that the program made is marked" "$(poet dump "$trace")" ' start .* T:0x.* UNCERTAIN .*not traced from start'
rm "$trace"
is "a child of it, too" "$(./linked fork)" "7 done"
trace=$(trace_of linked)
check "its trace is sound, too" sound "$trace"
is "with what the child did" "$(poet dump "$trace" | grep -c ' create .* at tally.c:')" 3
rm "$trace"
for how in "0 locally" "256 for all" "8 before all else"; do # RTLD_LOCAL, RTLD_GLOBAL, RTLD_DEEPBIND
    is "opened ${how#* }" "$(./opened "${how%% *}")" done
    trace=$(trace_of opened)
    check "opened ${how#* }: a sound trace" sound "$trace"
    is "opened ${how#* }: what it did" "$(poet dump "$trace" | grep -c ' create .* at tally.c:')" 1
    rm "$trace"
done
# What stands before the C library, and so before libpoet, is what the library's calls come to.
for kind in thread address; do
    "${CC:-cc}" -g -fsanitize=$kind linked.c -L. -ltally -Wl,-rpath,"$work" -o "linked-$kind" -pthread || continue
    is "with the sanitizer of $kind" "$("./linked-$kind" 2>&1)" done
done
check "-processes and -fopenmp" poetcc -trace -processes -fopenmp -g -fPIC -shared tally.c -o libtally.so
is "with libpoet's other libraries" "$(./linked fork)" "7 done"
# A function that this C library does not have fails; it is not called.
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
is "what is not there is not found" "$(./none)" "1 1 1"
done_testing
