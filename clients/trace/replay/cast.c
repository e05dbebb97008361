#define _GNU_SOURCE
#include "clients/trace/replay/cast.h"

#include "clients/trace/core/environ.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/reading.h"
#include "clients/trace/replay/steer.h"
#include "clients/trace/replay/stop.h"
#include "clients/trace/replay/turn.h"

#include <string.h>
#include <unistd.h>

bool replays, replays_far, replays_near;

/* ---- types ---- */

_Atomic uint16_t cast_types[LIMIT_TYPES];
uint8_t cast_ours[LIMIT_TYPES];

static const char *script_name(uint16_t type)
{
    return (const char *)script + script->types_at + type * SCRIPT_NAME_BYTES;
}

static uint16_t find_type(const char *name)
{
    for (uint32_t i = 0; name && i < script->type_count; i++)
        if (strncmp(script_name((uint16_t)i), name, SCRIPT_NAME_BYTES - 1) == 0)
            return (uint16_t)i;
    return SCRIPT_NO_TYPE;
}

uint16_t cast_find(uint16_t type)
{
    uint16_t found = find_type(codes_name(type)),
             of = found == SCRIPT_NO_TYPE ? SCRIPT_NO_TYPE : (uint16_t)(found + 1);
    atomic_store_explicit(&cast_types[type], of, memory_order_relaxed);
    return of;
}

/* ---- lines ---- */

uint64_t cast_process;

static void count_process(void) { cast_process = atomic_fetch_add(&script->processes, 1) + 1; }

static uint64_t here(uint32_t code) { return cast_process << 32 | code; }

/* One that is none of the script yet. */
bool cast_binds(struct line *line, uint32_t as)
{
    uint64_t me = here(atomic_load_explicit(&line->index, memory_order_relaxed)), nobody = 0;
    struct script_line *of = script_line(as);
    bool ours = atomic_compare_exchange_strong(&of->bound, &nobody, me) || nobody == me;
    if (!ours && !atomic_load(&line->far)) /* of several processes: another one was there first */
        return false;
    atomic_store_explicit(&line->script, as, memory_order_relaxed);
    return true;
}

/* ---- the part of a thread ---- */

/* One that was not created by a recorded call is known by its name; of several the one that began first. */
static uint32_t find_stranger(const struct thread *t, uint16_t named)
{
    const uint32_t *order = (const void *)((const char *)script + script->order_at);
    for (uint64_t i = 0; i < script->event_count; i++) {
        const struct script_line *line = script_line(order[i]);
        if (line->named == named && !atomic_load(&line->bound) && cast_takes(t->own, order[i]))
            return order[i];
    }
    return 0;
}

/* Of the thread that forks: the thread that the child is.  Of a program that was executed, in a child or in this process:
 * found by the message that it comes from. */
static __thread uint32_t born __attribute__((tls_model("initial-exec")));
static uint32_t came_from; /* 0: nobody knows */

void replay_born(uint64_t message) { came_from = (uint32_t)message; }

static uint32_t find_claimed(void)
{
    for (uint32_t i = 1; came_from && i <= script->line_count; i++)
        if (atomic_load_explicit(&script_line(i)->claimed, memory_order_relaxed) == came_from)
            return i;
    return 0;
}

static bool begins_with(struct line *own, uint32_t as) { return as && cast_takes(own, as); }

/* Is about to make a process, or another program of this one. */
void cast_bear(const struct script_event *e, uint64_t message)
{
    if (cast_type(e) == TYPE_FORK)
        born = e->about;
    if (e->about)
        atomic_store(&script_line(e->about)->claimed, (uint32_t)message);
}

void cast_seek(struct thread *t)
{
    struct part *p = &t->part;
    uint16_t named = t->task ? t->task->named : t->named;
    p->sought = true;
    uint32_t as = atomic_load(&t->own->script);
    if (!as && born) /* a child: its lines are others than those of its parent */
        count_process();
    if (!as && begins_with(t->own, born))
        as = born;
    else if (!as && begins_with(t->own, find_claimed()))
        as = find_claimed();
    else if (!as && begins_with(t->own, script->main))
        as = script->main;
    else if (!as && named)
        as = find_stranger(t, named);
    struct script_line *line = script_line(as);
    if (!as || !line->count)
        return;
    p->line = line;
    p->events = script_events(line);
    p->count = line->count;
    p->next = p->met = 0;
    stop_meet(line);
}

void part_named(struct thread *t, uint16_t named)
{
    struct part *p = &t->part;
    uint32_t as = p->sought && !p->line && script_plays() ? find_stranger(t, named) : 0;
    if (!as || script_line(as)->count < p->before)
        return;
    p->line = script_line(as);
    p->events = script_events(p->line);
    p->count = p->line->count;
    p->next = p->before;
    atomic_fetch_sub(&script->more, p->records); /* which it has, then */
    stop_meet(p->line);
    atomic_store(&p->line->at, p->next);
    turn_come(as, (uint32_t)atomic_load(&t->own->number), false);
}

/* 0: it is none of the script, as far as is known. */
uint32_t cast_line(uint32_t code)
{
    for (uint32_t i = 1; code && i <= script->line_count; i++)
        if (cast_code(i) == code)
            return i;
    return 0;
}

void cast_differ(const struct part *p, uint16_t type, uint32_t line)
{
    struct script_end end = {.why = SCRIPT_OTHER,
                             .thread = (uint32_t)(p->line - script_line(0)),
                             .event = p->next,
                             .line = line};
    const char *name = codes_name(type);
    strncpy(end.did, name ? name : "", sizeof end.did - 1);
    script_leave(&end);
}

/* ---- the beginning ---- */

void replay_begin(void)
{
    const char *path = environment_get("POET_REPLAY"), *wrong;
    replays = steer_begin();
    if (!path || !*path)
        return;
    script = reading_open(path, &wrong);
    if (!script) {
        say_once("POET_REPLAY: %s: %s: the program runs freely", path, wrong);
        return;
    }
    count_process();
    stop_begin();
    for (unsigned i = 1; i < TYPE_COUNT; i++) {
        uint16_t type = find_type(codes_name((uint16_t)i));
        if (type < LIMIT_TYPES)
            cast_ours[type] = (uint8_t)i;
    }
    atomic_store(&cast_types[TYPE_NONE], SCRIPT_NO_TYPE);
    replays_far = script->far;
    replays_near = !replays_far;
    replays = true;
}
