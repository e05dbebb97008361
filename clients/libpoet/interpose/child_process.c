#define _GNU_SOURCE
#include "clients/libpoet/interpose/child_process.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/lifecycle.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/socket_sender.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/vforked.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Processes that create, become and wait for each other. A fork is a message to the child, an exec
 * one to the new program, an exit one to the process that waits for it. Their keys are serial
 * numbers of the run; the serial is stored beside the process id in a counter that all processes of
 * the run share, where it outlives its sender. */

/* ---- state that a process publishes: pid, flags, state, serial ---- */

enum child_state {
    CHILD_STATE_SILENT = 1, /* has recorded nothing; serial: of the fork that created it */
    CHILD_STATE_EXEC,       /* executes another program; serial: of the message to it */
    CHILD_STATE_TRACED,
    CHILD_STATE_ENDED       /* serial: of the message to the waiter */
};
#define SERIAL_BITS 37
#define SERIAL_MASK ((UINT64_C(1) << SERIAL_BITS) - 1)
#define STATE(state) ((uint64_t)(state) << SERIAL_BITS)
#define STATE_OF(value) ((enum child_state)((value) >> SERIAL_BITS & 7))
#define OTHERS (UINT64_C(1) << 40) /* other threads existed, with unknown last events */
#define FOREIGN (UINT64_C(1) << 41) /* not all of its signals reach libpoet */
#define PID(pid) ((uint64_t)(pid) << 42)
#define PID_OF(value) ((pid_t)((value) >> 42))

#define CHILD_KEYS 0x706f65742e6c6966u
#define SLOTS 4096u
enum { OF_PROCESS = 0x10001, OF_SPAWNING, OF_SERIALS };

static pid_t child_pid;
static bool has_foreign;
static uint64_t child_pid_namespace; /* the name space of process ids */

static uint64_t child_mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ b) * 0x9e3779b97f4a7c15u;
    return (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
}

static _Atomic uint64_t *child_shared_slot(unsigned what, pid_t pid, unsigned most)
{
    struct stat st;
    int saved = errno;
    if (!child_pid_namespace)
        child_pid_namespace =
            stat("/proc/self/ns/pid", &st) == 0 ? child_mix(st.st_dev, st.st_ino) | 1 : 0;
    errno = saved;
    return child_pid_namespace && pid > 0
               ? (_Atomic uint64_t *)poet_counter(
                     child_mix(child_mix(child_pid_namespace, what), (unsigned)pid % most), 1)
               : NULL;
}

_Atomic uint64_t *child_spawning(pid_t parent)
{
    return child_shared_slot(OF_SPAWNING, parent, 256);
}
static _Atomic uint64_t *child_slot(pid_t pid) { return child_shared_slot(OF_PROCESS, pid, SLOTS); }

/* Returns 0 if nothing is known of it. */
static uint64_t child_known_slot(pid_t pid)
{
    _Atomic uint64_t *slot = child_slot(pid);
    uint64_t value = slot ? atomic_load(slot) : 0;
    return PID_OF(value) == pid ? value : 0;
}

static void child_publish_state(enum child_state state, uint64_t serial)
{
    _Atomic uint64_t *slot = child_slot(child_pid);
    if (slot)
        atomic_store(slot, PID(child_pid) | STATE(state) | serial |
                               (atomic_load(&tracer.threads.recorded) > 1 ? OTHERS : 0) |
                               (has_foreign ? FOREIGN : 0));
}

/* Unique among all processes that share counters, whichever PID namespace they are in. */
uint64_t child_serial(void)
{
    _Atomic uint64_t *serials = (_Atomic uint64_t *)poet_counter(OF_SERIALS, 1);
    return serials ? (atomic_fetch_add(serials, 1) + 1) & SERIAL_MASK : 0;
}

uint64_t child_key_high(void) { return CHILD_KEYS ^ tracer.process.machine; }

bool child_is_known(pid_t pid) { return child_known_slot(pid) != 0; }

bool child_is_traced(pid_t pid)
{
    uint64_t value = child_known_slot(pid);
    return STATE_OF(value) == CHILD_STATE_TRACED && !(value & FOREIGN);
}

