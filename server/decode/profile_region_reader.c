#define _GNU_SOURCE
#include "server/decode/profile_region_reader.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/alloc.h"
#include "wire/slot.h"
#include "wire/profile_snapshot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What grows of a context, in ticks. */
enum { CALLS, CONCURRENT, ENDED, REAL, MOST, OWN, OWN_MOST, OFF, GROWS };

struct region_context_seen {
    uint64_t grows[GROWS], least, own_least;
    struct snapshot_scope is;
    uint64_t open, open_ended, open_real, open_own, open_last; /* open_ended: what had ended then */
    bool known, changed;
    bool defined; /* what it is */
    uint64_t reported_open;
};

static bool region_reader_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

const char *region_reader_add(struct region_reader **list, int fd, uint32_t thread)
{
    struct stat st;
    if (!region_reader_is_sealed(fd))
        return "a region that is not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < REGION_MAP_BYTES)
        return "a region of an invalid size";
    struct profile_region_head *head = mmap(NULL, REGION_MAP_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a region that cannot be mapped";
    if (head->magic != REGION_MAGIC || head->version != REGION_VERSION) {
        munmap(head, REGION_MAP_BYTES);
        return "a region without its magic number, or of another version";
    }
    struct region_reader *region = xcalloc(1, sizeof *region);
    region->head = head;
    region->thread = thread;
    region->next = *list;
    *list = region;
    return NULL;
}

void region_reader_free(struct region_reader *region)
{
    munmap((void *)(uintptr_t)region->head, REGION_MAP_BYTES);
    free(region->seen);
    free(region->cells);
    free(region);
}

struct region_moment region_reader_now(struct tsc_clock *ticks, bool all)
{
    tsc_clock_read(ticks);
    for (int i = 0; i < 10 && tsc_clock_known() && ticks->count < 2; i++) {
        nanosleep(&(struct timespec){0, 1100000}, NULL);
        tsc_clock_read(ticks);
    }
    uint64_t counter = tsc_clock_counter();
    return (struct region_moment){.ns = clock_read_ns(CLOCK_MONOTONIC),
                                  .counter = counter,
                                  .rate = tsc_clock_rate(ticks),
                                  .all = all};
}

/* ---- looking ---- */

/* Reads each number once, since the program may write it concurrently. */
#define LOOK(member) (*(const volatile __typeof__(member) *)&(member))

static uint64_t clock_now(const struct region_reader *region, const struct region_moment *moment)
{
    return LOOK(region->head->clock) == QUEUE_CLOCK_TICKS ? moment->counter : moment->ns;
}

static uint64_t age_by(const struct region_reader *region, uint64_t now)
{
    uint64_t began = LOOK(region->head->began);
    return began && began <= now ? now - began : UINT64_MAX;
}

/* (It may have been written after the moment of the look.) */
static bool can_be(struct region_reader *region, uint64_t ticks)
{
    if (ticks <= region->age)
        return true;
    struct region_moment moment = {.ns = clock_read_ns(CLOCK_MONOTONIC),
                                   .counter = tsc_clock_counter()};
    bool is = ticks <= age_by(region, clock_now(region, &moment));
    region->backwards += !is;
    return is;
}

static void region_reader_read_number(struct region_reader *region,
                                      struct region_context_seen *seen, unsigned i, uint64_t now)
{
    if (i >= REAL && seen->is.scope != SCOPE_COUNTED && !can_be(region, now))
        return; /* as it was when it could be */
    seen->changed |= now > seen->grows[i];
    region->backwards += now < seen->grows[i];
    seen->grows[i] = now > seen->grows[i] ? now : seen->grows[i];
}

static void region_reader_read_minimum(struct region_context_seen *seen, uint64_t *least,
                                       uint64_t now)
{
    seen->changed |= now < *least;
    *least = now < *least ? now : *least;
}

/* What cannot be hangs below the thread, and counts for itself. */
static void region_reader_note_context(struct region_reader *region,
                                       struct region_context_seen *seen, uint32_t index,
                                       const struct profile_region_context *c)
{
    if (seen->known)
        return;
    struct snapshot_scope is = {LOOK(c->parent),   LOOK(c->lands), LOOK(c->scope),
                                LOOK(c->function), LOOK(c->site),  0};
    bool bad_parent = index ? is.parent >= index : is.parent != 0, bad_lands = is.lands > index,
         bad_scope = is.scope > SCOPE_EDGE;
    uint64_t since = is.scope == SCOPE_COUNTED ? LOOK(c->real) : 0;
    is.since_ns = since <= SNAPSHOT_TIME_MOST ? since : 0;
    is.parent = bad_parent ? 0 : is.parent;
    is.lands = bad_lands ? index : is.lands;
    is.scope = bad_scope ? SCOPE_OTHER : is.scope;
    region->backwards += bad_parent || bad_lands || bad_scope;
    *seen = (struct region_context_seen){
        .is = is, .least = UINT64_MAX, .own_least = UINT64_MAX, .known = true, .changed = true};
}

static void forget_open(struct region_context_seen *seen)
{
    seen->open = seen->open_real = seen->open_own = seen->open_last = 0;
}

static void region_reader_read_context(struct region_reader *region, uint32_t index)
{
    const struct profile_region_context *all =
        (const void *)((const char *)region->head + REGION_CONTEXTS_AT);
    const struct profile_region_context *c = &all[index];
    struct region_context_seen *seen = &region->seen[index];
    const uint64_t now[GROWS] = {LOOK(c->calls),    LOOK(c->concurrent), LOOK(c->ended),
                                 LOOK(c->real),     LOOK(c->real_most),  LOOK(c->own),
                                 LOOK(c->own_most), LOOK(c->off)};
    for (unsigned i = 0; i < GROWS; i++)
        region_reader_read_number(region, seen, i, now[i]);
    region_reader_read_minimum(seen, &seen->least, LOOK(c->real_least));
    region_reader_read_minimum(seen, &seen->own_least, LOOK(c->own_least));
    if (seen->open && now[ENDED] != seen->open_ended)
        forget_open(seen); /* it ended meanwhile, and is counted */
}

/* As it went it looked at its processor clock. */
static bool looked_at_end(const struct region_reader *region)
{
    return LOOK(region->head->gone) && LOOK(region->head->looked_ticks) &&
           !LOOK(region->head->blind);
}

/* Returns the time since the innermost call resumed, without the time that the thread is known
 * not to have run. */
static uint64_t region_reader_running_ticks(const struct region_reader *region,
                                            const struct profile_region_frame *frame, uint64_t now)
{
    uint64_t ran = LOOK(frame->ran), off = LOOK(region->head->off_ticks), all = now - off;
    return ran && off <= now && ran <= all ? all - ran : 0;
}

/* Returns whether a call is the outermost of its function: recursive calls within it take no
 * time of their own. */
static bool is_outermost(struct map *functions, const struct snapshot_scope *is)
{
    if (map_get(functions, is->function, is->scope))
        return false;
    map_put(functions, is->function, is->scope, functions);
    return true;
}

static void region_reader_read_frame(struct region_reader *region,
                                     const struct profile_region_frame *frame, bool top,
                                     uint64_t now, struct map *functions)
{
    const struct profile_region_context *all =
        (const void *)((const char *)region->head + REGION_CONTEXTS_AT);
    uint32_t context = LOOK(frame->context);
    uint64_t began = LOOK(frame->began);
    if (context >= region->count)
        return;
    struct region_context_seen *seen = &region->seen[context];
    if (!seen->open++)
        seen->open_ended = LOOK(all[context].ended);
    uint64_t own = LOOK(frame->own),
             last = began && top ? region_reader_running_ticks(region, frame, now) : 0;
    if (began && began <= now && is_outermost(functions, &seen->is) && can_be(region, now - began))
        seen->open_real = now - began;
    if (last && looked_at_end(region)) {
        own += last;
        last = 0;
    }
    if (began && can_be(region, own))
        seen->open_own += own;
    if (last && can_be(region, last))
        seen->open_last = last;
}

static void region_reader_note_contexts(struct region_reader *region, uint32_t count)
{
    const struct profile_region_context *all =
        (const void *)((const char *)region->head + REGION_CONTEXTS_AT);
    region->seen = array_reserve_zeroed(region->seen, &region->room, count, sizeof *region->seen);
    for (uint32_t i = 0; i < count; i++)
        region_reader_note_context(region, &region->seen[i], i, &all[i]);
    region->count = count > region->count ? count : region->count;
}

/* Calls that are open when their program has gone lasted until then. */
static uint64_t open_until(const struct region_reader *region, uint64_t now)
{
    uint64_t gone = LOOK(region->head->gone);
    return gone && gone < now ? gone : now;
}

/* Frames before contexts: a call that ends in between is left out here. */
static void region_reader_read_frames(struct region_reader *region, uint64_t now)
{
    const struct profile_region_frame *frames =
        (const void *)((const char *)region->head + REGION_FRAMES_AT);
    uint32_t depth = LOOK(region->head->depth);
    struct map functions = {0};
    depth = depth < REGION_FRAMES ? depth : REGION_FRAMES;
    for (uint32_t i = 0; i < region->count; i++)
        forget_open(&region->seen[i]);
    for (uint32_t i = 0; i < depth; i++)
        region_reader_read_frame(region, &frames[i], i + 1 == depth, now, &functions);
    map_free(&functions);
}

static uint32_t count_contexts(const struct region_reader *region)
{
    uint32_t count = atomic_load_explicit(&region->head->contexts, memory_order_acquire);
    return count < REGION_CONTEXTS ? count : REGION_CONTEXTS;
}

bool region_reader_poll(struct region_reader *region, const struct region_moment *moment)
{
    uint32_t count = count_contexts(region);
    bool changed = false;
    if (LOOK(region->head->clock) == QUEUE_CLOCK_TICKS && moment->rate <= 0)
        return false;
    region_reader_note_contexts(region, count);
    region->age = age_by(region, clock_now(region, moment));
    region_reader_read_frames(region, open_until(region, clock_now(region, moment)));
    for (uint32_t i = 0; i < count; i++) {
        region_reader_read_context(region, i);
        region->seen[i].changed |= region->seen[i].open != region->seen[i].reported_open;
        changed |= region->seen[i].changed || (moment->all && region->seen[i].open);
    }
    for (uint32_t i = 0; i < count && changed; i++)
        region->seen[i].changed |= region->seen[i].open != 0;
    region->from = 0;
    return changed;
}

/* ---- reporting ---- */

static uint64_t in_ns(const struct region_reader *region, const struct region_moment *moment,
                      uint64_t ticks)
{
    double ns = (double)ticks;
    if (LOOK(region->head->clock) == QUEUE_CLOCK_TICKS)
        ns *= moment->rate;
    else if (ticks <= SNAPSHOT_TIME_MOST / 2)
        return ticks;
    return ns < (double)SNAPSHOT_TIME_MOST / 2 ? (uint64_t)(ns + .5) : SNAPSHOT_TIME_MOST / 2;
}

/* Returns the time, by the program's clock, for which the reported values hold. */
static uint64_t region_reader_moment_ns(const struct region_reader *region,
                                        const struct region_moment *moment)
{
    uint64_t now = clock_now(region, moment),
             since_ns = in_ns(region, moment, now - open_until(region, now));
    return since_ns < moment->ns ? moment->ns - since_ns : moment->ns;
}

static void region_reader_encode_head(const struct region_reader *region,
                                      const struct region_moment *moment, struct encoder *out)
{
    const struct profile_region_head *head = region->head;
    double ps = LOOK(head->clock) == QUEUE_CLOCK_TICKS ? moment->rate * 1000 / 256 : 1000.0 / 256;
    double enter = ps * LOOK(head->enter_256), exit = ps * LOOK(head->exit_256);
    struct snapshot_head snapshot = {.time_ns = region_reader_moment_ns(region, moment),
                                     .flags = LOOK(head->sampled) ? SNAPSHOT_CPU | SNAPSHOT_SAMPLED
                                              : LOOK(head->blind) ? SNAPSHOT_BLIND
                                              : LOOK(head->looked_ticks) ? SNAPSHOT_CPU
                                                                         : 0,
                                     .enter_ps = enter < 1e9 ? (uint32_t)enter : 1000000000u,
                                     .exit_ps = exit < 1e9 ? (uint32_t)exit : 1000000000u,
                                     .folded = LOOK(head->folded),
                                     .deep = LOOK(head->deep),
                                     .mismatched = LOOK(head->mismatched),
                                     .backwards = region->backwards};
    encode_snapshot_head(out, &snapshot);
}

static struct snapshot_context region_reader_format_context(const struct region_reader *region,
                                                            const struct region_moment *moment,
                                                            uint32_t index)
{
    const struct region_context_seen *s = &region->seen[index];
    uint64_t ns[GROWS];
    bool timed = s->least != UINT64_MAX;
    for (unsigned i = REAL; i < GROWS; i++)
        ns[i] = s->is.scope == SCOPE_COUNTED ? 0 : in_ns(region, moment, s->grows[i]);
    return (struct snapshot_context){
        .index = index,
        .is = s->is,
        .calls = s->grows[CALLS],
        .concurrent = s->grows[CONCURRENT],
        .ended = s->grows[ENDED],
        .real_ns = ns[REAL],
        .least_ns = timed ? in_ns(region, moment, s->least) : UINT64_MAX,
        .most_ns = ns[MOST],
        .own_ns = ns[OWN],
        .own_least_ns = s->own_least != UINT64_MAX ? in_ns(region, moment, s->own_least) : 0,
        .own_most_ns = ns[OWN_MOST],
        .off_ns = ns[OFF],
        .open = s->open,
        .open_real_ns = in_ns(region, moment, s->open_real),
        .open_own_ns = in_ns(region, moment, s->open_own),
        .open_last_ns = in_ns(region, moment, s->open_last)};
}

bool region_reader_encode(struct region_reader *region, const struct region_moment *moment,
                          struct encoder *out)
{
    uint32_t before = UINT32_MAX, snapshot = 0;
    size_t begin = out->size;
    region_reader_encode_head(region, moment, out);
    for (; region->from < region->count && snapshot < REGION_READER_CHUNK; region->from++) {
        struct region_context_seen *seen = &region->seen[region->from];
        if (!seen->changed)
            continue;
        struct snapshot_context c = region_reader_format_context(region, moment, region->from);
        encode_snapshot_context(out, before, &c, !seen->defined);
        seen->defined = true;
        before = region->from;
        seen->changed = false;
        seen->reported_open = seen->open;
        snapshot++;
    }
    if (!snapshot)
        out->size = begin;
    return snapshot != 0;
}

void region_reader_pending(struct region_reader *region)
{
    for (size_t i = 0; i < region->count; i++) {
        region->seen[i].changed = true;
        region->seen[i].defined = false;
    }
}
