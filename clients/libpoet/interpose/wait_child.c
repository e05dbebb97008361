/* Calls that wait for child processes. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/cpu_time_used.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_program

struct child_wait {
    struct traced_thread *thread;
    uintptr_t site;
    int saved;
};

static void wait_child_end_blocking(void *p)
{
    struct traced_thread *t = ((struct child_wait *)p)->thread;
    if (t)
        instrument_wait_end(t, TYPE_WAITPID);
}

/* Only in a replayed run: returns whether one check found the child, as a launcher checks between
 * other events; the number of such checks depends on scheduling, and so does the call that finds
 * the child. */
static bool wait_child_found_at_once(struct traced_thread *t)
{
    return replay_active && thread_schedule_active(t) &&
           thread_schedule_next_type(t, 0) == TYPE_REAPED;
}

static struct child_wait wait_child_begin(uintptr_t site, bool blocks)
{
    struct child_wait w = {site ? thread_recording() : NULL, site, errno};
    if (w.thread && blocks && !wait_child_found_at_once(w.thread))
        record_event(w.thread, TYPE_WAITPID, thread_place(w.thread), 0, site);
    if (w.thread)
        instrument_wait_begin(w.thread, TYPE_WAITPID, site);
    errno = w.saved;
    return w;
}

/* child: the process whose end was reported, 0 none; last: it has been reaped. */
static void wait_child_record_reaped(const struct child_wait *w, pid_t child, bool last)
{
    struct traced_thread *t = w->thread;
    struct event_origin from = child_get_end(child, last);
    if (t)
        record_write(t,
                     &(struct record){.shape = TYPE_REAPED,
                                      .flags = (uint16_t)((from.key ? RELATION_RECEIVE | SLOT_KEYED
                                                                    : RELATION_NONE) |
                                                          SLOT_DOUBT(from.doubt)),
                                      .a = thread_place(t),
                                      .take_a = 1,
                                      .site = w->site,
                                      .key = from.key,
                                      .partner = from.at,
                                      .count = last},
                     NULL);
    record_mark_nonempty();
}

static void wait_child_end(const struct child_wait *w, pid_t child, bool last, bool blocks)
{
    int saved = errno;
    if (child > 0 && w->thread)
        wait_child_record_reaped(w, child, last);
    else if (w->thread && blocks)
        record_event(w->thread, TYPE_JOIN_FAILED, thread_place(w->thread), 0, w->site);
    errno = saved;
}

#define TIMEOUT_NS UINT64_C(10000000000)
/* A caller that polls may have to do between two polls what the child awaits: the first poll waits
 * for a child that may only be slow, later ones for the same child wait less. */
#define FIRST_POLL_NS UINT64_C(1000000000)
#define NEXT_POLL_NS UINT64_C(50000000)
#define STARVED 20u /* so many times that, whether the child had a CPU or not */

/* The thread of the schedule for whose process this one polled last, in vain. */
static __thread uint32_t wait_child_polled __attribute__((tls_model("initial-exec")));

/* For how long the end of a child was awaited. */
struct wait_child_timeout {
    bool polls;
    uint64_t begun_ns, looked_ns;
    uint64_t used_ns; /* time in which the child could have run */
    struct cpu_time_sample slow;
};

static struct wait_child_timeout wait_child_timeout_begin(int options)
{
    uint64_t now = tracer_clock_now();
    return (struct wait_child_timeout){
        .polls = options & WNOHANG, .begun_ns = now, .looked_ns = now};
}

/* Waits a moment for a thread of the schedule, in a process that is 0 if it has not begun. Returns
 * false if it was long enough. */
static bool wait_child_nap(struct wait_child_timeout *p, uint32_t sender, uint32_t process)
{
    pthread_testcancel(); /* as wait does */
    thread_schedule_nap();
    uint64_t now = tracer_clock_now(), elapsed = now - p->looked_ns;
    p->used_ns += process ? cpu_time_used(&p->slow, process, process, elapsed) : elapsed;
    p->looked_ns = now;
    uint64_t most = !p->polls                               ? TIMEOUT_NS
                    : sender && sender != wait_child_polled ? FIRST_POLL_NS
                                                            : NEXT_POLL_NS;
    if (p->used_ns < most && now - p->begun_ns < STARVED * most)
        return true;
    wait_child_polled = p->polls ? sender : 0;
    return false;
}

/* In a replayed run the end of the recorded child is found, and no other. If there is no child at
 * all, the system's error is returned. */
