#define _GNU_SOURCE
#include "clients/schedule/order_predicates.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/text_hash.h"
#include "clients/schedule/fisher_test.h"

#include <stdlib.h>
#include <string.h>

#define PAIRED_OPERATIONS_MOST 2000u /* operations of which all pairs are compared */
#define OPERATION_BITS 20u
#define OPERATIONS_MOST (1u << OPERATION_BITS)
#define PATTERNS_MOST 2000000u
#define BETWEEN_MOST 32u /* operations of others between two of one thread */
#define NEVER UINT32_MAX

/* What a run has of an operation. */
struct operation_use {
    uint32_t first, count; /* position of the first time; NEVER */
    struct event_id at; /* the first time */
};

struct operation_state {
    struct predicate_operation text;
    uint32_t group; /* of thread name and object; equal for operations that differ in the rest */
    /* in the run that is being added */
    uint32_t last, last_thread; /* position of the last time, and its thread */
    struct event_id last_at;
    uint32_t newer, older; /* the list by last time, 1 + operation; 0: none */
    bool listed;
};

/* An adjacent or between pattern, with the runs in which it occurs. */
struct order_pattern {
    uint64_t key; /* first, middle and last operation */
    enum predicate_kind kind;
    uint64_t *runs; /* bits */
    uint32_t run; /* the first failed run that has it; NEVER */
    struct event_id events[3];
    uint32_t position;
};

/* The last operation of a thread, or on an object. */
struct last_operation {
    uint32_t operation, thread, object, position;
    struct event_id at;
};

struct order_predicates {
    uint32_t runs_most, run_count, failed_count;
    bool *failed; /* by run */
    struct map operations_by_text, groups;
    struct operation_state *operations;
    size_t operation_count, operation_room;
    uint32_t group_count;
    struct operation_use **uses; /* by run, then operation */
    size_t *use_counts;
    struct map patterns_by_key;
    struct order_pattern *patterns;
    size_t pattern_count, pattern_room;
    /* the run that is being added */
    struct map threads, objects; /* index of `lasts` + 1, by line */
    struct last_operation *lasts;
    size_t last_count, last_room;
    uint32_t newest; /* of the list of operations by last time, 1 + operation */
    uint32_t position;
    bool partial;
};

struct order_predicates *order_predicates_new(uint32_t runs)
{
    struct order_predicates *p = xcalloc(1, sizeof *p);
    p->runs_most = runs < PREDICATE_RUNS_MOST ? runs : PREDICATE_RUNS_MOST;
    p->failed = xcalloc(p->runs_most, sizeof *p->failed);
    p->uses = xcalloc(p->runs_most, sizeof *p->uses);
    p->use_counts = xcalloc(p->runs_most, sizeof *p->use_counts);
    return p;
}

void order_predicates_free(struct order_predicates *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->operation_count; i++) {
        const struct predicate_operation *o = &p->operations[i].text;
        const char *texts[] = {o->thread, o->type, o->object, o->place};
        for (unsigned k = 0; k < 4; k++)
            free((char *)(uintptr_t)texts[k]);
    }
    for (size_t i = 0; i < p->pattern_count; i++)
        free(p->patterns[i].runs);
    for (uint32_t i = 0; i < p->run_count; i++)
        free(p->uses[i]);
    map_free(&p->operations_by_text);
    map_free(&p->groups);
    map_free(&p->patterns_by_key);
    map_free(&p->threads);
    map_free(&p->objects);
    free(p->operations);
    free(p->patterns);
    free(p->lasts);
    free(p->uses);
    free(p->use_counts);
    free(p->failed);
    free(p);
}

bool order_predicates_are_partial(const struct order_predicates *p)
{
    return p->partial || p->operation_count > PAIRED_OPERATIONS_MOST;
}

/* ---- a run ---- */