void child_set_foreign_threads(void)
{
    has_foreign = true;
    _Atomic uint64_t *slot = child_slot(child_pid);
    if (slot && PID_OF(atomic_load(slot)) == child_pid)
        atomic_fetch_or(slot, FOREIGN);
}

/* ---- birth ---- */

void child_fork_begin(uint64_t serial)
{
    child_pid = getpid();
    child_pid_namespace = 0;
    child_publish_state(CHILD_STATE_SILENT, serial);
}

#define TIMEOUT_NS 20000000u

/* Waits for the parent, which is about to publish it. */
static uint64_t wait_for_parent(pid_t parent)
{
    _Atomic uint64_t *spawning = child_spawning(parent);
    uint64_t begin = tracer_clock_now(), value = child_known_slot(child_pid);
    while (!value && spawning && atomic_load(spawning) && tracer_clock_now() - begin < TIMEOUT_NS) {
        nanosleep(&(struct timespec){0, 50000}, NULL);
        value = child_known_slot(child_pid);
    }
    return value ? value : child_known_slot(child_pid);
}

struct event_origin child_program_begin(void)
{
    child_pid = getpid();
    pid_t parent = getppid();
    uint64_t value = wait_for_parent(parent);
    struct event_origin from = {0};
    bool reported = STATE_OF(value) == CHILD_STATE_SILENT || STATE_OF(value) == CHILD_STATE_EXEC;
    if (reported && value & SERIAL_MASK)
        from = (struct event_origin){.at = {0, value & SERIAL_MASK}, .key = child_key_high()};
    if (reported ? value & OTHERS || !from.key : child_known_slot(parent) != 0)
        from.doubt = UNTRACED_THREAD;
    child_publish_state(CHILD_STATE_TRACED, 0);
    return from;
}

void child_recording_begin(void) { child_publish_state(CHILD_STATE_TRACED, 0); }

/* ---- messages ---- */

uint64_t child_message(struct traced_thread *t, uint16_t type, uintptr_t site)
{
    uint64_t serial = child_serial();
    uint64_t number = record_write(
        t,
        &(struct record){.shape = type,
                         .flags = (uint16_t)(RELATION_SEND | (serial ? SLOT_KEYED : 0u)),
                         .a = thread_place(t),
                         .take_a = 1,
                         .site = site,
                         .key = serial ? child_key_high() : 0,
                         .partner = {0, serial}},
        NULL);
    record_mark_nonempty();
    return number && !t->lost_events.count ? serial : 0;
}

static struct traced_thread *child_recording_thread(void)
{
    struct traced_thread *t = thread_self();
    return t && !thread_is_off(t) && !t->busy ? t : NULL;
}

/* ---- another program ---- */

struct exec_attempt child_exec_begin(uintptr_t site)
{
    if (seccomp_is_quiet())
        return (struct exec_attempt){0};
    pid_t pid = getpid();
    int saved = errno;
    struct exec_attempt b = {.slot = child_slot(pid)};
    struct traced_thread *t = site && b.slot ? child_recording_thread() : NULL;
    b.before = b.slot ? atomic_load(b.slot) : 0;
    if (pid == child_pid && STATE_OF(child_known_slot(pid)) == CHILD_STATE_SILENT)
        atomic_store(b.slot, (b.before & ~STATE(7)) | STATE(CHILD_STATE_EXEC));
    else if (b.slot && (pid == child_pid ? t != NULL : site != 0))
        atomic_store(
            b.slot,
            PID(pid) | STATE(CHILD_STATE_EXEC) |
                (pid == child_pid && atomic_load(&tracer.threads.recorded) > 1 ? OTHERS : 0) |
                (t ? child_message(t, pid == child_pid ? TYPE_EXEC : TYPE_FORK, site) : 0));
    else
        b.slot = NULL;
    b.vforked = pid != child_pid && thread_mine ? thread_mine->profile : NULL;
    vforked_leaves(b.vforked);
    if (pid == child_pid && thread_mine)
        region_gone(thread_mine);
    b.paused = tracer.server.needs_socket && pid == child_pid && server_alive() &&
               child_recording_thread() != NULL;
    if (b.paused)
        socket_sender_pause(SENDER_MS);
    errno = saved;
    return b;
}

