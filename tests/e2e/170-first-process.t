#!/bin/bash
# A program that adopts orphans (PID 1 of a container, or a subreaper): poet-server is not among the children that
# it waits for, and receives everything before it ends.
. "$(dirname "$0")/lib.sh"
cat >waits.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
/* Waits for three children, and for any adopted ones, until there is none. */
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
/* Becomes a subreaper and executes another program. */
int main(int argc, char **argv) { return argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) || execvp(argv[1], argv + 1); }
C
cc adopts.c -o adopts
is "subreaper: the program waits for its own children only" \
    "$(timeout -s KILL 60 ./adopts poet record -o adopts.poet -- ./waits 2>err)" "3 children"
check "subreaper: the trace passes poet check" sound adopts.poet
contained() { unshare -p -f --mount-proc --kill-child "$@"; }
if contained true 2>/dev/null; then
    for i in 1 2 3; do
        rm -f first.poet
        is "PID 1 of a container, run $i: the program waits for its own children only and exits" \
            "$(timeout -s KILL 60 "$(command -v unshare)" -p -f --mount-proc --kill-child poet record -o first.poet -- ./waits 2>err; echo $?)" "3 children
0"
        is "PID 1 of a container, run $i: the trace is complete" "$(poet stat --json first.poet | grep -o '"finished":true'; echo "$(figure first.poet lost) lost"; poet dump first.poet | grep -c ' acquired ')" '"finished":true
0 lost
20000'
    done
    contained poet record -o failed.poet -- ./waits fails >out 2>err
    is "PID 1 of a container: poet record exits with the status of the program" $? 3
else
    skip "namespaces cannot be created here"
fi
done_testing