void order_predicates_begin_run(struct order_predicates *p, bool failed)
{
    if (p->run_count == p->runs_most) {
        p->partial = true;
        return;
    }
    p->failed[p->run_count++] = failed;
    p->failed_count += failed;
    map_free(&p->threads);
    map_free(&p->objects);
    p->threads = p->objects = (struct map){0};
    p->last_count = 0;
    p->newest = 0;
    p->position = 0;
    for (size_t i = 0; i < p->operation_count; i++)
        p->operations[i].listed = false;
}

static uint64_t predicate_hash(const char *const *texts, unsigned count)
{
    uint64_t hash = TEXT_HASH_EMPTY;
    for (unsigned i = 0; i < count; i++)
        hash = text_hash_add(hash, texts[i], strlen(texts[i]) + 1);
    return hash;
}

uint32_t order_predicates_operation(struct order_predicates *p, const struct predicate_operation *o)
{
    const char *const texts[] = {o->thread, o->object, o->type, o->place};
    uint64_t hash = predicate_hash(texts, 4), half = predicate_hash(texts + 1, 3);
    uint64_t both = predicate_hash(texts, 2);
    uintptr_t found = (uintptr_t)map_get(&p->operations_by_text, hash, half);
    if (found)
        return (uint32_t)(found - 1);
    uintptr_t group = (uintptr_t)map_get(&p->groups, both, 0);
    if (!group) {
        group = ++p->group_count;
        map_put(&p->groups, both, 0, (void *)group);
    }
    p->operations = array_reserve(p->operations, &p->operation_room, p->operation_count + 1,
                                  sizeof *p->operations);
    p->operations[p->operation_count++] =
        (struct operation_state){.text = {.thread = xstrdup(o->thread),
                                          .type = xstrdup(o->type),
                                          .object = xstrdup(o->object),
                                          .place = xstrdup(o->place),
                                          .guards = o->guards,
                                          .request = o->request},
                                 .group = (uint32_t)group};
    map_put(&p->operations_by_text, hash, half, (void *)(uintptr_t)p->operation_count);
    return (uint32_t)p->operation_count - 1;
}

const struct predicate_operation *order_predicates_described(const struct order_predicates *p,
                                                             uint32_t operation)
{
    return &p->operations[operation].text;
}

static struct operation_use *predicate_use(struct order_predicates *p, uint32_t operation)
{
    uint32_t run = p->run_count - 1;
    size_t count = p->use_counts[run];
    if (operation >= count) {
        size_t more = operation + 1 + count;
        p->uses[run] = xreallocarray(p->uses[run], more, sizeof **p->uses);
        for (size_t i = count; i < more; i++)
            p->uses[run][i] = (struct operation_use){.first = NEVER};
        p->use_counts[run] = more;
    }
    return &p->uses[run][operation];
}

static void predicate_pattern(struct order_predicates *p, enum predicate_kind kind,
                              const uint32_t *operations, const struct event_id *events,
                              uint32_t position)
{
    uint64_t key = 0;
    uint32_t run = p->run_count - 1;
    for (unsigned i = 0; i < 3; i++)
        key = key << OPERATION_BITS | operations[i];
    uintptr_t found = (uintptr_t)map_get(&p->patterns_by_key, key, kind);
    if (!found) {
        if (p->pattern_count == PATTERNS_MOST) {
            p->partial = true;
            return;
        }
        p->patterns =
            array_reserve(p->patterns, &p->pattern_room, p->pattern_count + 1, sizeof *p->patterns);
        p->patterns[p->pattern_count++] =
            (struct order_pattern){.key = key,
                                   .kind = kind,
                                   .runs = xcalloc((p->runs_most + 63) / 64, sizeof(uint64_t)),
                                   .run = NEVER};
        found = p->pattern_count;
        map_put(&p->patterns_by_key, key, kind, (void *)found);
    }
    struct order_pattern *pattern = &p->patterns[found - 1];
    pattern->runs[run / 64] |= UINT64_C(1) << run % 64;
    if (p->failed[run] && pattern->run == NEVER) {
        pattern->run = run;
        pattern->position = position;
        memcpy(pattern->events, events, sizeof pattern->events);
    }
}

