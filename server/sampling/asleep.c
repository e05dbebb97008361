/* The texts of /proc (proc(5)) that say in which call of the system a thread sleeps. */
#define _GNU_SOURCE
#include "server/sampling/asleep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const struct {
    long number;
    enum asleep is;
} calls[] = {{SYS_futex, ASLEEP_FUTEX},
#ifdef SYS_futex_wait
             {SYS_futex_wait, ASLEEP_FUTEX},
#endif
#ifdef SYS_futex_waitv
             {SYS_futex_waitv, ASLEEP_FUTEX},
#endif
             {SYS_read, ASLEEP_READ},
             {SYS_readv, ASLEEP_READ},
             {SYS_pread64, ASLEEP_READ},
             {SYS_write, ASLEEP_WRITE},
             {SYS_writev, ASLEEP_WRITE},
             {SYS_pwrite64, ASLEEP_WRITE},
             {SYS_ppoll, ASLEEP_POLL},
             {SYS_pselect6, ASLEEP_SELECT},
             {SYS_epoll_pwait, ASLEEP_EPOLL},
             {SYS_recvfrom, ASLEEP_RECEIVE},
             {SYS_recvmsg, ASLEEP_RECEIVE},
             {SYS_sendto, ASLEEP_SEND},
             {SYS_sendmsg, ASLEEP_SEND},
             {SYS_accept, ASLEEP_ACCEPT},
             {SYS_accept4, ASLEEP_ACCEPT},
             {SYS_connect, ASLEEP_CONNECT},
             {SYS_wait4, ASLEEP_WAIT},
             {SYS_waitid, ASLEEP_WAIT},
             {SYS_nanosleep, ASLEEP_SLEEP},
             {SYS_clock_nanosleep, ASLEEP_SLEEP},
             {SYS_rt_sigtimedwait, ASLEEP_SIGNAL},
             {SYS_rt_sigsuspend, ASLEEP_SIGNAL},
#ifdef SYS_poll
             {SYS_poll, ASLEEP_POLL},
             {SYS_select, ASLEEP_SELECT},
             {SYS_epoll_wait, ASLEEP_EPOLL},
             {SYS_pause, ASLEEP_SIGNAL},
#endif
             {SYS_flock, ASLEEP_LOCK},
             {SYS_fcntl, ASLEEP_LOCK}};

/* The number of the call, or "running", or a negative number in none; then its arguments. */
enum asleep asleep_syscall(const char *text, size_t size, uint64_t *word)
{
    char copy[256];
    int64_t number = -1;
    *word = 0;
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), text);
    if (sscanf(copy, "%" SCNd64 " %" SCNx64, &number, word) < 1 || number < 0)
        return ASLEEP_NOT;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return calls[i].is;
    return ASLEEP_OTHER;
}

enum asleep asleep_wchan(const char *text, size_t size)
{
    static const struct {
        const char *begin;
        enum asleep is;
    } functions[] = {{"futex_", ASLEEP_FUTEX},
                     {"__futex_", ASLEEP_FUTEX},
                     {"do_sys_poll", ASLEEP_POLL},
                     {"do_poll", ASLEEP_POLL},
                     {"poll_schedule", ASLEEP_POLL},
                     {"do_select", ASLEEP_SELECT},
                     {"ep_poll", ASLEEP_EPOLL},
                     {"do_epoll_wait", ASLEEP_EPOLL},
                     {"pipe_read", ASLEEP_READ},
                     {"anon_pipe_read", ASLEEP_READ},
                     {"pipe_write", ASLEEP_WRITE},
                     {"anon_pipe_write", ASLEEP_WRITE},
                     {"do_wait", ASLEEP_WAIT},
                     {"hrtimer_nanosleep", ASLEEP_SLEEP},
                     {"do_nanosleep", ASLEEP_SLEEP},
                     {"do_sigtimedwait", ASLEEP_SIGNAL},
                     {"sigsuspend", ASLEEP_SIGNAL},
                     {"inet_csk_accept", ASLEEP_ACCEPT}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t length = strlen(functions[i].begin);
        if (size >= length && memcmp(text, functions[i].begin, length) == 0)
            return functions[i].is;
    }
    return size && *text != '0' ? ASLEEP_OTHER : ASLEEP_NOT;
}

bool asleep_of_loader(const char *line, uint64_t word)
{
    uint64_t from, to;
    const char *file = strrchr(line, '/');
    if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2 || word < from || word >= to || !file)
        return false;
    return strncmp(file, "/ld-", 4) == 0 || strncmp(file, "/ld.so", 6) == 0 ||
           strncmp(file, "/ld64.so", 8) == 0;
}
