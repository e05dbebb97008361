#include "server/causes/sound.h"

#include "memory/memory.h"

#include <stdlib.h>

const char *sound_word(unsigned rule)
{
    static const char *const words[SOUND_RULES] = {
        [SOUND_COURSE] = "an interval of the thread ends before it begins",
        [SOUND_LIFE] = "the states of the thread do not fill its life",
        [SOUND_RELEASE] = "the wait's release is not between its begin and its end",
        [SOUND_ORDER] = "the wait's release is not before its end in the order",
        [SOUND_OVERLAP] = "what ran meanwhile does not add up to the wait",
        [SOUND_REASONS] = "the reasons of the wait do not add up to it",
        [SOUND_CHARGES] = "what is charged with the wait does not add up to it",
        [SOUND_PATH] = "the critical path is not as long as what it explains",
        [SOUND_TASK] = "the task begins on one thread of its runtime before it has left another",
        [SOUND_CARRIER] = "a task begins on a thread of its runtime before another has left it"};
    return rule < SOUND_RULES ? words[rule] : "";
}

void sound_begin(struct sound *s, const struct intervals *all, const struct why *why)
{
    *s = (struct sound){.all = all, .why = why, .waits = all->wait_count};
}

void sound_breach(struct sound *s, struct breach breach)
{
    s->broken++;
    if (s->count == SOUND_MOST)
        return;
    s->breaches = grow(s->breaches, &s->room, s->count + 1, sizeof *s->breaches);
    s->breaches[s->count++] = breach;
}

/* ---- courses ---- */

/* False: the budget is over. */
static bool look_at_courses(struct sound *s, uint64_t *budget)
{
    for (; s->thread < s->all->thread_count; s->thread++, s->interval = 0) {
        const struct course_of *c = &s->all->threads[s->thread];
        for (; s->interval < c->count; s->interval++) {
            if (!*budget)
                return false;
            --*budget;
            int64_t from = interval_begin(c, s->interval), to = c->items[s->interval].to_ns;
            if (to < from)
                sound_breach(s, (struct breach){SOUND_COURSE, c->thread,
                                                c->items[s->interval].position, to, from});
        }
    }
    return true;
}

/* ---- waits ---- */

static void broken_wait(struct sound *s, const struct wait *w, enum sound_rule rule, int64_t is,
                        int64_t should)
{
    sound_breach(s, (struct breach){(uint8_t)rule, w->thread, w->begin, is, should});
}

static int64_t sum_of(struct bag_reader reader, bool *any)
{
    int64_t sum = 0;
    *any = false;
    for (struct share share; bag_next(&reader, &share); *any = true)
        sum += share.ns;
    return sum;
}

static int64_t charged(struct sound *s, uint32_t segment, enum path_is which, int64_t ns)
{
    int64_t sum = 0;
    charges_of(&s->charges, s->why, segment, which, ns);
    for (size_t i = 0; i < s->charges.count; i++)
        sum += s->charges.items[i].ns;
    return sum;
}

static void look_at_sums(struct sound *s, const struct wait *w, uint32_t segment, int64_t ns)
{
    bool any;
    int64_t overlap = sum_of(why_overlap(s->why, segment), &any);
    if (overlap != ns)
        broken_wait(s, w, SOUND_OVERLAP, overlap, ns);
    int64_t reasons = sum_of(why_reasons(s->why, segment), &any);
    if (reasons != ns)
        broken_wait(s, w, SOUND_REASONS, reasons, ns);
    int64_t charges = charged(s, segment, PATH_EXPANDED, ns);
    if (any && charges != ns)
        broken_wait(s, w, SOUND_CHARGES, charges, ns);
}

static void look_at_wait(struct sound *s, size_t index)
{
    const struct wait *w = &s->all->waits[index];
    int64_t from = w->from_ns;
    for (uint32_t i = w->segment; i < w->segment + w->count; i++) {
        const struct segment *at = &s->all->segments[i];
        int64_t ns = at->to_ns - from;
        if (ns < 0 || at->to_ns > w->to_ns)
            broken_wait(s, w, SOUND_RELEASE, at->to_ns, ns < 0 ? from : w->to_ns);
        else if (!at->guess && w->end != UINT64_MAX && at->release != UINT64_MAX &&
                 at->release >= w->end)
            broken_wait(s, w, SOUND_ORDER, at->to_ns, w->to_ns);
        if (ns >= 0 && index < s->why->done)
            look_at_sums(s, w, i, ns);
        from = at->to_ns;
    }
}

static bool look_at_waits(struct sound *s, uint64_t *budget)
{
    for (; s->wait < s->waits; s->wait++) {
        uint64_t cost = 8 * (1 + (uint64_t)s->all->waits[s->wait].count);
        if (!*budget)
            return false;
        *budget -= cost < *budget ? cost : *budget;
        look_at_wait(s, s->wait);
    }
    return true;
}

/* ---- the path ---- */

static int64_t last_end(const struct intervals *all)
{
    int64_t end = INTERVALS_NEVER;
    for (uint32_t i = 0; i < all->thread_count; i++)
        if (all->threads[i].end_ns > end)
            end = all->threads[i].end_ns;
    return end;
}

static void look_at_path(struct sound *s)
{
    const struct path *path = &s->path;
    int64_t sum = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct path_piece *p = &path->pieces[i];
        int64_t before = i ? path->pieces[i - 1].to_ns : p->from_ns;
        if (p->from_ns != before || p->to_ns < p->from_ns)
            sound_breach(s,
                         (struct breach){SOUND_PATH, p->thread, p->position, p->from_ns, before});
        sum += p->to_ns - p->from_ns;
    }
    if (path->count && sum != path_length(path))
        sound_breach(s, (struct breach){SOUND_PATH, path->pieces[0].thread, UINT64_MAX, sum,
                                        path_length(path)});
    int64_t end = last_end(s->all);
    if (path->count && end != INTERVALS_NEVER && path->pieces[path->count - 1].to_ns < end)
        sound_breach(s, (struct breach){SOUND_PATH, path->pieces[path->count - 1].thread,
                                        UINT64_MAX, path->pieces[path->count - 1].to_ns, end});
}

bool sound_step(struct sound *s, uint64_t budget)
{
    if (!look_at_courses(s, &budget) || !look_at_waits(s, &budget))
        return false;
    if (!s->begun)
        path_begin(&s->path, s->all, 0, INT64_MAX);
    s->begun = true;
    if (!path_step(&s->path, budget + 1))
        return false;
    look_at_path(s);
    return true;
}

void sound_free(struct sound *s)
{
    free(s->breaches);
    path_free(&s->path);
    charges_free(&s->charges);
    *s = (struct sound){0};
}