/* Patterns of what others did since the thread's last operation. */
static void predicate_between(struct order_predicates *p, const struct last_operation *before,
                              const struct last_operation *now)
{
    uint32_t most = BETWEEN_MOST;
    for (uint32_t i = p->newest; i && most; most--) {
        const struct operation_state *o = &p->operations[i - 1];
        if (o->last < before->position)
            return;
        if (o->last_thread != now->thread) {
            const uint32_t operations[] = {before->operation, i - 1, now->operation};
            const struct event_id events[] = {before->at, o->last_at, now->at};
            predicate_pattern(p, PREDICATE_BETWEEN, operations, events, o->last);
        }
        i = o->older;
    }
    p->partial |= !most;
}

static void predicate_adjacent(struct order_predicates *p, const struct last_operation *before,
                               const struct last_operation *now)
{
    const uint32_t operations[] = {before->operation, 0, now->operation};
    const struct event_id events[] = {before->at, {0, 0}, now->at};
    predicate_pattern(p, PREDICATE_ADJACENT, operations, events, now->position);
}

/* Moves an operation to the newest end of the list. */
static void predicate_renew(struct order_predicates *p, uint32_t operation)
{
    struct operation_state *o = &p->operations[operation];
    if (p->newest == operation + 1)
        return;
    if (o->listed) {
        if (o->newer)
            p->operations[o->newer - 1].older = o->older;
        if (o->older)
            p->operations[o->older - 1].newer = o->newer;
    }
    o->listed = true;
    o->newer = 0;
    o->older = p->newest;
    if (p->newest)
        p->operations[p->newest - 1].newer = operation + 1;
    p->newest = operation + 1;
}

static struct last_operation *predicate_last(struct order_predicates *p, struct map *by,
                                             uint32_t line)
{
    return MAP_ITEM(by, line, 0, p->lasts, p->last_count, p->last_room,
                    (struct last_operation){.position = NEVER});
}

void order_predicates_add(struct order_predicates *p, uint32_t operation, uint32_t thread,
                          uint32_t object, struct event_id at)
{
    if (!p->run_count || operation >= OPERATIONS_MOST) {
        p->partial = true;
        return;
    }
    const struct last_operation now = {operation, thread, object, p->position++, at};
    struct operation_use *use = predicate_use(p, operation);
    if (use->first == NEVER) {
        use->first = now.position;
        use->at = at;
    }
    use->count++;
    struct last_operation *before = predicate_last(p, &p->threads, thread);
    if (before->position != NEVER)
        predicate_between(p, before, &now);
    *before = now;
    if (object) {
        before = predicate_last(p, &p->objects, object);
        if (before->position != NEVER)
            predicate_adjacent(p, before, &now);
        *before = now;
    }
    predicate_renew(p, operation);
    struct operation_state *o = &p->operations[operation];
    o->last = now.position;
    o->last_thread = thread;
    o->last_at = at;
}

/* ---- ranking ---- */

struct ranked_predicate {
    struct order_predicate item; /* first, for ranked_predicate_compare() */
    uint64_t runs; /* hash of the runs in which it is true */
    unsigned class; /* what is likelier a cause comes first */
};

struct predicate_ranking {
    const struct order_predicates *of;
    double *chances; /* by numbers of failed and of passed runs; 0: not computed yet */
    struct ranked_predicate *items;
    size_t count, room;
    struct map tested; /* hashes of the runs in which predicates are true */
};

/* Orders of what happened to one object first, then those of operations that were all performed. */
static unsigned predicate_class(const struct order_predicates *p, const struct order_predicate *a)
{
    if (a->kind >= PREDICATE_MISSING)
        return a->kind == PREDICATE_MISSING ? 3 : 4;
    return a->same_object ? p->operations[a->last].text.guards : 2;
}

