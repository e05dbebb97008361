#include "server/timing/call_contexts.h"

#include "base/alloc.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

#define SAVED_AT_ONCE 4096u /* maximum number of contexts in one body */

struct call_context_thread *call_contexts_thread(struct call_contexts *all, uint32_t session,
                                                 uint32_t code)
{
    return MAP_ITEM(&all->index, session, code, all->threads, all->count, all->room,
                    (struct call_context_thread){.session = session, .code = code});
}

/* Returns a context, made on first use.  In a damaged file contexts before it may be missing; they
 * become children of the thread. */
static struct call_context *call_contexts_get(struct call_context_thread *thread, uint32_t index)
{
    thread->items = array_reserve(thread->items, &thread->room, index + 1, sizeof *thread->items);
    for (; thread->count <= index; thread->count++)
        thread->items[thread->count] = (struct call_context){
            .sums = {.index = (uint32_t)thread->count,
                     .is = {.lands = (uint32_t)thread->count, .scope = SCOPE_OTHER},
                     .least_ns = UINT64_MAX}};
    return &thread->items[index];
}

static void call_contexts_set_sums(struct call_context_thread *thread,
                                   const struct snapshot_context *sums, bool is)
{
    struct call_context *c = call_contexts_get(thread, sums->index);
    struct snapshot_scope before = c->sums.is;
    c->sums = *sums;
    if (!is || c->known)
        c->sums.is = before;
    c->known |= is;
    c->unsaved = thread->unsaved = true;
}

bool call_contexts_update(struct call_context_thread *thread, const uint8_t *body, size_t size,
                          const char **why)
{
    struct decoder in = decoder_init(body, size);
    struct snapshot_context sums;
    struct snapshot_head head;
    uint32_t before = UINT32_MAX;
    bool is;
    if (decode_snapshot_head(&in, &head))
        thread->head = head;
    while (decode_snapshot_context(&in, before, &sums, &is)) {
        call_contexts_set_sums(thread, &sums, is);
        before = sums.index;
    }
    *why = in.error;
    return !in.error;
}

void call_contexts_keep(struct call_contexts *all, struct call_context_thread *thread,
                        const uint8_t *body, size_t size)
{
    struct earlier_snapshots *e = &thread->earlier;
    e->full |= all->earlier_bytes + size > EARLIER_SNAPSHOTS_BYTES || size > UINT32_MAX;
    if (e->full || !size)
        return;
    struct earlier_body one = {thread->head.time_ns, xmalloc(size), (uint32_t)size};
    memcpy(one.data, body, size);
    ARRAY_PUSH(e->items, e->count, one);
    all->earlier_bytes += size;
}

uint32_t call_contexts_times(const struct call_context_thread *thread)
{
    const struct earlier_snapshots *e = &thread->earlier;
    uint32_t times = 0;
    for (uint32_t i = 0; i < e->count; i++)
        times += !i || e->items[i].time_ns != e->items[i - 1].time_ns;
    return times;
}

/* ---- saving ---- */

static void call_contexts_save_kept(struct call_context_thread *thread,
                                    void (*save)(void *user,
                                                 const struct call_context_thread *thread,
                                                 const struct encoder *body),
                                    void *user)
{
    struct earlier_snapshots *e = &thread->earlier;
    for (; e->saved < e->count; e->saved++) {
        struct encoder body = {.data = e->items[e->saved].data, .size = e->items[e->saved].size};
        save(user, thread, &body);
    }
    for (size_t i = 0; !e->full && e->count && i < thread->count; i++)
        thread->items[i].unsaved = false;
}

/* Encodes changed contexts from *from on, at most SAVED_AT_ONCE; returns false if there are
 * none. */
static bool call_contexts_put_some(struct call_context_thread *thread, size_t *from,
                                   struct encoder *body)
{
    uint32_t before = UINT32_MAX, count = 0;
    encode_snapshot_head(body, &thread->head);
    for (; *from < thread->count && count < SAVED_AT_ONCE; ++*from) {
        struct call_context *c = &thread->items[*from];
        if (!c->unsaved)
            continue;
        encode_snapshot_context(body, before, &c->sums, c->known);
        before = c->sums.index;
        c->unsaved = false;
        count++;
    }
    return count != 0;
}

void call_contexts_save(struct call_contexts *all,
                        void (*save)(void *user, const struct call_context_thread *thread,
                                     const struct encoder *body),
                        void *user)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct call_context_thread *thread = &all->threads[i];
        struct encoder body = {0};
        call_contexts_save_kept(thread, save, user);
        for (size_t from = 0; thread->unsaved && call_contexts_put_some(thread, &from, &body);) {
            save(user, thread, &body);
            body.size = 0;
        }
        thread->unsaved = false;
        encoder_free(&body);
    }
}

