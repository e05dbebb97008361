/* The system call in which a thread sleeps, as the server reads it from /proc (proc(5)): a value in
 * the message USAGE that is not a sum. */
#ifndef WIRE_ASLEEP_H
#define WIRE_ASLEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Besides the metrics of wire/os_usage.h. The low byte of a value is an enum sleep_call, the rest
 * the address of the futex, if the thread waits at one. */
#define USAGE_ASLEEP 64u
#define SLEEP_VALUE(call, word) ((uint64_t)(word) << 8 | (call))
#define SLEEP_VALUE_CALL(value) ((unsigned)((value)&0xff))
#define SLEEP_VALUE_WORD(value) ((uint64_t)(value) >> 8)

/* number, NAME, displayed name */
#define SLEEP_CALLS(A)                                                                             \
    A(0, NOT, "")                                                                                  \
    A(1, FUTEX, "futex")                                                                           \
    A(2, LOADER, "loader") /* a futex of the dynamic loader: a lock of dlopen and dlclose */       \
    A(3, READ, "read")                                                                             \
    A(4, WRITE, "write")                                                                           \
    A(5, POLL, "poll")                                                                             \
    A(6, SELECT, "select")                                                                         \
    A(7, EPOLL, "epoll_wait")                                                                      \
    A(8, RECEIVE, "recv")                                                                          \
    A(9, SEND, "send")                                                                             \
    A(10, ACCEPT, "accept")                                                                        \
    A(11, CONNECT, "connect")                                                                      \
    A(12, WAIT, "wait")                                                                            \
    A(13, SLEEP, "sleep")                                                                          \
    A(14, SIGNAL, "signal") /* pause, sigwait, sigsuspend */                                       \
    A(15, LOCK, "file lock")                                                                       \
    A(16, OTHER, "other")

enum sleep_call {
#define A(number, NAME, name) SLEEP_IN_##NAME = number,
    SLEEP_CALLS(A)
#undef A
        SLEEP_IN_CALLS
};

static inline const char *sleep_call_name(unsigned call)
{
    static const char *const names[SLEEP_IN_CALLS] = {
#define A(number, NAME, name) [number] = name,
        SLEEP_CALLS(A)
#undef A
    };
    return call < SLEEP_IN_CALLS ? names[call] : "";
}

/* Classifies a call by its number. */
enum sleep_call sleep_call_of(int64_t number);

/* The texts of /proc (proc(5)) that say so, of which nothing is believed but their size: */
/* /proc/PID/task/TID/syscall; *word: the address that a futex is waited at, else 0. */
enum sleep_call asleep_syscall(const char *text, size_t size, uint64_t *word);
/* Classifies a sleep by /proc/PID/task/TID/wchan, the kernel's function.  It is less specific,
 * but needs no permission to trace the thread. */
enum sleep_call asleep_wchan(const char *text, size_t size);
/* A line of /proc/PID/maps: that address lies in the dynamic loader's own memory. */
bool asleep_of_loader(const char *line, uint64_t word);

#endif
