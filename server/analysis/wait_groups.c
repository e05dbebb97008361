#define _GNU_SOURCE
#include "server/analysis/wait_groups.h"

#include "server/analysis/path_difference.h"

#include <stdlib.h>

#define PATTERN 95 /* share of the causes, per cent, that identifies a pattern */

struct wait_group_charge {
    uint32_t pair;
    bool direct;
    uint8_t kind; /* an enum cause_kind; CAUSE_KINDS: none */
    int64_t ns;
};

/* One wait that is scanned: its part that counts, and the group to which it is added. */
struct group_scan {
    struct wait_groups *groups;
    const struct intervals *all;
    const struct wait_record *wait;
    size_t index;
    int64_t from_ns, to_ns; /* the part of the wait in the range */
    int64_t unexplained_ns;
    uint32_t released_by; /* call site of the last release */
    bool guessed;
};

static int64_t wait_groups_clip_to_range(const struct group_scan *look, int64_t from_ns,
                                         int64_t to_ns)
{
    int64_t from = from_ns > look->from_ns ? from_ns : look->from_ns,
            to = to_ns < look->to_ns ? to_ns : look->to_ns;
    return to > from ? to - from : 0;
}

static void wait_groups_add_pending(struct wait_groups *g, uint32_t pair, bool direct,
                                    enum cause_kind kind, int64_t ns)
{
    g->pending =
        array_reserve(g->pending, &g->pending_room, g->pending_count + 1, sizeof *g->pending);
    g->pending[g->pending_count++] = (struct wait_group_charge){pair, direct, (uint8_t)kind, ns};
}

/* Returns the thread's interval that ends with an event at a time; NULL if it is not known. */
static const struct interval *wait_groups_interval_before(struct wait_groups *g, uint32_t line,
                                                          int64_t at_ns)
{
    const struct thread_timeline *course = intervals_for_thread(g->why->paths.all, line);
    if (!course)
        return NULL;
    uint32_t index = (uint32_t)(course - g->why->paths.all->threads);
    size_t i = path_difference_near(&g->why->paths, index, at_ns - 1);
    return i < course->count && course->items[i].to_ns == at_ns ? &course->items[i] : NULL;
}

static uint32_t place_of(struct wait_groups *g, const struct wait_interval *segment)
{
    const struct interval *did = wait_groups_interval_before(g, segment->thread, segment->to_ns);
    bool known = did && did->is == INTERVAL_RUNS && did->step;
    struct code_segment_key step = known ? code_segments_at(&g->why->paths.all->steps, did->step)
                                         : (struct code_segment_key){0};
    return step.is == STEP_CALLS ? did->of : step.to;
}

static void wait_groups_scan_segment(struct group_scan *look, uint32_t i)
{
    struct wait_groups *g = look->groups;
    const struct wait_interval *segment = &look->all->segments[i];
    int64_t ns = wait_groups_clip_to_range(look, wait_interval_begin(look->all, i), segment->to_ns);
    look->guessed |= segment->guess != GUESS_NONE;
    if (!ns)
        return;
    attribution_compute(&g->charges, g->why, i, g->grouping.which, ns);
    for (size_t k = 0; k < g->charges.count; k++) {
        const struct attributed_time *c = &g->charges.items[k];
        bool unknown = wait_attribution_pair(g->why, c->pair).step == STEP_NOT_THERE;
        look->unexplained_ns += unknown ? c->ns : 0;
        wait_groups_add_pending(g, c->pair, c->direct, unknown ? CAUSE_KINDS : c->kind, c->ns);
    }
}

/* Adds the time after the last release, or the whole wait if there was no release. */
static void wait_groups_scan_unattributed(struct group_scan *look)
{
    struct wait_groups *g = look->groups;
    const struct wait_record *wait = look->wait;
    int64_t from =
        wait->count ? look->all->segments[wait->segment + wait->count - 1].to_ns : wait->from_ns;
    int64_t ns = wait_groups_clip_to_range(look, from, wait->to_ns);
    if (!ns)
        return;
    const struct interval *did = wait_groups_interval_before(g, wait->thread, wait->to_ns);
    uint32_t step = did && did->is != INTERVAL_SEGMENT ? did->step : STEP_NOT_THERE;
    bool latency = did && did->is == INTERVAL_LATENCY;
    if (wait->unexplained)
        look->unexplained_ns += ns;
    wait_groups_add_pending(g, path_difference_pair(&g->why->paths, wait->thread, step), true,
                            latency ? CAUSE_CONTENTION : CAUSE_KINDS, ns);
}

