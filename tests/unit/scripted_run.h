/* A run that is played by hand: lines of one of Poet's target descriptions, events at given
 * milliseconds. */
#ifndef TESTS_UNIT_SCRIPTED_RUN_H
#define TESTS_UNIT_SCRIPTED_RUN_H

#include "config/description_path.h"
#include "server/run/run.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define PLAYED_LINES 64u
#define PLAYED_MS 1000000

struct played {
    struct run *run;
    uint64_t numbers[PLAYED_LINES]; /* by line: number of its last event */
    struct event_id last[PLAYED_LINES]; /* by thread: its last event, on any line */
    uint32_t keys; /* number of keys used for groups and messages */
};

__attribute__((unused)) static uint32_t play_line(struct played *p, const char *kind,
                                                  const char *name)
{
    const struct target_line_type *k = run_line_type(p->run, run_kind(p->run, kind));
    assert_non_null(k);
    return run_line(p->run, 1, order_line_count(p->run->order) + 1, kind, k->shared,
                    (struct run_line){.name = (char *)(uintptr_t)name});
}

__attribute__((unused)) static struct played play(const char *description)
{
    struct played p = {.run = run_new("played", 1, NULL)};
    char path[256], *found, *text;
    snprintf(path, sizeof path, "config/%s.conf", description);
    text = target_load(path, &found);
    assert_non_null(text);
    assert_true(run_describe(p.run, description, text));
    const struct target *target = p.run->targets.items[0];
    for (size_t i = 0; i < target->event_count; i++)
        for (size_t k = 0; k < target->events[i].after.count; k++)
            order_after(p.run->order, run_type(p.run, target->events[i].name),
                        run_type(p.run, target->events[i].after.items[k]));
    free(text);
    free(found);
    return p;
}

/* Returns the next event of a line, which follows the thread's last event. */
__attribute__((unused)) static struct arrival
played_next(struct played *p, uint32_t thread, uint32_t line, const char *type, double ms)
{
    struct arrival a = {.at = {line, ++p->numbers[line]},
                        .type = run_type(p->run, type),
                        .thread = thread,
                        .time_ns = (int64_t)(ms * PLAYED_MS)};
    if (p->last[thread].line &&
        (p->last[thread].line != line || order_line_shared(p->run->order, line)))
        a.after[0] = p->last[thread];
    p->last[thread] = a.at;
    p->run->clock.last_ns = a.time_ns > p->run->clock.last_ns ? a.time_ns : p->run->clock.last_ns;
    return a;
}

__attribute__((unused)) static struct event_id play_event(struct played *p, uint32_t thread,
                                                          uint32_t line, const char *type,
                                                          double ms, uint32_t about,
                                                          struct event_id after)
{
    struct arrival a = played_next(p, thread, line, type, ms);
    a.about = about;
    a.after[a.after[0].line != 0] = after;
    order_insert(p->run->order, &a);
    return a.at;
}

/* Plays an event on the thread's own line, about another line. */
#define PLAY(p, thread, type, ms, about)                                                           \
    play_event(p, thread, thread, type, ms, about, (struct event_id){0})
/* Plays an event of the thread on another line. */
#define PLAY_ON(p, thread, line, type, ms)                                                         \
    play_event(p, thread, line, type, ms, 0, (struct event_id){0})

/* Plays a sync pair: an event on the thread's own line and one on another line, at the same
 * time. */
__attribute__((unused)) static void play_pair(struct played *p, uint32_t thread, uint32_t line,
                                              const char *own_type, const char *type, double ms)
{
    struct arrival a = played_next(p, thread, thread, own_type, ms), b;
    struct event_id before = p->last[thread];
    b = played_next(p, thread, line, type, ms);
    b.after[0] = (struct event_id){0};
    p->last[thread] = before;
    a.relation = b.relation = RELATION_SYNC;
    a.partners = &b.at;
    b.partners = &a.at;
    a.partner_count = b.partner_count = 1;
    order_insert_pair(p->run->order, &a, &b);
}

/* Plays the request, the acquisition and the release of a mutex, or of a similar object. */
__attribute__((unused)) static void play_hold(struct played *p, uint32_t thread, uint32_t line,
                                              double asks, double enters, double leaves)
{
    PLAY(p, thread, "acquire", asks, line);
    play_pair(p, thread, line, "lock", "acquired", enters);
    play_pair(p, thread, line, "unlock", "released", leaves);
}

/* Plays one member of group number `group`, which has `size` members. */
__attribute__((unused)) static void play_member(struct played *p, uint32_t thread, const char *type,
                                                double ms, uint32_t group, uint32_t size,
                                                uint32_t about)
{
    struct arrival a = played_next(p, thread, thread, type, ms);
    a.relation = RELATION_GROUP;
    a.keyed = true;
    a.key[0] = 7;
    a.key[1] = group;
    a.group_size = size;
    a.about = about;
    order_insert(p->run->order, &a);
}

/* Plays the send or the receive of message number `key`, and returns the event. */
__attribute__((unused)) static struct event_id play_message(struct played *p, uint32_t thread,
                                                            const char *type, double ms,
                                                            enum relation relation, uint32_t key)
{
    struct arrival a = played_next(p, thread, thread, type, ms);
    a.relation = relation;
    a.keyed = true;
    a.key[0] = 9;
    a.key[1] = key;
    a.group_size = 1;
    order_insert(p->run->order, &a);
    return a.at;
}

#endif
