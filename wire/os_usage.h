/* Operating-system statistics of a process and its threads: the metrics of the message USAGE.
 *
 * The server samples them from outside (/proc, proc(5)); a program that ends reports once what
 * getrusage(2) returns: these values are exact, all others are as of their sample. */
#ifndef WIRE_OS_USAGE_H
#define WIRE_OS_USAGE_H

#include <stdbool.h>
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
    U(16, DISK_WRITTEN, "disk_written", "bytes", true)
/* clang-format on */

enum usage_meter {
#define U(number, NAME, name, unit, grows) USAGE_##NAME = number,
    USAGES(U)
#undef U
        USAGE_METERS
};

/* One value in a USAGE. */
struct usage_figure {
    uint32_t thread; /* code of the thread line; 0: of the whole process */
    uint8_t meter;   /* an enum usage_meter */
    uint64_t value;
};
#define USAGE_FIGURE_BYTES 13u

#endif
