#define _GNU_SOURCE
#include "clients/trace/replay/stop.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 2000000    /* how often who is held looks whether it still is */
#define LOOKS_ENOUGH 500u  /* so often while nobody comes: one that is awaited will not */

/* Where a debugger has its breakpoint. */
__attribute__((visibility("default"), noinline)) void poet_stop_reached(void);
void poet_stop_reached(void) { __asm__ volatile("" ::: "memory"); }

static struct script_stop *stop_of(uint32_t line)
{
    return (struct script_stop *)((char *)script + script->stops_at) + line;
}

static uint32_t number_of(const struct script_line *thread)
{
    return (uint32_t)(thread - script_line(0));
}

void stop_begin(void)
{
    uint32_t any = SCRIPT_ANY_PROCESS;
    atomic_compare_exchange_strong(&script->debugged, &any, (uint32_t)getpid());
}

uint32_t stop_process(uint32_t line) { return atomic_load(&stop_of(line)->process); }

uint32_t stop_id(uint32_t line) { return atomic_load(&stop_of(line)->id); }

void stop_meet(struct script_line *me)
{
    struct script_stop *stop = stop_of(number_of(me));
    int saved = errno;
    atomic_store(&stop->process, (uint32_t)getpid());
    atomic_store(&stop->id, (uint32_t)syscall(SYS_gettid));
    errno = saved;
}

/* done: what is to be done is enough, wherever threads are. */
static bool is_there(uint32_t line, bool done)
{
    const struct script_stop *stop = stop_of(line);
    const struct script_line *thread = script_line(line);
    uint32_t awaited = atomic_load(&stop->awaited);
    uint64_t before = atomic_load(&stop->before);
    if (!awaited || !before)
        return true;
    if (awaited == SCRIPT_HELD && !done && before <= thread->count)
        return atomic_load(&stop->at) >= before;
    return atomic_load(&thread->at) + 1 >= before || atomic_load(&stop->at) >= before;
}

static bool are_there(bool done)
{
    for (uint32_t i = 1; i <= script->line_count; i++)
        if (!is_there(i, done))
            return false;
    return true;
}

void stop_tell(void)
{
    if (atomic_load(&script->debugged) == (uint32_t)getpid() && atomic_exchange(&script->stop, 0))
        poet_stop_reached();
}

void stop_done(void)
{
    if (atomic_load(&script->stop) == SCRIPT_STOP_THERE && are_there(false))
        stop_tell();
}

/* 1 + the event that it is held before; 0: it is not held.  Within a record who is to have done something of it goes on: that is done
 * when all of the record is. */
static uint64_t held_before(const struct script_stop *stop, uint64_t first, uint64_t last,
                            bool amid)
{
    uint64_t before = atomic_load(&stop->before);
    bool within = amid && atomic_load(&stop->awaited) == SCRIPT_DONE;
    bool held = before && before <= last + 1 && !within && stop_debugged() && script_plays();
    return !held ? 0 : before > first ? before : first + 1;
}

void stop_come(struct script_line *me, uint64_t first, uint64_t last, bool amid)
{
    struct script_stop *stop = stop_of(number_of(me));
    int saved = errno;
    uint64_t before;
    for (unsigned looks = 0; (before = held_before(stop, first, last, amid)) != 0; looks++) {
        atomic_store(&stop->at, before);
        stop_done();
        if (looks >= LOOKS_ENOUGH && atomic_load(&script->stop) == SCRIPT_STOP_THERE &&
            are_there(true))
            stop_tell();
        if (!atomic_load(&script->stop))
            looks = 0;
        syscall(SYS_nanosleep, &(struct timespec){0, LOOK_NS}, NULL);
    }
    atomic_store(&stop->at, 0);
    errno = saved;
}