/* ---- choice of the group ---- */

static uint64_t wait_groups_mix_hash(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15ull;
    return a ^ a >> 29;
}

struct group_weight {
    uint32_t step;
    int64_t ns;
};

static int wait_groups_by_weight(const void *a, const void *b)
{
    const struct group_weight *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* Returns a hash of the set of code segments that make up PATTERN per cent of the pending
 * causes. */
static uint64_t wait_groups_pattern_hash(struct wait_groups *g)
{
    int64_t all = 0, sum = 0;
    uint64_t set = 0;
    for (size_t i = 0; i < g->pending_count; i++) {
        accumulator_add(&g->steps,
                        wait_attribution_pair(g->why, g->pending[i].pair).step +
                            SEGMENT_IDS_RESERVED,
                        g->pending[i].ns);
        all += g->pending[i].ns;
    }
    struct group_weight *weights = xmalloc((g->steps.count + 1) * sizeof *weights);
    for (size_t i = 0; i < g->steps.count; i++)
        weights[i] = (struct group_weight){g->steps.keys[i], g->steps.ns[g->steps.keys[i]]};
    qsort(weights, g->steps.count, sizeof *weights, wait_groups_by_weight);
    for (size_t i = 0; i < g->steps.count && sum < all / 100 * PATTERN; i++) {
        /* a sum, so that the order does not matter */
        set += wait_groups_mix_hash(weights[i].step, 1);
        sum += weights[i].ns;
    }
    free(weights);
    accumulator_clear(&g->steps);
    return set;
}

static uint32_t kind_of(const struct wait_groups *g, uint32_t line)
{
    return g->grouping.kind && line ? g->grouping.kind(g->grouping.context, line) : 0;
}

static void key_of(struct group_scan *look, uint32_t kind, uint64_t *a, uint64_t *b)
{
    const struct wait_record *w = look->wait;
    *a = (uint64_t)w->place << 32 | w->type;
    *b = kind;
    switch (look->groups->grouping.by) {
    case GROUP_PATTERN:
        *b = wait_groups_mix_hash(wait_groups_mix_hash(kind, look->released_by),
                                  wait_groups_pattern_hash(look->groups));
        break;
    case GROUP_OBJECT:
        *a = w->about, *b = 0;
        break;
    case GROUP_SITE:
        *a = w->place, *b = 0;
        break;
    case GROUP_THREAD:
        *a = w->thread, *b = 0;
        break;
    case GROUP_WAIT:
        *a = look->index, *b = 0;
        break;
    case GROUP_CATEGORY:
        *a = look->groups->grouping.category(look->groups->grouping.context, w), *b = 0;
        break;
    default:
        break;
    }
}

static struct wait_group *group_of(struct group_scan *look)
{
    struct wait_groups *g = look->groups;
    const struct wait_record *w = look->wait;
    uint32_t kind = kind_of(g, w->about);
    uint64_t a, b;
    key_of(look, kind, &a, &b);
    return MAP_ITEM(&g->of, a, b, g->items, g->count, g->room,
                    (struct wait_group){.place = w->place,
                                        .type = w->type,
                                        .kind = kind,
                                        .about = w->about,
                                        .thread = w->thread,
                                        .class = w->class,
                                        .first = look->index});
}

/* ---- adding ---- */

static struct wait_group_cause *cause_of(struct wait_groups *g, struct wait_group *group,
                                         const struct wait_group_charge *charge)
{
    uint32_t index = (uint32_t)(group - g->items);
    uint64_t what = (uint64_t)charge->pair << 1 | charge->direct;
    uintptr_t known = (uintptr_t)map_get(&g->cause_of, index, what);
    if (known)
        return &g->causes[known - 1];
    g->causes = array_reserve(g->causes, &g->cause_room, g->cause_count + 1, sizeof *g->causes);
    g->causes[g->cause_count] = (struct wait_group_cause){index, charge->pair, charge->direct, 0};
    size_t room = group->cause_room;
    group->causes =
        array_reserve(group->causes, &room, group->cause_count + 1, sizeof *group->causes);
    group->cause_room = (uint32_t)room;
    group->causes[group->cause_count++] = g->cause_count++;
    map_put(&g->cause_of, index, what, (void *)(uintptr_t)g->cause_count);
    return &g->causes[g->cause_count - 1];
}

/* Adds released time to its call site; the site with the largest sum becomes the group's
 * released_by. */
static void add_release(struct group_scan *look, struct wait_group *group, int64_t ns)
{
    struct wait_groups *g = look->groups;
    uint64_t index = (uint64_t)(group - g->items);
    if (!look->released_by)
        return;
    uintptr_t sum = (uintptr_t)map_get(&g->released, index, look->released_by) + (uintptr_t)ns;
    if (sum)
        map_put(&g->released, index, look->released_by, (void *)sum);
    if ((int64_t)sum > group->released_ns) {
        group->released_ns = (int64_t)sum;
        group->released_by = look->released_by;
    }
}

static void wait_groups_add_wait(struct group_scan *look, int64_t ns)
{
    struct wait_groups *g = look->groups;
    struct wait_group *group = group_of(look);
    group->waits++;
    group->guessed += look->guessed;
    group->waited_ns += ns;
    group->unexplained_ns += look->unexplained_ns;
    group->mixed |= group->class != look->wait->class;
    group->several |= group->about != look->wait->about;
    if (ns > group->most_ns) {
        group->most_ns = ns;
        group->first = look->index;
    }
    for (size_t i = 0; i < g->pending_count; i++) {
        const struct wait_group_charge *c = &g->pending[i];
        if (c->kind < CAUSE_KINDS)
            group->kinds[c->kind] += c->ns;
        if (!g->grouping.direct || c->direct)
            cause_of(g, group, c)->ns += c->ns;
    }
    add_release(look, group, ns);
}

static int64_t wait_groups_end_of_thread(const struct wait_groups *g, uint32_t thread)
{
    const struct wait_grouping *of = &g->grouping;
    return !of->until_ns ? INT64_MAX : thread < of->until_count ? of->until_ns[thread] : INT64_MIN;
}

static void wait_groups_scan_wait(struct wait_groups *g, size_t index)
{
    const struct intervals *all = g->why->paths.all;
    const struct wait_record *wait = &all->waits[index];
    const struct thread_timeline *course = intervals_for_thread(all, wait->thread);
    uint32_t thread = (uint32_t)(course - all->threads);
    struct group_scan look = {.groups = g,
                              .all = all,
                              .wait = wait,
                              .index = index,
                              .from_ns = g->grouping.from_ns,
                              .to_ns = wait_groups_end_of_thread(g, thread)};
    int64_t ns = wait_groups_clip_to_range(&look, wait->from_ns, wait->to_ns);
    if (!ns || (g->grouping.object && g->grouping.object != wait->about))
        return;
    g->pending_count = 0;
    for (uint32_t i = 0; i < wait->count; i++)
        wait_groups_scan_segment(&look, wait->segment + i);
    wait_groups_scan_unattributed(&look);
    if (wait->count)
        look.released_by = place_of(g, &all->segments[wait->segment + wait->count - 1]);
    wait_groups_add_wait(&look, ns);
}

bool wait_groups_step(struct wait_groups *groups, uint64_t budget)
{
    for (; budget && groups->done < groups->why->done; budget--)
        wait_groups_scan_wait(groups, groups->done++);
    return groups->done == groups->why->done;
}

static int wait_groups_by_time(const void *a, const void *b, void *context)
{
    const struct wait_groups *g = context;
    const struct wait_group_cause *x = &g->causes[*(const uint32_t *)a],
                                  *y = &g->causes[*(const uint32_t *)b];
    struct segment_id p = wait_attribution_pair(g->why, x->pair),
                      q = wait_attribution_pair(g->why, y->pair);
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (p.step != q.step)
        return p.step < q.step ? -1 : 1;
    if (p.thread != q.thread)
        return p.thread < q.thread ? -1 : 1;
    return y->direct - x->direct;
}

void wait_groups_arrange(struct wait_groups *groups, struct wait_group *group)
{
    if (group->cause_count)
        qsort_r(group->causes, group->cause_count, sizeof *group->causes, wait_groups_by_time,
                groups);
}

void wait_groups_free(struct wait_groups *groups)
{
    struct attribution charges = groups->charges;
    for (uint32_t i = 0; i < groups->count; i++)
        free(groups->items[i].causes);
    free(groups->items);
    free(groups->causes);
    free(groups->pending);
    map_free(&groups->of);
    map_free(&groups->cause_of);
    map_free(&groups->released);
    attribution_free(&groups->charges);
    accumulator_free(&groups->steps);
    *groups = (struct wait_groups){.grouping = groups->grouping,
                                   .why = groups->why,
                                   .charges = {.communication = charges.communication,
                                               .category = charges.category,
                                               .context = charges.context}};
}