static pid_t wait_child_replay_wait(struct traced_thread *t, pid_t pid, int *status, int options,
                                    struct rusage *usage)
{
    siginfo_t any = {0};
    pid_t child = 0;
    int e = real_functions.waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT);
    struct wait_child_timeout timeout = wait_child_timeout_begin(options);
    uint32_t from = 0, sender;
    while (e == 0 && thread_schedule_next_type(t, 0) == TYPE_REAPED) {
        sender = thread_schedule_next_sender(t, TYPE_REAPED, &from);
        if (!sender || from)
            child = real_functions.wait4(sender && pid <= 0 ? (pid_t)from : pid, status,
                                         options | WNOHANG, usage);
        if (child)
            return child;
        if (!wait_child_nap(&timeout, sender, from))
            break;
    }
    return options & WNOHANG && e == 0 ? 0 : real_functions.wait4(pid, status, options, usage);
}

static int wait_child_replay_waitid(struct traced_thread *t, idtype_t kind, id_t id,
                                    siginfo_t *info, int options)
{
    siginfo_t any = {0};
    int e = real_functions.waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT);
    struct wait_child_timeout timeout = wait_child_timeout_begin(options);
    uint32_t from = 0, sender;
    while (e == 0 && thread_schedule_next_type(t, 0) == TYPE_REAPED) {
        sender = thread_schedule_next_sender(t, TYPE_REAPED, &from);
        bool named = !sender || kind == P_PID;
        int found = 0;
        if (!sender || from)
            found = real_functions.waitid(named ? (int)kind : P_PID, named ? id : from, info,
                                          options | WNOHANG);
        if (found != 0 || info->si_pid)
            return found;
        if (!wait_child_nap(&timeout, sender, from))
            break;
    }
    return options & WNOHANG && e == 0 ? 0 : real_functions.waitid((int)kind, id, info, options);
}

static pid_t wait_child_call(uintptr_t site, pid_t pid, int *status, int options,
                             struct rusage *usage)
{
    real_find();
    int own, *in = status ? status : &own;
    pid_t child;
    bool blocks = !(options & WNOHANG);
    struct child_wait w = wait_child_begin(site, blocks);
    pthread_cleanup_push(wait_child_end_blocking, &w);
    child = w.thread && replay_active && thread_schedule_active(w.thread) &&
                    !(options & (WUNTRACED | WCONTINUED))
                ? wait_child_replay_wait(w.thread, pid, in, options, usage)
            : usage ? real_functions.wait4(pid, in, options, usage)
                    : real_functions.waitpid(pid, in, options);
    pthread_cleanup_pop(1);
    bool ended = child > 0 && (WIFEXITED(*in) || WIFSIGNALED(*in));
    wait_child_end(&w, ended ? child : 0, true, blocks);
    return child;
}

ENTRY(pid_t, waitpid, (pid_t pid, int *status, int options), pid, status, options)
{
    return wait_child_call(site, pid, status, options, NULL);
}

ENTRY(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), pid, status,
      options, usage)
{
    return wait_child_call(site, pid, status, options, usage);
}

ENTRY(pid_t, wait3, (int *status, int options, struct rusage *usage), status, options, usage)
{
    return wait_child_call(site, -1, status, options, usage);
}

ENTRY(pid_t, wait, (int *status), status) { return wait_child_call(site, -1, status, 0, NULL); }

ENTRY(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), kind, id, info, options)
{
    real_find();
    siginfo_t own, *in = info ? info : &own;
    int result;
    bool blocks = !(options & WNOHANG);
    struct child_wait w = wait_child_begin(site, blocks);
    in->si_pid = 0;
    pthread_cleanup_push(wait_child_end_blocking, &w);
    result = w.thread && replay_active && thread_schedule_active(w.thread) &&
                     !(options & (WSTOPPED | WCONTINUED))
                 ? wait_child_replay_waitid(w.thread, kind, id, in, options)
                 : real_functions.waitid((int)kind, id, in, options);
    pthread_cleanup_pop(1);
    bool ended =
        result == 0 && in->si_pid > 0 &&
        (in->si_code == CLD_EXITED || in->si_code == CLD_KILLED || in->si_code == CLD_DUMPED);
    wait_child_end(&w, ended ? in->si_pid : 0, !(options & WNOWAIT), blocks);
    return result;
}

/* The shell is created and awaited where this cannot be recorded; its end is not traced. */
ENTRY(int, system, (const char *command), command)
{
    real_find();
    struct child_wait w = wait_child_begin(site && command ? site : 0, false);
    int result;
    if (w.thread)
        child_message(w.thread, TYPE_FORK, site);
    pthread_cleanup_push(wait_child_end_blocking, &w);
    errno = w.saved;
    result = real_functions.system(command);
    pthread_cleanup_pop(1);
    int saved = errno;
    if (w.thread)
        record_write(w.thread,
                     &(struct record){.shape = TYPE_REAPED,
                                      .flags = SLOT_DOUBT(UNTRACED_THREAD),
                                      .a = thread_place(w.thread),
                                      .take_a = 1,
                                      .site = site},
                     NULL);
    errno = saved;
    return result;
}