/* Returns whether the operations of two threads were performed on one object. */
static bool predicate_is_of_one_object(const struct order_predicates *p,
                                       const struct order_predicate *item)
{
    const struct predicate_operation *one = &p->operations[item->first].text,
                                     *other = &p->operations[item->last].text;
    if (item->kind == PREDICATE_BETWEEN)
        one = &p->operations[item->middle].text;
    return item->kind < PREDICATE_AT_LEAST && *one->object && !one->request && !other->request &&
           strcmp(one->object, other->object) == 0;
}

/* Adds a predicate if it is true in a greater share of the failed runs. hash: of its runs. */
static void ranking_add(struct predicate_ranking *r, struct order_predicate item, uint64_t hash)
{
    uint32_t failed = r->of->failed_count, passed = r->of->run_count - failed;
    map_put(&r->tested, hash, 0, r);
    if (!item.failed || (uint64_t)item.failed * passed <= (uint64_t)item.passed * failed)
        return;
    double *chance = &r->chances[(size_t)item.failed * (passed + 1) + item.passed];
    if (*chance == 0)
        *chance = fisher_test_probability(item.failed, failed, item.passed, passed);
    item.chance = *chance;
    item.same_object = predicate_is_of_one_object(r->of, &item);
    r->items = array_reserve(r->items, &r->room, r->count + 1, sizeof *r->items);
    r->items[r->count++] = (struct ranked_predicate){item, hash, predicate_class(r->of, &item)};
}

static struct operation_use predicate_used(const struct order_predicates *p, uint32_t run,
                                           uint32_t operation)
{
    return operation < p->use_counts[run] ? p->uses[run][operation]
                                          : (struct operation_use){.first = NEVER};
}

static uint64_t predicate_add_run(uint64_t hash, uint32_t run)
{
    return text_hash_add(hash, (const char *)&run, sizeof run);
}

static void ranking_patterns(struct predicate_ranking *r)
{
    const struct order_predicates *p = r->of;
    const uint64_t mask = OPERATIONS_MOST - 1;
    for (size_t i = 0; i < p->pattern_count; i++) {
        const struct order_pattern *pattern = &p->patterns[i];
        struct order_predicate item = {.kind = pattern->kind,
                                       .first = (uint32_t)(pattern->key >> 2 * OPERATION_BITS),
                                       .middle = (uint32_t)(pattern->key >> OPERATION_BITS & mask),
                                       .last = (uint32_t)(pattern->key & mask),
                                       .run = pattern->run,
                                       .position = pattern->position};
        memcpy(item.events, pattern->events, sizeof item.events);
        uint64_t hash = TEXT_HASH_EMPTY;
        for (uint32_t run = 0; run < p->run_count; run++)
            if (pattern->runs[run / 64] >> run % 64 & 1) {
                *(p->failed[run] ? &item.failed : &item.passed) += 1;
                hash = predicate_add_run(hash, run);
            }
        ranking_add(r, item, hash);
    }
}

static void ranking_pair(struct predicate_ranking *r, uint32_t first, uint32_t last)
{
    const struct order_predicates *p = r->of;
    struct order_predicate item = {
        .kind = PREDICATE_BEFORE, .first = first, .last = last, .run = NEVER};
    uint64_t hash = TEXT_HASH_EMPTY;
    for (uint32_t run = 0; run < p->run_count; run++) {
        struct operation_use a = predicate_used(p, run, first), b = predicate_used(p, run, last);
        if (a.first >= b.first)
            continue;
        *(p->failed[run] ? &item.failed : &item.passed) += 1;
        hash = predicate_add_run(hash, run);
        if (p->failed[run] && item.run == NEVER) {
            item.run = run;
            item.position = a.first;
            item.events[0] = a.at;
            item.events[2] = b.at;
            item.kind = b.first == NEVER ? PREDICATE_MISSING : PREDICATE_BEFORE;
        }
    }
    ranking_add(r, item, hash);
}

