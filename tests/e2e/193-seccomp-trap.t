#!/bin/bash
# A program with a seccomp filter that traps all but a few system calls: exit and exec cause no system calls other than
# its own.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >traps.c <<'C'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* traps HOW: allows only write, wait, exit and exec; other calls are written down. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const unsigned allowed[] = {SYS_write, SYS_futex, SYS_exit_group, SYS_rt_sigreturn, SYS_execve};
static void trapped(int signal, siginfo_t *info, void *context)
{
    char text[32];
    int size = snprintf(text, sizeof text, "called %d\n", info->si_syscall);
    (void)signal, (void)context;
    if (write(1, text, (size_t)size) != size)
        _exit(1);
}
static void use(void) { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); }
int main(int argc, char **argv)
{
    struct sock_filter f[32];
    unsigned short n = 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {n, f};
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    use();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (argc < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    use();
    if (strcmp(argv[1], "execl") == 0)
        execl("/nowhere/at/all", "all", NULL);
    if (strcmp(argv[1], "execlp") == 0)
        execlp("no-such-program-anywhere", "no", NULL);
    if (strcmp(argv[1], "exit") == 0)
        exit(3);
    _exit(3);
}
C
cc traps.c -o traps -pthread
for way in exit _exit execl execlp; do
    plain=$(./traps $way; echo $?)
    case $plain in 77) skip "seccomp is not available"; continue ;; esac
    is "$way: the program writes down the same system calls as without Poet" "$(poet record -o $way.poet -- ./traps $way; echo $?)" "$plain"
done
done_testing
