#define _GNU_SOURCE
#include "clients/libpoet/replay/replay_stops.h"

#include "clients/libpoet/core/tracer.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 2000000    /* interval at which a held thread checks whether it still is */
/* checks without any thread arriving, after which one that is awaited will not arrive */
#define LOOKS_ENOUGH 500u
/* checks without any event, after which a task that is held keeps another one from running */
#define LOOKS_STUCK 2500u

/* Function on which a debugger sets its breakpoint. */
__attribute__((visibility("default"), noinline)) void poet_stop_reached(void);
void poet_stop_reached(void) { __asm__ volatile("" ::: "memory"); }

static struct schedule_breakpoint *replay_stop_find(uint32_t line)
{
    return (struct schedule_breakpoint *)((char *)tracer.replay.schedule +
                                          tracer.replay.schedule->stops_at) +
           line;
}

static uint32_t replay_stop_number(const struct schedule_line *thread)
{
    return (uint32_t)(thread - shared_schedule_line(0));
}

void replay_stop_begin(void)
{
    uint32_t any = SCHEDULE_ANY_PROCESS;
    atomic_compare_exchange_strong(&tracer.replay.schedule->debugged, &any, (uint32_t)getpid());
}

uint32_t replay_stop_process(uint32_t line)
{
    return atomic_load(&replay_stop_find(line)->process);
}

uint32_t replay_stop_id(uint32_t line) { return atomic_load(&replay_stop_find(line)->id); }

void replay_stop_check(struct schedule_line *me)
{
    struct schedule_breakpoint *stop = replay_stop_find(replay_stop_number(me));
    int saved = errno;
    atomic_store(&stop->process, (uint32_t)getpid());
    atomic_store(&stop->id, (uint32_t)syscall(SYS_gettid));
    errno = saved;
}

/* done: making what must be made is sufficient, wherever threads are. */
static bool replay_stop_is_there(uint32_t line, bool done)
{
    const struct schedule_breakpoint *stop = replay_stop_find(line);
    const struct schedule_line *thread = shared_schedule_line(line);
    uint32_t awaited = atomic_load(&stop->awaited);
    uint64_t before = atomic_load(&stop->before);
    if (!awaited || !before)
        return true;
    if (awaited == SCHEDULE_HELD && !done && before <= thread->count)
        return atomic_load(&stop->at) >= before;
    return atomic_load(&thread->at) + 1 >= before || atomic_load(&stop->at) >= before;
}

static bool replay_stop_are_there(bool done)
{
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++)
        if (!replay_stop_is_there(i, done))
            return false;
    return true;
}

void replay_stop_report(void)
{
    if (atomic_load(&tracer.replay.schedule->debugged) == (uint32_t)getpid() &&
        atomic_exchange(&tracer.replay.schedule->stop, 0))
        poet_stop_reached();
}

void replay_stop_done(void)
{
    if (atomic_load(&tracer.replay.schedule->stop) == SCHEDULE_BREAKPOINT_REACHED &&
        replay_stop_are_there(false))
        replay_stop_report();
}

/* 1 + the event before which it is held; 0: it is not held. Within a record, a thread that must
 * have made some of it is not held: its events are made when the whole record is. */
static uint64_t replay_stop_held_before(const struct schedule_breakpoint *stop, uint64_t first,
                                        uint64_t last, bool amid)
{
    uint64_t before = atomic_load(&stop->before);
    bool within = amid && atomic_load(&stop->awaited) == SCHEDULE_DONE;
    bool held = before && before <= last + 1 && !within && replay_stop_is_debugged() &&
                shared_schedule_is_active();
    return !held ? 0 : before > first ? before : first + 1;
}

static uint64_t replay_stop_performed(void)
{
    uint64_t events = 0;
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++)
        events += atomic_load(&shared_schedule_line(i)->at);
    return events;
}

/* Returns whether an awaited task of a runtime was last on the same thread of the system as the one
 * that is held there now. */
static bool replay_stop_keeps_thread(const struct schedule_breakpoint *held)
{
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++) {
        const struct schedule_breakpoint *other = replay_stop_find(i);
        if (other != held && atomic_load(&other->id) == atomic_load(&held->id) &&
            atomic_load(&other->process) == atomic_load(&held->process) &&
            !replay_stop_is_there(i, false))
            return true;
    }
    return false;
}

/* Reports a stop that is not reached because a task that is held keeps its thread. *looks: for how
 * long no event has been performed, *performed. */
static void replay_stop_check_stuck(const struct schedule_breakpoint *held, unsigned *looks,
                                    uint64_t *performed)
{
    uint64_t now = replay_stop_performed();
    bool stuck = atomic_load(&tracer.replay.schedule->stop) == SCHEDULE_BREAKPOINT_REACHED &&
                 now == *performed && replay_stop_keeps_thread(held);
    *performed = now;
    *looks = stuck ? *looks + 1 : 0;
    if (*looks >= LOOKS_STUCK)
        replay_stop_report();
}

void replay_stop_reach(struct schedule_line *me, uint64_t first, uint64_t last, bool amid)
{
    struct schedule_breakpoint *stop = replay_stop_find(replay_stop_number(me));
    int saved = errno;
    uint64_t before, performed = 0;
    unsigned stuck = 0;
    for (unsigned looks = 0; (before = replay_stop_held_before(stop, first, last, amid)) != 0;
         looks++) {
        if (!looks) /* a task may be on another thread of the system now */
            replay_stop_check(me);
        atomic_store(&stop->at, before);
        replay_stop_done();
        if (looks >= LOOKS_ENOUGH &&
            atomic_load(&tracer.replay.schedule->stop) == SCHEDULE_BREAKPOINT_REACHED &&
            replay_stop_are_there(true))
            replay_stop_report();
        replay_stop_check_stuck(stop, &stuck, &performed);
        if (!atomic_load(&tracer.replay.schedule->stop))
            looks = 0;
        syscall(SYS_nanosleep, &(struct timespec){0, LOOK_NS}, NULL);
    }
    atomic_store(&stop->at, 0);
    errno = saved;
}
