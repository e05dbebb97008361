#define _GNU_SOURCE
#include "wire/os_usage.h"

#include "wire/program_messages.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static const struct {
    long number;
    enum sleep_call is;
} calls[] = {{SYS_futex, SLEEP_IN_FUTEX},
#ifdef SYS_futex_wait
             {SYS_futex_wait, SLEEP_IN_FUTEX},
#endif
#ifdef SYS_futex_waitv
             {SYS_futex_waitv, SLEEP_IN_FUTEX},
#endif
             {SYS_read, SLEEP_IN_READ},
             {SYS_readv, SLEEP_IN_READ},
             {SYS_pread64, SLEEP_IN_READ},
             {SYS_write, SLEEP_IN_WRITE},
             {SYS_writev, SLEEP_IN_WRITE},
             {SYS_pwrite64, SLEEP_IN_WRITE},
             {SYS_ppoll, SLEEP_IN_POLL},
             {SYS_pselect6, SLEEP_IN_SELECT},
             {SYS_epoll_pwait, SLEEP_IN_EPOLL},
             {SYS_recvfrom, SLEEP_IN_RECEIVE},
             {SYS_recvmsg, SLEEP_IN_RECEIVE},
             {SYS_sendto, SLEEP_IN_SEND},
             {SYS_sendmsg, SLEEP_IN_SEND},
             {SYS_accept, SLEEP_IN_ACCEPT},
             {SYS_accept4, SLEEP_IN_ACCEPT},
             {SYS_connect, SLEEP_IN_CONNECT},
             {SYS_wait4, SLEEP_IN_WAIT},
             {SYS_waitid, SLEEP_IN_WAIT},
             {SYS_nanosleep, SLEEP_IN_SLEEP},
             {SYS_clock_nanosleep, SLEEP_IN_SLEEP},
             {SYS_rt_sigtimedwait, SLEEP_IN_SIGNAL},
             {SYS_rt_sigsuspend, SLEEP_IN_SIGNAL},
#ifdef SYS_poll
             {SYS_poll, SLEEP_IN_POLL},
             {SYS_select, SLEEP_IN_SELECT},
             {SYS_epoll_wait, SLEEP_IN_EPOLL},
             {SYS_pause, SLEEP_IN_SIGNAL},
#endif
             {SYS_flock, SLEEP_IN_LOCK},
             {SYS_fcntl, SLEEP_IN_LOCK}};

enum sleep_call sleep_call_of(int64_t number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return calls[i].is;
    return number < 0 ? SLEEP_IN_NOT : SLEEP_IN_OTHER;
}

/* The number of the call, or "running", or a negative number in none; then its arguments. */
enum sleep_call asleep_syscall(const char *text, size_t size, uint64_t *word)
{
    char copy[256];
    int64_t number = -1;
    uint64_t timeout = 0;
    *word = 0;
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), text);
    if (sscanf(copy, "%" SCNd64 " %" SCNx64 " %*x %*x %" SCNx64, &number, word, &timeout) < 1)
        return SLEEP_IN_NOT;
    return number == SYS_futex && timeout ? SLEEP_IN_TIMED_FUTEX : sleep_call_of(number);
}

enum sleep_call asleep_wchan(const char *text, size_t size)
{
    static const struct {
        const char *begin;
        enum sleep_call is;
    } functions[] = {{"futex_", SLEEP_IN_FUTEX},       {"__futex_", SLEEP_IN_FUTEX},
                     {"do_sys_poll", SLEEP_IN_POLL},   {"do_poll", SLEEP_IN_POLL},
                     {"poll_schedule", SLEEP_IN_POLL}, {"do_select", SLEEP_IN_SELECT},
                     {"ep_poll", SLEEP_IN_EPOLL},      {"do_epoll_wait", SLEEP_IN_EPOLL},
                     {"pipe_read", SLEEP_IN_READ},     {"anon_pipe_read", SLEEP_IN_READ},
                     {"pipe_write", SLEEP_IN_WRITE},   {"anon_pipe_write", SLEEP_IN_WRITE},
                     {"do_wait", SLEEP_IN_WAIT},       {"hrtimer_nanosleep", SLEEP_IN_SLEEP},
                     {"do_nanosleep", SLEEP_IN_SLEEP}, {"do_sigtimedwait", SLEEP_IN_SIGNAL},
                     {"sigsuspend", SLEEP_IN_SIGNAL},  {"inet_csk_accept", SLEEP_IN_ACCEPT}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t length = strlen(functions[i].begin);
        if (size >= length && memcmp(text, functions[i].begin, length) == 0)
            return functions[i].is;
    }
    return size && *text != '0' ? SLEEP_IN_OTHER : SLEEP_IN_NOT;
}

uint32_t asleep_lock_holder(const uint8_t bytes[SLEEP_LOCK_BYTES])
{
    enum { LOCK, COUNT, OWNER, USERS, KIND, WORDS };
    uint32_t words[WORDS];
    static_assert(sizeof words == SLEEP_LOCK_BYTES, "the begin of pthread_mutex_t");
    memcpy(words, bytes, sizeof words);
    bool held = words[LOCK] && words[COUNT] && words[KIND] == PTHREAD_MUTEX_RECURSIVE;
    return held ? words[OWNER] : 0;
}

bool asleep_memory_of(const char *line, uint64_t word, struct sleep_memory *memory)
{
    uint64_t from, to;
    char permissions[5];
    const char *path = strchr(line, '/'), *file = strrchr(line, '/');
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, permissions) != 3 || word < from ||
        word >= to)
        return false;
    bool unnamed = path && strncmp(path, UNNAMED_MEMORY, sizeof UNNAMED_MEMORY - 1) == 0;
    *memory = (struct sleep_memory){.loader = file && (strncmp(file, "/ld-", 4) == 0 ||
                                                       strncmp(file, "/ld.so", 6) == 0 ||
                                                       strncmp(file, "/ld64.so", 8) == 0),
                                    .reach = !strchr(permissions, 's') ? 0
                                             : unnamed                 ? LINE_INHERITED_MEMORY
                                                                       : LINE_NAMED_MEMORY};
    return true;
}
