#define _GNU_SOURCE
#include "clients/libpoet/replay/replay_ticket.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/replay/cpu_time_used.h"
#include "clients/libpoet/replay/replay_stops.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 100
#define YIELDS 300u /* about as long as it takes to sleep and be woken */
/* a thread with a number so few ahead, such as those of some critical sections, is near its
 * turn */
#define NEXT 16u
#define LOOK_MS 50u /* interval at which a waiter checks whether its turn can still come */
#define TIMEOUT_MS 1000u
#define TIMEOUT_MOST_MS 100000000u /* a day */
#define HELD_NS                                                                                    \
    500000000u /* a waiter that checks so much later than intended was stopped, as by a debugger */
#define SLOWER 10u /* factor by which a thread may be slower than it was */
#define STARVED 10u /* factor by which other threads may have its CPU longer */

static uint32_t replay_ticket_thread_number(const struct schedule_line *thread)
{
    return (uint32_t)(thread - shared_schedule_line(0));
}

/* A thread that waits for a number sleeps with its bit: so only those that have the turn are woken.
 */
static uint32_t replay_ticket_bit(uint32_t number) { return UINT32_C(1) << number % 32; }

/* Bits of the numbers after `before`, up to the other. */
static uint32_t replay_ticket_bits(uint32_t before, uint32_t number)
{
    uint32_t bits = 0;
    if (number - before >= 32)
        return UINT32_MAX;
    while (before != number)
        bits |= replay_ticket_bit(++before);
    return bits;
}

static void replay_ticket_wake_line(struct schedule_line *line, uint32_t bits)
{
    if (bits && atomic_load(&line->waiting))
        syscall(SYS_futex, &line->done, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
}

/* (waiters that spin notice at once, others within LOOK_MS) */
void shared_schedule_abandon(const struct schedule_end *end)
{
    if (atomic_exchange(&tracer.replay.schedule->claimed, 1))
        return;
    tracer.replay.schedule->end = *end;
    atomic_store(&tracer.replay.schedule->state, SCHEDULE_LEFT);
    int saved = errno;
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++)
        replay_ticket_wake_line(shared_schedule_line(i), UINT32_MAX);
    replay_stop_report();
    errno = saved;
}

void replay_ticket_wake(struct schedule_line *line, uint32_t before, uint32_t number)
{
    int saved = errno;
    replay_ticket_wake_line(line, replay_ticket_bits(before, number));
    errno = saved;
}

/* ---- whether its turn can still come ---- */

static bool replay_ticket_is_event(const struct schedule_event *e, uint32_t line, uint32_t number)
{
    return (e->line == line && e->number == number) || (e->about == line && e->ticket == number);
}

/* Returns the thread that must make the next event on a line; 0: none. */
static uint32_t replay_ticket_next_thread(uint32_t line)
{
    uint32_t number = atomic_load(&shared_schedule_line(line)->done) + 1;
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++) {
        const struct schedule_line *thread = shared_schedule_line(i);
        const struct schedule_event *events = shared_schedule_events(thread);
        for (uint64_t k = atomic_load(&thread->at); k < thread->count; k++)
            if (replay_ticket_is_event(&events[k], line, number))
                return i;
    }
    return 0;
}

/* Returns the thread, of those that wait for each other, that does not wait; 0: none. */
static uint32_t replay_ticket_running_thread(uint32_t line)
{
    for (uint32_t i = 0; i <= tracer.replay.schedule->line_count; i++) {
        uint32_t thread = replay_ticket_next_thread(line);
        line = thread ? atomic_load(&shared_schedule_line(thread)->waits_line) : 0;
        if (!line)
            return thread;
    }
    return 0;
}

/* The thread that does not wait, as of the last check; and the time that it could have used since
 * its last event. */
struct replay_ticket_wait {
    uint32_t thread;
    uint64_t at, since_ns, used_ns;
    uint64_t looked_ns;
    struct cpu_time_sample slow;
};

unsigned replay_ticket_timeout_ms(const struct schedule_line *is)
{
    uint64_t at = atomic_load(&is->at);
    uint64_t usual_ms = at < is->count ? shared_schedule_events(is)[at].after_ms : 0;
    return (unsigned)(TIMEOUT_MS +
                      SLOWER * (usual_ms < TIMEOUT_MOST_MS ? usual_ms : TIMEOUT_MOST_MS));
}

