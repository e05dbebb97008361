#!/bin/bash
# Child processes made by raw system calls (fork, vfork, clone, clone3): each process records under its own identity.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >raw.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* raw HOW WHAT: makes a child by HOW that does WHAT, while the parent does the same with objects of its own. */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pid_t child(const char *how)
{
    struct { uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, rest[6]; } a = {.exit_signal = SIGCHLD};
    long r = SYS_clone;
    if (!strcmp(how, "clone3"))
        return (pid_t)syscall(SYS_clone3, &a, 64L);
    if (!strcmp(how, "fork"))
        return (pid_t)syscall(SYS_fork);
    if (!strcmp(how, "files"))
        return (pid_t)syscall(SYS_clone, (long)SIGCHLD | CLONE_FILES, NULL, NULL, NULL, NULL);
    if (strcmp(how, "instruction"))
        return (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL);
    register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
    __asm__ volatile("syscall" : "+a"(r) : "D"((long)SIGCHLD), "S"(0L), "d"(0L), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
    return (pid_t)r;
}
static void *locks(void *a)
{
    for (int i = 0; i < 5000; i++)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return a;
}
int main(int argc, char **argv)
{
    int ends[2][2], e = eventfd(0, EFD_CLOEXEC), status;
    char c[100] = {0};
    uint64_t v = 1;
    (void)argc;
    if (pipe(ends[0]) || pipe(ends[1]))
        return 1;
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    pid_t p = child(argv[1]);
    if (!strcmp(argv[2], "locks")) {
        pthread_t t;
        locks(NULL);
        if (!pthread_create(&t, NULL, locks, NULL))
            pthread_join(t, NULL);
    } else if (!strcmp(argv[2], "pipes")) {
        for (int i = 0; i < 2000; i++)
            if (write(ends[!p][1], c, 100) != 100 || read(ends[!p][0], c, 100) != 100)
                _exit(3);
    } else if (!p) {
        if (read(e, &v, 8) != 8)
            _exit(4);
        execl("/bin/sh", "sh", "-c", "exit 5", NULL);
    } else if (write(e, &v, 8) != 8)
        return 6;
    if (!p)
        _exit(5);
    waitpid(p, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
C
cc -g -O1 raw.c -o raw -pthread
for how in clone clone3 fork instruction; do
    for what in locks pipes eventfd; do
        rm -f raw.poet
        is "$how, $what: the program exits as without Poet" "$(timeout 60 poet record -o raw.poet -- ./raw $how $what 2>err)" 5
        check "$how, $what: the trace passes poet check" sound raw.poet
        is "$how, $what: the trace has both processes" "$(poet dump raw.poet | grep -c ' start .*T:main')" "$([ $what = eventfd ] && echo 3 || echo 2)"
    done
done
for how in clone instruction; do
    rm -f raw.poet
    poet record -o raw.poet -- ./raw $how locks >out 2>err
    until_true finished raw.poet
    is "$how: all lock acquisitions of both processes are recorded" "$(poet dump raw.poet | grep -c ' acquired .*M:m')" 20001
done
rm -f raw.poet
is "a child with CLONE_FILES: the program exits as without Poet" "$(timeout 60 poet record -o raw.poet -- ./raw files locks 2>err)" 5
check "a child with CLONE_FILES: the trace of the parent passes poet check" sound raw.poet
is "a child with CLONE_FILES: all lock acquisitions of the parent are recorded" "$(poet dump raw.poet | grep -c ' acquired .*M:m')" 10001
done_testing