static void ranking_pairs(struct predicate_ranking *r)
{
    const struct order_predicates *p = r->of;
    size_t most =
        p->operation_count < PAIRED_OPERATIONS_MOST ? p->operation_count : PAIRED_OPERATIONS_MOST;
    for (uint32_t first = 0; first < most; first++)
        for (uint32_t last = 0; last < most; last++)
            if (strcmp(p->operations[first].text.thread, p->operations[last].text.thread) != 0)
                ranking_pair(r, first, last);
}

/* Compares how often an operation was performed with each number of times that occurred. */
static void ranking_counts(struct predicate_ranking *r, uint32_t operation)
{
    const struct order_predicates *p = r->of;
    for (uint32_t of = 0; of < p->run_count; of++) {
        uint32_t count = predicate_used(p, of, operation).count, earlier = 0;
        while (earlier < of &&
               !(p->failed[earlier] && predicate_used(p, earlier, operation).count == count))
            earlier++;
        for (unsigned most = 0; most < 2 && p->failed[of] && earlier == of; most++) {
            struct order_predicate item = {.kind = most ? PREDICATE_AT_MOST : PREDICATE_AT_LEAST,
                                           .first = operation,
                                           .count = count,
                                           .run = NEVER,
                                           .position = NEVER};
            uint64_t hash = TEXT_HASH_EMPTY;
            for (uint32_t run = 0; run < p->run_count; run++) {
                struct operation_use use = predicate_used(p, run, operation);
                if (most ? use.count > count : use.count < count)
                    continue;
                *(p->failed[run] ? &item.failed : &item.passed) += 1;
                hash = predicate_add_run(hash, run);
                if (p->failed[run] && item.run == NEVER) {
                    item.run = run;
                    item.events[0] = use.at;
                }
            }
            ranking_add(r, item, hash);
        }
    }
}

static int ranked_predicate_compare(const void *left, const void *right)
{
    const struct ranked_predicate *one = left, *other = right;
    const struct order_predicate *a = &one->item, *b = &other->item;
    if (a->chance != b->chance)
        return a->chance < b->chance ? -1 : 1;
    const uint32_t keys[][2] = {{one->class, other->class}, {a->position, b->position},
                                {a->kind, b->kind},         {a->first, b->first},
                                {a->middle, b->middle},     {a->last, b->last},
                                {a->count, b->count}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Returns the groups of the two operations of different threads, the lesser first; 0: none. */
static uint64_t predicate_groups(const struct order_predicates *p, const struct order_predicate *a)
{
    uint64_t one = p->operations[a->kind == PREDICATE_BETWEEN ? a->middle : a->first].group,
             other = a->kind >= PREDICATE_AT_LEAST ? 0 : p->operations[a->last].group;
    return one < other ? one << 32 | other : other << 32 | one;
}

struct order_predicate *order_predicates_rank(const struct order_predicates *p, uint32_t *count,
                                              uint64_t *tested)
{
    size_t outcomes = (size_t)(p->failed_count + 1) * (p->run_count - p->failed_count + 1);
    struct predicate_ranking r = {.of = p, .chances = xcalloc(outcomes, sizeof(double))};
    struct map seen = {0};
    ranking_patterns(&r);
    ranking_pairs(&r);
    for (uint32_t i = 0; i < p->operation_count; i++)
        ranking_counts(&r, i);
    *tested = r.tested.count;
    *count = 0;
    if (r.count)
        qsort(r.items, r.count, sizeof *r.items, ranked_predicate_compare);
    struct order_predicate *items = xcalloc(r.count, sizeof *items);
    for (size_t i = 0; i < r.count; i++) {
        uint64_t groups = predicate_groups(p, &r.items[i].item);
        if (map_get(&seen, r.items[i].runs, groups))
            continue;
        map_put(&seen, r.items[i].runs, groups, &seen);
        items[(*count)++] = r.items[i].item;
    }
    map_free(&seen);
    map_free(&r.tested);
    free(r.chances);
    free(r.items);
    return items;
}
