#!/bin/bash
# Replay of wait, waitpid, wait4 and waitid, blocking or with WNOHANG, with and without WNOWAIT: children that
# exit in any order are returned in the recorded order.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >waits.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { CHILDREN = 12 };
static pid_t children[CHILDREN];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int number(pid_t pid)
{
    for (int i = 0; i < CHILDREN; i++)
        if (children[i] == pid)
            return i;
    return -1;
}
static pid_t look(int options)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | options))
        return -1;
    return info.si_pid;
}
int main(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < CHILDREN; i++)
        if ((children[i] = fork()) == 0) {
            usleep((unsigned)(now.tv_nsec / 1000 * (i * 7 + 3) % 3000));
            pthread_mutex_lock(&m); /* a child without recorded events has no line in the trace */
            _exit(i);
        }
    for (int i = 0, misses = 0; i < CHILDREN;) {
        pid_t pid;
        struct rusage usage;
        siginfo_t info = {0};
        int status;
        switch ((i + misses) % 5) {
        case 0: pid = look(0); break;
        case 1: pid = look(WNOHANG); break;
        case 2: /* WNOWAIT first, then reaped */
            pid = look(WNOWAIT);
            if (waitid(P_PID, (id_t)pid, &info, WEXITED) || info.si_pid != pid)
                return 1;
            break;
        case 3: pid = wait4(-1, &status, 0, &usage); break;
        default: pid = waitpid(-1, &status, 0); break;
        }
        if (pid < 0)
            return 1;
        if (pid) {
            printf("%d\n", number(pid));
            i++;
        } else {
            misses = (misses + 1) % 5;
            printf("none\n");
            usleep(200);
        }
    }
    return look(0) == -1 ? 0 : 1;
}
END
poetcc -trace -g waits.c -o traced
cc -g -w waits.c -o plain -pthread
for how in traced plain; do
    for i in 1 2 3 4; do
        rm -f run.poet
        if [ $how = traced ]; then POET_OUTPUT=run.poet timeout 60 ./traced >first; else timeout 60 poet record -o run.poet -- ./plain >first; fi
        is "$how: recording $i exits with status 0" $? 0
        until_true finished run.poet
        for j in 1 2; do
            rm -f again.poet
            timeout 60 poet replay run.poet -o again.poet >second 2>said
            is "$how: a replay returns the children of recording $i in the recorded order" "$? $(grep -v none first | cmp - <(grep -v none second))$(grep -vE 'no divergence|runs the recorded command' said)" "0 "
        done
    done
    check "$how: the trace passes poet check" sound run.poet
done

# A child that is slower than in the recorded run: the poll that had found it waits for it.
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    siginfo_t info;
    if (fork() == 0) {
        if (access("slow", F_OK) == 0)
            usleep(300000);
        pthread_mutex_lock(&m); /* a child without recorded events has no line in the trace */
        _exit(0);
    }
    pthread_mutex_lock(&m);
    int polls = 0;
    do
        polls++;
    while (info.si_pid = 0, waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0);
    fprintf(stderr, "%d\n", polls);
    return 0;
}
END
poetcc -trace -g slow.c -o slow_child
POET_OUTPUT=slow.poet ./slow_child 2>recorded
until_true finished slow.poet
touch slow
timeout 60 poet replay slow.poet -o again.poet 2>said
is "a poll that had found a child waits for a slower one" "$(grep '^[0-9]*$' said)" 1
like "a slower child is not a divergence" "$(cat said)" "no divergence"
done_testing
