#!/bin/bash
# The first process of a container, to which the system gives whatever has lost its parent: its server is none
# of the children that it waits for, and has all before it ends.
. "$(dirname "$0")/lib.sh"
cat >waits.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
/* Three children, and who else comes, are waited for until there is none. */
int main(int argc, char **argv)
{
    int ended = 0;
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            _exit(i);
    for (int i = 0; i < 20000; i++)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    while (wait(NULL) > 0)
        ended++;
    printf("%d children\n", ended);
    return argc > 1 && strcmp(argv[1], "fails") == 0 ? 3 : 0;
}
C
cc -g -O1 waits.c -o waits -pthread
cat >adopts.c <<'C'
#include <sys/prctl.h>
#include <unistd.h>
/* Becomes another program, to which orphans are given. */
int main(int argc, char **argv) { return argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) || execvp(argv[1], argv + 1); }
C
cc adopts.c -o adopts
is "one that orphans are given to waits for its own children" \
    "$(timeout -s KILL 60 ./adopts poet record -o adopts.poet -- ./waits 2>err)" "3 children"
check "...and its trace is sound" sound adopts.poet
contained() { unshare -p -f --mount-proc --kill-child "$@"; }
if contained true 2>/dev/null; then
    for i in 1 2 3; do
        rm -f first.poet
        is "the first process, $i: it waits for its own children, and ends" \
            "$(timeout -s KILL 60 "$(command -v unshare)" -p -f --mount-proc --kill-child poet record -o first.poet -- ./waits 2>err; echo $?)" "3 children
0"
        is "...and its trace is whole" "$(poet stat --json first.poet | grep -o '"finished":true'; echo "$(figure first.poet lost) lost"; poet dump first.poet | grep -c ' acquired ')" '"finished":true
0 lost
20000'
    done
    contained poet record -o failed.poet -- ./waits fails >out 2>err
    is "its status is its own" $? 3
else
    skip "no namespaces may be made here"
fi
done_testing