void call_contexts_announced(struct call_contexts *all, struct call_context_thread *thread,
                             uint32_t line)
{
    thread->line = line;
    if (line)
        map_put(&all->lines, line, 0, (void *)(uintptr_t)(thread - all->threads + 1));
}

const struct call_context_thread *call_contexts_of_line(const struct call_contexts *all,
                                                        uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&all->lines, line, 0);
    return known ? &all->threads[known - 1] : NULL;
}

static void call_contexts_free_earlier(struct earlier_snapshots *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        free(e->items[i].data);
    free(e->items);
}

void call_contexts_free(struct call_contexts *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        free(all->threads[i].items);
        call_contexts_free_earlier(&all->threads[i].earlier);
    }
    free(all->threads);
    map_free(&all->index);
    map_free(&all->lines);
    *all = (struct call_contexts){0};
}

/* ---- profile of a part of the run: sums as of a time ---- */

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
static struct call_context_thread profile_range_as_of(const struct call_context_thread *thread,
                                                      uint32_t count)
{
    struct call_context_thread then = {.session = thread->session, .code = thread->code};
    const char *why;
    for (uint32_t i = 0; i < count && i < thread->earlier.count; i++)
        call_contexts_update(&then, thread->earlier.items[i].data, thread->earlier.items[i].size,
                             &why);
    return then;
}

/* ---- profile of a part of the run: difference ---- */

static uint64_t profile_range_subtract_clamped(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static uint64_t profile_range_own_of(const struct snapshot_context *s)
{
    return s->own_ns + s->open_own_ns;
}

static uint64_t profile_range_self_of(const struct snapshot_context *s)
{
    return profile_range_own_of(s) + s->off_ns + s->open_last_ns;
}

/* Subtracts earlier sums.  Whether an open call ran since its last callee returned is known only
 * later, and its time then moves; so the parts of self time are not subtracted singly. */
static void profile_range_subtract_sums(struct snapshot_context *s,
                                        const struct snapshot_context *before)
{
    uint64_t self = profile_range_subtract_clamped(profile_range_self_of(s),
                                                   profile_range_self_of(before)),
             own = profile_range_subtract_clamped(profile_range_own_of(s),
                                                  profile_range_own_of(before));
    s->calls = profile_range_subtract_clamped(s->calls, before->calls);
    s->concurrent = profile_range_subtract_clamped(s->concurrent, before->concurrent);
    s->ended = profile_range_subtract_clamped(s->ended, before->ended);
    s->real_ns = profile_range_subtract_clamped(s->real_ns + s->open_real_ns,
                                                before->real_ns + before->open_real_ns);
    s->own_ns = own < self ? own : self;
    s->off_ns = self - s->own_ns;
    s->open_real_ns = s->open_own_ns = s->open_last_ns = 0;
}

static void profile_range_subtract_head(struct snapshot_head *head,
                                        const struct snapshot_head *before)
{
    head->folded = profile_range_subtract_clamped(head->folded, before->folded);
    head->deep = profile_range_subtract_clamped(head->deep, before->deep);
    head->mismatched = profile_range_subtract_clamped(head->mismatched, before->mismatched);
    head->backwards = profile_range_subtract_clamped(head->backwards, before->backwards);
}

/* Subtracts all earlier sums.  The least and greatest times of a part are not known. */
static void profile_range_subtract_all(struct call_context_thread *thread,
                                       const struct call_context_thread *before)
{
    static const struct snapshot_context none;
    for (size_t i = 0; i < thread->count; i++) {
        struct snapshot_context *s = &thread->items[i].sums;
        profile_range_subtract_sums(s, i < before->count ? &before->items[i].sums : &none);
        s->least_ns = UINT64_MAX;
    }
    profile_range_subtract_head(&thread->head, &before->head);
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
    struct call_context_thread before = profile_range_as_of(thread, first);
    struct profile_range part = {.thread = last > e->count ? profile_range_copy_newest(thread)
                                                           : profile_range_as_of(thread, last),
                                 .from_ns = first ? e->items[first - 1].time_ns : 0};
    part.to_ns = part.thread.head.time_ns;
    profile_range_copy_names(&part.thread, thread);
    profile_range_subtract_all(&part.thread, &before);
    free(before.items);
    return part;
}

void profile_range_free(struct profile_range *part)
{
    free(part->thread.items);
    *part = (struct profile_range){0};
}
