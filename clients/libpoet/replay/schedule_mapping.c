#define _GNU_SOURCE
#include "clients/libpoet/replay/schedule_mapping.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/replay/shared_schedule.h"
#include "clients/libpoet/replay/held_points.h"
#include "clients/libpoet/replay/perturbation.h"
#include "clients/libpoet/replay/replay_stops.h"
#include "clients/libpoet/replay/replay_ticket.h"

#include <string.h>

/* ---- types ---- */

static const char *schedule_map_name(uint16_t type)
{
    return (const char *)tracer.replay.schedule + tracer.replay.schedule->types_at +
           type * SCHEDULE_NAME_BYTES;
}

static uint16_t schedule_map_look_up_type(const char *name)
{
    for (uint32_t i = 0; name && i < tracer.replay.schedule->type_count; i++)
        if (strncmp(schedule_map_name((uint16_t)i), name, SCHEDULE_NAME_BYTES - 1) == 0)
            return (uint16_t)i;
    return SCRIPT_NO_TYPE;
}

uint16_t schedule_map_find_type(uint16_t type)
{
    uint16_t found = schedule_map_look_up_type(type_code_name(type)),
             of = found == SCRIPT_NO_TYPE ? SCRIPT_NO_TYPE : (uint16_t)(found + 1);
    atomic_store_explicit(&tracer.replay.types[type], of, memory_order_relaxed);
    return of;
}

/* ---- lines ---- */

static void schedule_map_count_process(void)
{
    tracer.replay.process = atomic_fetch_add(&tracer.replay.schedule->processes, 1) + 1;
}

static uint64_t schedule_map_bound_here(uint32_t code)
{
    return tracer.replay.process << 32 | code;
}

/* Binds a line that is not yet mapped to the schedule. */
bool schedule_map_bind_line(struct trace_line *line, uint32_t as)
{
    uint64_t me = schedule_map_bound_here(atomic_load_explicit(&line->index, memory_order_relaxed)),
             nobody = 0;
    struct schedule_line *of = shared_schedule_line(as);
    bool ours = atomic_compare_exchange_strong(&of->bound, &nobody, me) || nobody == me;
    if (!ours &&
        !atomic_load(&line->remote)) /* of several processes: another one was there first */
        return false;
    atomic_store_explicit(&line->script, as, memory_order_relaxed);
    return true;
}

/* ---- schedules of threads ---- */

/* A thread that was not created by a recorded call is known by its name; of several the one that
 * began first is chosen. */
static uint32_t schedule_map_find_foreign(const struct traced_thread *t, uint16_t named)
{
    const uint32_t *order =
        (const void *)((const char *)tracer.replay.schedule + tracer.replay.schedule->order_at);
    for (uint64_t i = 0; i < tracer.replay.schedule->event_count; i++) {
        const struct schedule_line *line = shared_schedule_line(order[i]);
        if (line->named == named && !atomic_load(&line->bound) &&
            schedule_map_accept_line(t->own, order[i]))
            return order[i];
    }
    return 0;
}

/* For the thread that forks: the thread that becomes the child. For a program that was executed, in
 * a child or in this process: found by the message that it comes from. */
static __thread uint32_t born __attribute__((tls_model("initial-exec")));
static uint32_t came_from; /* 0: not known */

void replay_program_begin(uint64_t message) { came_from = (uint32_t)message; }

static uint32_t schedule_map_find_claimed(void)
{
    for (uint32_t i = 1; came_from && i <= tracer.replay.schedule->line_count; i++)
        if (atomic_load_explicit(&shared_schedule_line(i)->claimed, memory_order_relaxed) ==
            came_from)
            return i;
    return 0;
}

static bool schedule_map_begins_with(struct trace_line *own, uint32_t as)
{
    return as && schedule_map_accept_line(own, as);
}

