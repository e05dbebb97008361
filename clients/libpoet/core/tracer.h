/* Process-wide state of the tracer: each variable that several files of libpoet use, as a member of
 * the one instance, `tracer`, grouped by subject.
 *
 * Not members are pointers to functions of the C library (libc_calls, real_functions, next_input),
 * the state of the calling thread (thread_mine of thread.h), the cache of unwind/unwind_rules.h,
 * which libpoet-memory has, too, and variables of a single file, which are static there.
 *
 * Thread-safety: any thread may read and write members that are _Atomic. The others are written
 * while nothing is recorded (at the start, at the beginning of a lifetime, in a child of fork), or
 * change once, from false to true. A child of fork begins with a copy of the state of its parent;
 * the functions of core/fork_reset.h reset it.
 *
 * The instance is static, so that an access is one instruction. Members that are read in each call
 * or event, and are hardly ever written, are next to each other; those that are written often are
 * on cache lines of their own (TRACER_WRITTEN). */
#ifndef CLIENTS_LIBPOET_CORE_TRACER_H
#define CLIENTS_LIBPOET_CORE_TRACER_H

#include "clients/libpoet/profile/function_filter.h"
#include "wire/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct schedule_head;
struct sync_object;

#define TRACER_WRITTEN __attribute__((aligned(64)))

/* ---- read for each call or event ---- */

/* The present lifetime (lifecycle.h), on a page of its own: the kernel clears it in a child with
 * memory of its own, however that was created. No thread there writes into a queue of its parent's.
 * Written by server_connection.c. */
#define TRACER_LIFETIME_BYTES 4096
struct tracer_lifetime {
    /* its number, from 1; 0: not traced */
    _Atomic uint32_t number;
    /* 0: the page was cleared, or is not begun */
    _Atomic uint32_t kept;
} __attribute__((aligned(TRACER_LIFETIME_BYTES)));

/* Modules that are loaded. Set when such a module is found, under the lock of modules.c, and never
 * cleared. */
struct tracer_modules {
    bool trace_untraced; /* some calls of untraced code are recorded */
    bool has_cxx; /* a C++ runtime is loaded */
    bool has_interpreter; /* Python's interpreter is loaded */
};

/* Written by tracer_clock.c, and where the server cannot convert ticks by lifecycle.c. */
struct tracer_clock {
    /* slots of new queues have the time-stamp counter; cleared for good when it is forbidden */
    _Atomic bool has_ticks;
};

/* Input from outside of the run. Set at the start by input_calls.c and never changed. */
struct tracer_input {
    bool is_traced; /* calls that return it are recorded or replayed */
    bool is_replayed;
};

/* The server of the present lifetime. Written by the thread that begins the lifetime. */
struct tracer_server {
    bool needs_socket; /* no memory can be shared with it: queues are sent */
    bool allows_remote; /* programs of other machines may be in the run */
    bool is_scarce; /* it has little room */
};

/* System calls of libpoet's that the process may not make. Written by the thread that installs a
 * filter. */
struct tracer_seccomp {
    _Atomic uint32_t denied; /* bits: 1 << enum seccomp_need */
};

/* Identification of this process. Written by the thread that begins a lifetime; parent: by the only
 * thread of a child. */
struct tracer_process {
    /* a random number that names this process among all */
    uint64_t instance;
    /* In a child: the traced lifetime in which its nearest traced ancestor forked. */
    struct process_parent {
        uint64_t instance;
        uint32_t life; /* 0: none */
    } parent;
    /* Identifies the machine in the first half of the keys of messages that are identified by
     * shared counters, since other machines have counters of their own. 0: there are no
     * counters. */
    uint64_t machine;
};

/* Measurements of calls. */
struct tracer_profile {
    /* number of throttled functions; a thread uses those that there were at its last look. Written
     * by throttle.c. */
    _Atomic uint32_t throttled;
    /* called when a path to a function occurs for the first time; NULL: not wanted. Set at the
     * start. */
    void (*_Atomic on_new_function)(uintptr_t function);
    /* returns how the calls of a function are measured; NULL: all in full. Called when a call is
     * not known yet, and at the end of each call that was not measured: also in signal handlers.
     * Set by function_filter.c once the user has named functions. */
    enum function_measurement (*_Atomic filter)(uint64_t function);
};

/* The replay schedule that this process follows (replay/), and schedule control. Set at the start
 * and never changed, unless it says otherwise. */
struct tracer_replay {
    bool is_active; /* there is a schedule, or there are hold points, or threads pause */
    bool has_hold_points;
    bool perturbs; /* threads pause for random times (perturbation.h) */
    /* with streams of bytes to other machines, or without; neither: there is no schedule */
    bool with_remote, without_remote;
    /* shared by all processes of the replayed run; NULL: none */
    struct schedule_head *schedule;
    /* this process, as `bound` of struct schedule_line names it; a child that begins to follow the
     * schedule sets its own */
    uint64_t process;
    /* By libpoet's and the program's types: 1 + the type's index in the schedule, SCRIPT_NO_TYPE:
     * none; 0: schedule_map_find_type(), which writes it, was not called yet. */
    _Atomic uint16_t types[LIMIT_TYPES];
    /* an enum trace_type, by types of the schedule */
    uint8_t own_types[LIMIT_TYPES];
};

/* ---- written often ---- */

/* Threads of this process. */
struct tracer_threads {
    /* that run: neither waiting in a traced call nor ended. Counted where regions and waits begin
     * and end, read where calls do. */
    _Atomic uint32_t running;
    /* that are recorded now; counted by thread_lifetime.c */
    _Atomic unsigned recorded;
    /* how many were created by calls that are not recorded; cleared in a child of fork */
    _Atomic uint32_t untraced;
};

/* Events of this process. */
struct tracer_events {
    /* anything was recorded beyond the lifetime of main; never cleared */
    _Atomic bool has_any;
    /* number of those that found no room in time; counted by lost_events.c */
    _Atomic uint64_t dropped TRACER_WRITTEN;
};

/* The table of synchronization objects, by address (sync_object.c). Read without a lock. Objects
 * are added under the latch of sync_object.c, and never removed. */
#define TRACER_OBJECT_BUCKET_BITS 18
#define TRACER_OBJECT_BUCKETS (1u << TRACER_OBJECT_BUCKET_BITS)
struct tracer_objects {
    /* the first object of each bucket */
    struct sync_object *_Atomic buckets[TRACER_OBJECT_BUCKETS];
    _Atomic unsigned count TRACER_WRITTEN;
};

struct tracer {
    /* (first, so that the address of a bucket takes no addition) */
    struct tracer_objects objects;

    struct tracer_lifetime lifetime;
    struct tracer_modules modules;
    struct tracer_clock clock;
    struct tracer_input input;
    struct tracer_server server;
    struct tracer_seccomp seccomp;
    struct tracer_process process;
    struct tracer_profile profile;
    struct tracer_replay replay;

    struct tracer_threads threads TRACER_WRITTEN;
    struct tracer_events events;
};

/* (The name for the linker is one that no static program defines.) */
extern struct tracer tracer __asm__("poet_tracer");

#pragma GCC visibility pop
#endif