int child_exec_failed(struct exec_attempt b, int result)
{
    int saved = errno;
    if (b.slot)
        atomic_store(b.slot, b.before);
    vforked_stays(b.vforked);
    if (thread_mine && getpid() == child_pid)
        region_stays(thread_mine);
    if (b.paused)
        socket_sender_resume();
    errno = saved;
    return result;
}

/* ---- a child with another program ---- */

void child_set_message(pid_t child, uint64_t serial)
{
    _Atomic uint64_t *slot = child_slot(child);
    uint64_t value = slot ? atomic_load(slot) : 0;
    while (
        slot && PID_OF(value) != child &&
        !atomic_compare_exchange_weak(slot, &value, PID(child) | STATE(CHILD_STATE_EXEC) | serial))
        ;
}

/* ---- the end ---- */

void child_record_exit(uintptr_t site)
{
    int saved = errno;
    struct traced_thread *t = getpid() == child_pid ? child_recording_thread() : NULL;
    bool lived = server_alive() && STATE_OF(child_known_slot(child_pid)) == CHILD_STATE_TRACED;
    if (lived && child_known_slot(getppid()) != 0)
        child_publish_state(CHILD_STATE_ENDED, t ? child_message(t, TYPE_PROCESS_EXIT, site) : 0);
    errno = saved;
}

void child_record_exit_at_once(uintptr_t site)
{
    if (seccomp_is_quiet())
        return;
    pid_t pid = getpid();
    if (pid == child_pid) {
        child_record_exit(site);
        struct traced_thread *t = server_alive() ? child_recording_thread() : NULL;
        if (t)
            message_queue_send_end(ENDS_AT_ONCE);
        if (tracer.server.needs_socket && t)
            socket_sender_finish(SENDER_MS);
        if (t)
            lifecycle_report_lost(lost_events_count_no_room(t));
        if (thread_mine)
            region_gone(thread_mine);
        return;
    }
    vforked_ends(thread_mine ? thread_mine->profile : NULL);
    if (site && child_slot(pid)) /* a child of vfork: its events are its parent's */
        atomic_store(child_slot(pid), PID(pid) | STATE(CHILD_STATE_SILENT));
}

struct event_origin child_get_end(pid_t pid, bool last)
{
    uint64_t value = child_known_slot(pid);
    struct event_origin from = {0};
    /* it has made no traced call */
    if (STATE_OF(value) == CHILD_STATE_SILENT)
        return from;
    if (STATE_OF(value) == CHILD_STATE_ENDED && value & SERIAL_MASK)
        from = (struct event_origin){.at = {0, value & SERIAL_MASK}, .key = child_key_high()};
    if (!from.key || value & OTHERS)
        from.doubt = UNTRACED_THREAD;
    if (value && last)
        atomic_compare_exchange_strong(child_slot(pid), &value, 0);
    return from;
}

/* ---- fork ---- */

#define FORK_KEYS 0xf0f0f0f0f0f0f0f0u /* distinguishes them from other keys of this process */

#pragma weak poet_process_forking
void poet_process_forking(void);

/* The interposed call that a thread is in: what its prepare handlers do comes before the child, so
 * the last of them records the fork. */
static __thread struct forking {
    bool ours;
    uintptr_t site;
} forking __attribute__((tls_model("initial-exec")));

/* Records a message to the child, which receives it when it begins to record. If it finds no room
 * there is none, or the child would wait for it. */