/* The thread is about to create a process, or to execute another program. */
void schedule_map_new_process(const struct schedule_event *e, uint64_t message)
{
    if (schedule_map_own_type(e) == TYPE_FORK)
        born = e->about;
    if (e->about)
        atomic_store(&shared_schedule_line(e->about)->claimed, (uint32_t)message);
}

void schedule_map_find_thread(struct traced_thread *t)
{
    struct thread_schedule *p = &t->schedule;
    uint16_t named = t->task ? t->task->named : t->name_hash;
    p->sought = true;
    uint32_t as = atomic_load(&t->own->script);
    if (!as && born) /* a child: its lines are different from those of its parent */
        schedule_map_count_process();
    if (!as && schedule_map_begins_with(t->own, born))
        as = born;
    else if (!as && schedule_map_begins_with(t->own, schedule_map_find_claimed()))
        as = schedule_map_find_claimed();
    else if (!as && schedule_map_begins_with(t->own, tracer.replay.schedule->main))
        as = tracer.replay.schedule->main;
    else if (!as && named)
        as = schedule_map_find_foreign(t, named);
    struct schedule_line *line = shared_schedule_line(as);
    if (!as || !line->count)
        return;
    p->line = line;
    p->events = shared_schedule_events(line);
    p->count = line->count;
    p->next = p->met = 0;
    replay_stop_check(line);
}

void schedule_map_thread_named(struct traced_thread *t, const char *name)
{
    uint16_t named = schedule_text_hash(name, strlen(name));
    struct thread_schedule *p = &t->schedule;
    uint32_t as = p->sought && !p->line && shared_schedule_is_active()
                      ? schedule_map_find_foreign(t, named)
                      : 0;
    if (!as || shared_schedule_line(as)->count < p->before)
        return;
    p->line = shared_schedule_line(as);
    p->events = shared_schedule_events(p->line);
    p->count = p->line->count;
    p->next = p->before;
    atomic_fetch_sub(&tracer.replay.schedule->more, p->records); /* which it has, then */
    replay_stop_check(p->line);
    atomic_store(&p->line->at, p->next);
    replay_ticket_set_reached(as, (uint32_t)atomic_load(&t->own->number), false);
}

/* Returns 0 if it is not known to be a line of the schedule. */
uint32_t schedule_map_line(uint32_t code)
{
    for (uint32_t i = 1; code && i <= tracer.replay.schedule->line_count; i++)
        if (schedule_map_code(i) == code)
            return i;
    return 0;
}

void schedule_map_diverge(const struct thread_schedule *p, uint16_t type, uint32_t line)
{
    struct schedule_end end = {.why = SCHEDULE_END_OTHER_EVENT,
                               .thread = (uint32_t)(p->line - shared_schedule_line(0)),
                               .event = p->next,
                               .line = line};
    const char *name = type_code_name(type);
    strncpy(end.did, name ? name : "", sizeof end.did - 1);
    shared_schedule_abandon(&end);
}

/* ---- the beginning ---- */

void replay_begin(void)
{
    const char *path = environment_get("POET_REPLAY"), *wrong;
    bool holds = hold_point_begin(), pauses = perturbation_begin();
    tracer.replay.is_active = holds || pauses;
    if (!path || !*path)
        return;
    tracer.replay.schedule = shared_schedule_open(path, &wrong);
    if (!tracer.replay.schedule) {
        stderr_log_print_once("POET_REPLAY: %s: %s; running without schedule control", path, wrong);
        return;
    }
    schedule_map_count_process();
    replay_stop_begin();
    for (unsigned i = 1; i < TYPE_COUNT; i++) {
        uint16_t type = schedule_map_look_up_type(type_code_name((uint16_t)i));
        if (type < LIMIT_TYPES)
            tracer.replay.own_types[type] = (uint8_t)i;
    }
    atomic_store(&tracer.replay.types[TYPE_NONE], SCRIPT_NO_TYPE);
    tracer.replay.with_remote = tracer.replay.schedule->remote;
    tracer.replay.without_remote = !tracer.replay.with_remote;
    tracer.replay.is_active = true;
}
