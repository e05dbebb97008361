#include "server/timing/profile_range.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums as of a time ---- */

/* Returns how many bodies were received up to a time. */
static uint32_t profile_range_recorded_by(const struct earlier_snapshots *e, uint64_t ns)
{
    uint32_t n = 0;
    while (n < e->count && e->items[n].time_ns <= ns)
        n++;
    return n;
}

/* Returns the number of bodies up to the first ones at or after a time; more than the count if
 * only the newest sums are. */
static uint32_t profile_range_recorded_after(const struct earlier_snapshots *e, uint64_t ns)
{
    uint32_t n = 0;
    while (n < e->count && e->items[n].time_ns < ns)
        n++;
    if (n == e->count)
        return e->count + 1;
    for (uint64_t at = e->items[n].time_ns; n < e->count && e->items[n].time_ns == at;)
        n++;
    return n;
}

/* Returns the sums as of the first `count` bodies. */
static struct call_context_thread as_of(const struct call_context_thread *thread, uint32_t count)
{
    struct call_context_thread then = {.session = thread->session, .code = thread->code};
    const char *why;
    for (uint32_t i = 0; i < count && i < thread->earlier.count; i++)
        call_contexts_update(&then, thread->earlier.items[i].data, thread->earlier.items[i].size,
                             &why);
    return then;
}

/* ---- difference ---- */

static uint64_t profile_range_subtract_clamped(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static uint64_t own_of(const struct snapshot_context *s) { return s->own_ns + s->open_own_ns; }

static uint64_t self_of(const struct snapshot_context *s)
{
    return own_of(s) + s->off_ns + s->open_last_ns;
}

/* Subtracts earlier sums.  Whether an open call ran since its last callee returned is known only
 * later, and its time then moves; so the parts of self time are not subtracted singly. */
static void profile_range_subtract_sums(struct snapshot_context *s,
                                        const struct snapshot_context *before)
{
    uint64_t self = profile_range_subtract_clamped(self_of(s), self_of(before)),
             own = profile_range_subtract_clamped(own_of(s), own_of(before));
    s->calls = profile_range_subtract_clamped(s->calls, before->calls);
    s->concurrent = profile_range_subtract_clamped(s->concurrent, before->concurrent);
    s->ended = profile_range_subtract_clamped(s->ended, before->ended);
    s->real_ns = profile_range_subtract_clamped(s->real_ns + s->open_real_ns,
                                                before->real_ns + before->open_real_ns);
    s->own_ns = own < self ? own : self;
    s->off_ns = self - s->own_ns;
    s->open_real_ns = s->open_own_ns = s->open_last_ns = 0;
}

static void subtract_head(struct snapshot_head *head, const struct snapshot_head *before)
{
    head->folded = profile_range_subtract_clamped(head->folded, before->folded);
    head->deep = profile_range_subtract_clamped(head->deep, before->deep);
    head->mismatched = profile_range_subtract_clamped(head->mismatched, before->mismatched);
    head->backwards = profile_range_subtract_clamped(head->backwards, before->backwards);
}

/* Subtracts all earlier sums.  The least and greatest times of a part are not known. */
static void subtract_all(struct call_context_thread *thread,
                         const struct call_context_thread *before)
{
    static const struct snapshot_context none;
    for (size_t i = 0; i < thread->count; i++) {
        struct snapshot_context *s = &thread->items[i].sums;
        profile_range_subtract_sums(s, i < before->count ? &before->items[i].sums : &none);
        s->least_ns = UINT64_MAX;
    }
    subtract_head(&thread->head, &before->head);
}

/* Copies line, process and functions from the newest contexts, as they are known only there. */
static void profile_range_copy_names(struct call_context_thread *then,
                                     const struct call_context_thread *thread)
{
    then->line = thread->line;
    then->process = thread->process;
    for (size_t i = 0; i < then->count && i < thread->count; i++) {
        then->items[i].type = thread->items[i].type;
        then->items[i].known = thread->items[i].known;
        then->items[i].sums.is = thread->items[i].sums.is;
    }
}

static struct call_context_thread
profile_range_copy_newest(const struct call_context_thread *thread)
{
    struct call_context_thread copy = *thread;
    copy.earlier = (struct earlier_snapshots){0};
    copy.room = copy.count;
    copy.items = xmalloc((copy.count + 1) * sizeof *copy.items);
    memcpy(copy.items, thread->items, copy.count * sizeof *copy.items);
    return copy;
}

struct profile_range profile_range_make(const struct call_context_thread *thread, uint64_t from_ns,
                                        uint64_t to_ns)
{
    const struct earlier_snapshots *e = &thread->earlier;
    uint32_t first = from_ns ? profile_range_recorded_by(e, from_ns) : 0,
             last = to_ns < UINT64_MAX ? profile_range_recorded_after(e, to_ns) : e->count + 1;
    struct call_context_thread before = as_of(thread, first);
    struct profile_range part = {.thread = last > e->count ? profile_range_copy_newest(thread)
                                                           : as_of(thread, last),
                                 .from_ns = first ? e->items[first - 1].time_ns : 0};
    part.to_ns = part.thread.head.time_ns;
    profile_range_copy_names(&part.thread, thread);
    subtract_all(&part.thread, &before);
    free(before.items);
    return part;
}

void profile_range_free(struct profile_range *part)
{
    free(part->thread.items);
    *part = (struct profile_range){0};
}