static void fork_call_record(struct traced_thread *t, uintptr_t site)
{
    static _Atomic uint64_t serial;
    int saved = errno;
    if (t && !seccomp_allows(ALLOWED_CONNECTING)) /* the child cannot connect to a server */
        thread_note_untraced(t, UNTRACED_THREAD);
    uint64_t low = t ? child_serial() : 0,
             high = low ? child_key_high() : tracer.process.instance ^ FORK_KEYS;
    if (t && !low)
        low = atomic_fetch_add(&serial, 1) + 1;
    uint64_t number = t ? record_write(t,
                                       &(struct record){.shape = TYPE_FORK,
                                                        .flags = RELATION_SEND | SLOT_KEYED,
                                                        .a = thread_place(t),
                                                        .take_a = 1,
                                                        .site = site,
                                                        .key = high,
                                                        .partner = {0, low},
                                                        .count = 1},
                                       NULL)
                        : 0;
    bool known = number && !t->lost_events.count;
    lifecycle_forking(known ? high : 0, known ? low : 0);
    errno = saved;
}

static bool fork_call_prepares; /* the last prepare handler is libpoet's */

/* A handler that runs in the child before that has begun would write to the parent's queue. So the
 * thread that forks has no signals until then. */
static __thread struct {
    bool is;
    struct mask before;
} fork_call_held __attribute__((tls_model("initial-exec")));

static void fork_call_hold_signals(void)
{
    if (!fork_call_held.is)
        fork_call_held.before = mask_hold();
    fork_call_held.is = true;
}

void fork_call_release_signals(void)
{
    if (fork_call_held.is)
        mask_set(fork_call_held.before);
    fork_call_held.is = false;
}

void fork_call_prepare(void)
{
    if (forking.ours) /* otherwise the C library's own, as for daemon */
        fork_call_record(forking.site ? thread_recording() : NULL, forking.site);
    fork_call_hold_signals();
}

void fork_call_prepared(bool registered) { fork_call_prepares = registered; }

static void fork_call_end_common(long child, bool runs_handlers)
{
    int saved = errno;
    if (child == 0 && !runs_handlers)
        lifecycle_forked();
    /* the next fork may not be noticed */
    if (child != 0)
        lifecycle_forking(0, 0);
    errno = saved;
}

static pid_t fork_call_trace(uintptr_t site, pid_t (*call)(void), bool runs_handlers)
{
    struct forking outer = forking; /* a prepare handler may fork, too */
    forking = (struct forking){true, site};
    if (!runs_handlers || !fork_call_prepares) {
        fork_call_record(site ? thread_recording() : NULL, site);
        fork_call_hold_signals();
    }
    pid_t child = call();
    forking = outer;
    fork_call_end_common(child, runs_handlers);
    int saved = errno;
    fork_call_release_signals();
    errno = saved;
    return child;
}

/* ---- fork by direct system calls ---- */

static uint64_t fork_call_flags(long number, long a, long b)
{
    uint64_t flags = number == SYS_clone ? (uint64_t)a : 0;
    /* (the kernel rejects arguments that are not valid) */
    if (number == SYS_clone3 && b >= 64 && a)
        memcpy(&flags, (const void *)a, sizeof flags);
    return flags;
}

bool fork_call_is_fork(long number, long a, long b)
{
#if defined(SYS_fork)
    if (number == SYS_fork)
        return true;
#endif
    return (number == SYS_clone || number == SYS_clone3) &&
           !(fork_call_flags(number, a, b) & CLONE_VM);
}

void fork_call_begin(uintptr_t site)
{
    if (poet_process_forking)
        poet_process_forking();
    fork_call_record(site ? thread_recording() : NULL, site);
    fork_call_hold_signals();
}

void fork_call_end(long number, long a, long b, long child)
{
    if (child != 0 || !(fork_call_flags(number, a, b) & CLONE_FILES))
        fork_call_end_common(child, false);
    else
        lifecycle_disable();
    fork_call_release_signals();
}

/* ---- fork by the C library ---- */

/* A static C library's fork() calls the interposed _Fork(). */
static __thread bool within_fork __attribute__((tls_model("initial-exec")));

ENTRY_NONE(pid_t, fork)
{
    real_find();
    within_fork = true;
    pid_t child = fork_call_trace(site, real_functions.fork, true);
    within_fork = false;
    return child;
}

ENTRY_NONE(pid_t, _Fork)
{
    real_find();
    return within_fork ? real_functions._Fork()
                       : fork_call_trace(site, real_functions._Fork, false);
}