static bool replay_ticket_is_late(struct replay_ticket_wait *hope, uint32_t thread)
{
    const struct schedule_line *is = shared_schedule_line(thread);
    uint64_t at = atomic_load(&is->at), now = tracer_clock_now(), elapsed = now - hope->looked_ns;
    bool held = elapsed > HELD_NS; /* then all threads were stopped */
    if (thread != hope->thread || at != hope->at || held)
        *hope = (struct replay_ticket_wait){.thread = thread, .at = at, .since_ns = now};
    else
        hope->used_ns += thread ? cpu_time_used(&hope->slow, replay_stop_process(thread),
                                                replay_stop_id(thread), elapsed)
                                : elapsed;
    hope->looked_ns = now;
    uint64_t most = replay_ticket_timeout_ms(is) * UINT64_C(1000000);
    return hope->used_ns > most || now - hope->since_ns > STARVED * most;
}

/* Abandons the schedule if waiting is useless. */
static void replay_ticket_check_progress(const struct schedule_line *me, uint32_t line,
                                         uint32_t number, struct replay_ticket_wait *hope)
{
    uint32_t next = replay_ticket_next_thread(line), other = replay_ticket_running_thread(line);
    struct schedule_end end = {.why = other ? SCHEDULE_END_TIMEOUT : SCHEDULE_END_NO_WAKER,
                               .thread = replay_ticket_thread_number(me),
                               .event = atomic_load(&me->at),
                               .line = line,
                               .number = number,
                               .by = other ? other : next};
    if (replay_ticket_is_late(hope, other) && !(other && replay_stop_is_debugged()))
        shared_schedule_abandon(&end);
}

/* ---- waiting ---- */

static void replay_ticket_sleep_until(struct schedule_line *line, uint32_t number)
{
    uint32_t done = atomic_load(&line->done);
    struct timespec ts;
    if ((int32_t)(done - number) >= 0)
        return;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC,
            &ts); /* (what clock_now() says a test may have set) */
    ts.tv_nsec += LOOK_MS * 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    syscall(SYS_futex, &line->done, FUTEX_WAIT_BITSET, done, &ts, NULL, replay_ticket_bit(number));
}

static bool replay_ticket_sleep_long(struct schedule_line *me, struct schedule_line *line,
                                     uint32_t number)
{
    struct replay_ticket_wait hope = {.thread = UINT32_MAX};
    uint32_t name = replay_ticket_thread_number(line);
    uint64_t look_ns = tracer_clock_now() + LOOK_MS * 1000000u;
    atomic_store(&me->waits_for, number);
    atomic_store(&me->waits_line, name);
    atomic_fetch_add(&line->waiting, 1);
    while (shared_schedule_is_active() && !replay_ticket_is_reached(line, number)) {
        replay_ticket_sleep_until(line, number);
        if (tracer_clock_now() < look_ns)
            continue;
        replay_ticket_check_progress(me, name, number, &hope);
        replay_stop_done();
        look_ns = tracer_clock_now() + LOOK_MS * 1000000u;
    }
    atomic_fetch_sub(&line->waiting, 1);
    atomic_store(&me->waits_line, 0);
    return shared_schedule_is_active();
}

/* Returns whether the turn is near: then the thread spins for a moment, and yields its CPU to the
 * one that may be before it, which takes less time than to sleep and be woken. If that was useless,
 * the next moments are shorter. */
static bool replay_ticket_is_near(const struct schedule_line *line, uint32_t number)
{
    static __thread unsigned moments __attribute__((tls_model("initial-exec"))) = YIELDS;
    for (int i = 0; i < SPINS; i++) {
        if (replay_ticket_is_reached(line, number))
            return true;
        if (number - atomic_load(&line->done) > NEXT)
            return false;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    for (unsigned i = 0;
         i < moments && !replay_ticket_is_reached(line, number) && shared_schedule_is_active(); i++)
        syscall(SYS_sched_yield);
    bool come = replay_ticket_is_reached(line, number);
    moments = come ? YIELDS : moments / 2 ? moments / 2 : 1;
    return come;
}

bool replay_ticket_wait_for(struct schedule_line *me, struct schedule_line *line, uint32_t number)
{
    int saved = errno;
    bool come = replay_ticket_is_near(line, number) || replay_ticket_sleep_long(me, line, number);
    errno = saved;
    return come;
}
