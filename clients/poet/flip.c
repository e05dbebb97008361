#include "clients/poet/flip.h"

#include "clients/poet/steering.h"
#include "memory/memory.h"

#include <stdlib.h>

bool flip_read(struct flip *f, const char *a, const char *b)
{
    return b && ref_parse(a, &f->events[0]) && ref_parse(b, &f->events[1]) && f->events[0].line &&
           f->events[1].line && !ref_equal(f->events[0], f->events[1]);
}

static struct flip_seen seen(const struct shown_event *e)
{
    return (struct flip_seen){.at = e->at,
                              .thread = e->thread ? e->thread : e->at.line,
                              .type = e->type,
                              .process = e->process,
                              .site = e->site,
                              .times = 1,
                              .known = true};
}

/* What its thread did right before at the same place is how it began: to ask for it. */
static struct flip_seen begin_of(const struct flip *f, struct flip_seen is)
{
    const struct flip_seen *before = is.thread < f->room ? &f->last[is.thread] : NULL;
    return before && before->known && before->site == is.site ? *before : is;
}

/* How often its thread did the like since. */
static uint32_t times_of(const struct flip *f, const struct flip_seen *is)
{
    uint32_t times = 1;
    for (size_t i = 0; i < f->count; i++)
        times += f->since[i].thread == is->thread && f->since[i].type == is->type &&
                 f->since[i].site == is->site;
    return times;
}

/* It, or the other end of its pair. */
static bool is_of_point(const struct shown_event *e, struct ref at)
{
    bool is = ref_equal(e->at, at);
    for (uint32_t i = 0; i < e->partner_count && e->relation == RELATION_SYNC; i++)
        is |= ref_equal(e->partners[i], at);
    return is;
}

static unsigned named_by(const struct flip *f, const struct shown_event *e)
{
    return is_of_point(e, f->events[0]) ? 1 : is_of_point(e, f->events[1]) ? 2 : 0;
}

void flip_look(struct flip *f, const struct shown_event *e)
{
    struct flip_seen is = seen(e);
    if (!f->events[0].line || f->first.known)
        return;
    f->first_named = named_by(f, e);
    if (f->first_named)
        f->first = begin_of(f, is);
    f->last = grow_zeroed(f->last, &f->room, is.thread + 1u, sizeof *f->last);
    if (f->last[is.thread].site != is.site || !f->last[is.thread].known)
        f->last[is.thread] = is;
}

bool flip_take(struct flip *f, const struct shown_event *e)
{
    struct flip_seen is = seen(e);
    if (!f->first.known)
        return true;
    f->begun |= ref_equal(e->at, f->first.at);
    if (!f->begun || f->other.known)
        return !f->begun;
    unsigned named = named_by(f, e);
    if (named && named != f->first_named) {
        f->other = is;
        f->other.times = times_of(f, &is);
    }
    f->since = grow(f->since, &f->since_room, f->count + 1, sizeof *f->since);
    f->since[f->count++] = is;
    return false;
}

bool flip_steer(const struct flip *f, const struct book *book, struct steer_head *head,
                const char **why)
{
    const struct flip_seen *both[] = {&f->first, &f->other};
    *head = steering_nowhere();
    *why = !f->other.known                      ? "it does not have both of these events"
           : f->first.thread == f->other.thread ? "one thread did both"
                                                : NULL;
    for (uint32_t i = 0; i < 2 && !*why; i++) {
        struct steer_point *p = &head->points[head->point_count++];
        struct table_place place = {both[i]->process, both[i]->site};
        *p = (struct steer_point){.thread = both[i]->thread,
                                  .until = i ? STEER_NOBODY : STEER_DONE,
                                  .others = i ? 0 : 2,
                                  .count = f->other.times,
                                  .most = 1};
        if (!both[i]->site || !steering_point(p, book, place, book_type(book, both[i]->type)))
            *why = "where they are in the code is not known";
    }
    return !*why;
}

void flip_free(struct flip *f)
{
    free(f->last);
    free(f->since);
}
