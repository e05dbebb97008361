/* Operating-system statistics of a process and its threads: the metrics of the message USAGE, and
 * the system call in which a thread sleeps.
 *
 * The server samples them from outside (/proc, proc(5)); a program that ends reports once what
 * getrusage(2) returns: these values are exact, all others are as of their sample. */
#ifndef WIRE_OS_USAGE_H
#define WIRE_OS_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* number, NAME, name in scripts, unit, whether it only grows (else it is a level) */
/* clang-format off */
#define USAGES(U)                                                                             \
    U(0, CPU_USER, "cpu_user", "ns", true)         /* CPU time in user mode */                \
    U(1, CPU_SYSTEM, "cpu_system", "ns", true)     /* CPU time in kernel mode */              \
    U(2, CPU, "cpu", "ns", true)                   /* of a thread: in both modes */           \
    U(3, READY, "ready", "ns", true)               /* of a thread: runnable without a CPU */  \
    U(4, FAULTS, "minor_faults", "", true)         /* page faults without disk reads */       \
    U(5, MAJOR_FAULTS, "major_faults", "", true)   /* page faults with disk reads */          \
    U(6, SLEEPS, "voluntary_switches", "", true)   /* how often it blocked or yielded */      \
    U(7, PREEMPTIONS, "involuntary_switches", "", true) /* how often it was preempted */      \
    U(8, RESIDENT, "resident", "bytes", false)     /* resident memory */                      \
    U(9, PEAK, "peak_resident", "bytes", false)                                               \
    U(10, THREADS, "threads", "", false)                                                      \
    U(11, READ, "read", "bytes", true)             /* by calls, from any file */              \
    U(12, WRITTEN, "written", "bytes", true)                                                  \
    U(13, READS, "read_calls", "", true)                                                      \
    U(14, WRITES, "write_calls", "", true)                                                    \
    U(15, DISK_READ, "disk_read", "bytes", true)                                              \
    U(16, DISK_WRITTEN, "disk_written", "bytes", true)                                        \
    /* of the processor and the kernel (server/osmetrics/counter_reader.h) */                 \
    U(17, CYCLES, "cycles", "", true)                                                         \
    U(18, INSTRUCTIONS, "instructions", "", true)                                             \
    U(19, CACHE_REFERENCES, "cache_references", "", true)                                     \
    U(20, CACHE_MISSES, "cache_misses", "", true)                                             \
    U(21, BRANCH_MISSES, "branch_misses", "", true)                                           \
    U(22, TASK_CLOCK, "task_clock", "ns", true)                                               \
    U(23, PAGE_FAULTS, "page_faults", "", true)                                               \
    U(24, CONTEXT_SWITCHES, "context_switches", "", true)                                     \
    U(25, CPU_MIGRATIONS, "cpu_migrations", "", true)
/* clang-format on */

enum usage_meter {
#define U(number, NAME, name, unit, grows) USAGE_##NAME = number,
    USAGES(U)
#undef U
        USAGE_METERS
};

/* Plus a meter: that counter was requested and is not available; the value is an errno, ECANCELED
 * if the server does not use perf_event_open. */
#define USAGE_NO_COUNTER 128u

/* One value in a USAGE. */
struct usage_figure {
    uint32_t thread; /* code of the thread line; 0: of the whole process */
    uint8_t meter;   /* an enum usage_meter */
    uint64_t value;
};
#define USAGE_FIGURE_BYTES 13u

/* ---- sleep ---- */

/* The system call in which a thread sleeps, a value in the message USAGE that is not a sum: the low
 * byte is an enum sleep_call, the rest the address of the futex, if the thread waits at one. */
#define USAGE_ASLEEP 64u
#define SLEEP_VALUE(call, word) ((uint64_t)(word) << 8 | (call))
#define SLEEP_VALUE_CALL(value) ((unsigned)((value)&0xff))
#define SLEEP_VALUE_WORD(value) ((uint64_t)(value) >> 8)

/* For a thread that sleeps at the loader's lock: the code of the line of the thread that holds it,
 * which was asleep then, too. */
#define USAGE_LOADER_HOLDER 65u

/* For a thread that sleeps at a futex: the call in the program by which it does, an address in the
 * outermost function of the C++ library around it, the address of the once flag of the future that
 * it waits for, and which other processes can use the futex: LINE_ flags (wire/program_messages.h).
 * For one that sleeps in poll, select or epoll_wait: whether only threads of its process can make a
 * descriptor ready.  For one that sleeps at a pipe, FIFO or message queue: a process that can end
 * the wait and is not connected, 0: none was seen, and its name, eight bytes in each value. */
enum usage_futex_fact {
    USAGE_FUTEX_SITE = 66,
    USAGE_FUTEX_LIBRARY,
    USAGE_FUTEX_ONCE,
    USAGE_FUTEX_REACH,
    USAGE_POLLS_OWN,
    USAGE_END_HOLDER,
    USAGE_END_NAME,
    USAGE_END_NAME_REST,
    USAGE_FUTEX_END
};
#define USAGE_FUTEX_FACTS (USAGE_FUTEX_END - USAGE_FUTEX_SITE)

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
    A(16, OTHER, "other")                                                                          \
    A(17, TIMED_FUTEX, "futex with timeout")

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
/* The bytes of a lock of the loader, a recursive mutex of glibc.  Returns the thread id of its
 * holder; 0 if no thread holds it, or it is something else. */
#define SLEEP_LOCK_BYTES 20u
uint32_t asleep_lock_holder(const uint8_t bytes[SLEEP_LOCK_BYTES]);
struct sleep_memory {
    bool loader; /* the dynamic loader's own */
    uint8_t reach; /* which other processes can use it: LINE_ flags (wire/program_messages.h) */
};
/* Describes the memory of a line of /proc/PID/maps; returns false if that address is not in it. */
bool asleep_memory_of(const char *line, uint64_t word, struct sleep_memory *memory);

#endif
