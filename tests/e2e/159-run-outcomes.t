#!/bin/bash
# How runs ended, in poet ls; further notes of poet calls, poet report and poet blocked.
. "$(dirname "$0")/lib.sh"

cat >ends.c <<'X'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *arg) { return arg; }

static void *leave(void *arg)
{
    exit(arg != NULL);
}

static __attribute__((noinline)) int leaf(int n) { return n + 1; }

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argc;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    switch (*argv[1]) {
    case 'e':
        execlp("true", "true", (char *)NULL);
        return 1;
    case 'p':
        pthread_exit(NULL);
    case '_':
        _exit(3);
    case 'q':
        quick_exit(4);
    case 'o':
        pthread_create(&t, NULL, leave, NULL);
        pause();
        return 1;
    case 'k':
        kill(getpid(), SIGKILL);
        return 1;
    default:
        return leaf(-1);
    }
}
X
poetcc -profile -g ends.c -o ends -pthread || exit 1
for how in return exec pthread_exit _exit quick_exit other_exit kill; do
    (POET_OUTPUT=$how.poet ./ends $how) 2>/dev/null
    until_true finished $how.poet
done
ended() { poet ls --json "$1.poet" | json '.[].runs[].status'; }
for how in return exec pthread_exit _exit quick_exit other_exit; do
    is "poet ls: a program that ends by $how is completed" "$(ended $how)" completed
done
is "poet ls: a killed program is killed" "$(ended kill)" killed

like "poet calls: the table has columns of the shortest and the longest call" "$(poet calls return.poet | sed -n 2p)" \
    " mean .ms. +min .ms. +max .ms."
like "poet calls --cycles: a note says that there are no recursion cycles" "$(poet calls --cycles return.poet)" \
    "^note: no recursion cycles$"
like "poet report: a note refers to poet calls for the complete list" "$(poet report --all return.poet)" "only the top 5; see poet calls"
cat >parent.c <<'X'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    FILE *f = fopen("child", "w");
    fprintf(f, "%d\n", (int)child);
    fclose(f);
    return wait(NULL) < 0;
}
X
poetcc -trace -g parent.c -o parent || exit 1
POET_OUTPUT=parent.poet ./parent 2>/dev/null & parent=$!
waits_for_child() { poet blocked parent.poet 2>/dev/null | grep -q "waits for the end of a child process"; }
check "poet blocked: the waiting parent is listed" until_true waits_for_child
like "poet blocked: a wait for any child names no object" "$(poet blocked parent.poet)" \
    "waits for the end of a child process at .*parent\.c:15"
kill -9 "$(cat child)"
wait "$parent"
until_true finished parent.poet
done_testing
