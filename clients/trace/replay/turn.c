#define _GNU_SOURCE
#include "clients/trace/replay/turn.h"

#include "clients/trace/core/clock.h"
#include "clients/trace/core/likely.h"
#include "clients/trace/replay/slow.h"
#include "clients/trace/replay/stop.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 100
#define YIELDS 300u /* about as long as it takes to sleep and be woken */
#define NEXT 16u /* who waits for so few numbers of a line, as those of some visits, comes soon */
#define LOOK_MS 50u /* how often who waits looks whether it ever can go on */
#define PATIENCE_MS 1000u
#define PATIENCE_MOST_MS 100000000u /* a day */
#define HELD_NS                                                                                    \
    500000000u /* who looks so much later than he wanted to was stopped, as debuggers do */
#define SLOWER 10u /* so many times slower than it was a thread may be */
#define STARVED 10u /* so many times longer others may have its processor */

static uint32_t number_of(const struct script_line *thread)
{
    return (uint32_t)(thread - script_line(0));
}

/* Who waits for a number sleeps with its bit: of all that wait for a line those are woken whose turn it is. */
static uint32_t bit_of(uint32_t number) { return UINT32_C(1) << number % 32; }

/* Of the numbers behind `before`, up to the other. */
static uint32_t bits_of(uint32_t before, uint32_t number)
{
    uint32_t bits = 0;
    if (number - before >= 32)
        return UINT32_MAX;
    while (before != number)
        bits |= bit_of(++before);
    return bits;
}

static void wake(struct script_line *line, uint32_t bits)
{
    if (bits && atomic_load(&line->waiting))
        syscall(SYS_futex, &line->done, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
}

/* (those who wait at once see it, others within LOOK_MS) */
void script_leave(const struct script_end *end)
{
    if (atomic_exchange(&script->claimed, 1))
        return;
    script->end = *end;
    atomic_store(&script->state, SCRIPT_ENDED);
    int saved = errno;
    for (uint32_t i = 1; i <= script->line_count; i++)
        wake(script_line(i), UINT32_MAX);
    stop_tell();
    errno = saved;
}

void turn_wake(struct script_line *line, uint32_t before, uint32_t number)
{
    int saved = errno;
    wake(line, bits_of(before, number));
    errno = saved;
}

/* ---- whether it ever can go on ---- */

static bool makes(const struct script_event *e, uint32_t line, uint32_t number)
{
    return (e->line == line && e->number == number) || (e->about == line && e->ticket == number);
}

/* Who is to do what comes next on a line; 0: nobody. */
static uint32_t who_is_next(uint32_t line)
{
    uint32_t number = atomic_load(&script_line(line)->done) + 1;
    for (uint32_t i = 1; i <= script->line_count; i++) {
        const struct script_line *thread = script_line(i);
        const struct script_event *events = script_events(thread);
        for (uint64_t k = atomic_load(&thread->at); k < thread->count; k++)
            if (makes(&events[k], line, number))
                return i;
    }
    return 0;
}

/* Of those that wait for each other the one that does not; 0: there is none. */
static uint32_t who_goes_on(uint32_t line)
{
    for (uint32_t i = 0; i <= script->line_count; i++) {
        uint32_t thread = who_is_next(line);
        line = thread ? atomic_load(&script_line(thread)->waits_line) : 0;
        if (!line)
            return thread;
    }
    return 0;
}

/* The thread that does not wait, as it was when looked at last; and the time that it could have used since it did something. */
struct hope {
    uint32_t thread;
    uint64_t at, since_ns, used_ns;
    uint64_t looked_ns;
    struct slow slow;
};

unsigned turn_patience_ms(const struct script_line *is)
{
    uint64_t at = atomic_load(&is->at);
    uint64_t usual_ms = at < is->count ? script_events(is)[at].after_ms : 0;
    return (unsigned)(PATIENCE_MS +
                      SLOWER * (usual_ms < PATIENCE_MOST_MS ? usual_ms : PATIENCE_MOST_MS));
}

static bool is_late(struct hope *hope, uint32_t thread)
{
    const struct script_line *is = script_line(thread);
    uint64_t at = atomic_load(&is->at), now = clock_now(), elapsed = now - hope->looked_ns;
    bool held = elapsed > HELD_NS; /* so was everybody, then */
    if (thread != hope->thread || at != hope->at || held)
        *hope = (struct hope){.thread = thread, .at = at, .since_ns = now};
    else
        hope->used_ns +=
            thread ? slow_used(&hope->slow, stop_process(thread), stop_id(thread), elapsed)
                   : elapsed;
    hope->looked_ns = now;
    uint64_t most = turn_patience_ms(is) * UINT64_C(1000000);
    return hope->used_ns > most || now - hope->since_ns > STARVED * most;
}

/* Leaves the script where it is of no use to wait. */
static void look(const struct script_line *me, uint32_t line, uint32_t number, struct hope *hope)
{
    uint32_t next = who_is_next(line), other = who_goes_on(line);
    struct script_end end = {.why = other ? SCRIPT_IMPATIENT : SCRIPT_NOBODY,
                             .thread = number_of(me),
                             .event = atomic_load(&me->at),
                             .line = line,
                             .number = number,
                             .by = other ? other : next};
    if (is_late(hope, other) && !(other && stop_debugged()))
        script_leave(&end);
}

/* ---- waiting ---- */

static void sleep_until(struct script_line *line, uint32_t number)
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
    syscall(SYS_futex, &line->done, FUTEX_WAIT_BITSET, done, &ts, NULL, bit_of(number));
}

static bool sleep_long(struct script_line *me, struct script_line *line, uint32_t number)
{
    struct hope hope = {.thread = UINT32_MAX};
    uint32_t name = number_of(line);
    uint64_t look_ns = clock_now() + LOOK_MS * 1000000u;
    atomic_store(&me->waits_for, number);
    atomic_store(&me->waits_line, name);
    atomic_fetch_add(&line->waiting, 1);
    while (script_plays() && !turn_has_come(line, number)) {
        sleep_until(line, number);
        if (clock_now() < look_ns)
            continue;
        look(me, name, number, &hope);
        stop_done();
        look_ns = clock_now() + LOOK_MS * 1000000u;
    }
    atomic_fetch_sub(&line->waiting, 1);
    atomic_store(&me->waits_line, 0);
    return script_plays();
}

/* Who is next waits awake for a moment, and gives its processor to who may be the one before it: that takes less time than
 * to sleep and be woken.  Where it was of no use the next moments are shorter. */
static bool comes_soon(const struct script_line *line, uint32_t number)
{
    static __thread unsigned moments __attribute__((tls_model("initial-exec"))) = YIELDS;
    for (int i = 0; i < SPINS; i++) {
        if (turn_has_come(line, number))
            return true;
        if (number - atomic_load(&line->done) > NEXT)
            return false;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    for (unsigned i = 0; i < moments && !turn_has_come(line, number) && script_plays(); i++)
        syscall(SYS_sched_yield);
    bool come = turn_has_come(line, number);
    moments = come ? YIELDS : moments / 2 ? moments / 2 : 1;
    return come;
}

bool turn_wait_for(struct script_line *me, struct script_line *line, uint32_t number)
{
    int saved = errno;
    bool come = comes_soon(line, number) || sleep_long(me, line, number);
    errno = saved;
    return come;
}
