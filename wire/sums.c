#include "wire/sums.h"

#include "wire/varied.h"

/* With the index of a context. */
#define IS 1u
#define TIMED 2u
#define OPEN 4u
#define MARKS_BITS 3
/* With an enum region_scope, of which SCOPE_COUNTED is a mark of its own. */
#define SCOPE 3u
#define SITED 4u /* where it was called from is told */
#define COUNTED 8u
#define SINCE 16u /* and since when */

static uint64_t get_time(struct in *in)
{
    uint64_t ns = get_varied(in);
    if (ns > SUMS_TIME_MOST)
        in_fail(in, "a time that cannot be");
    return ns;
}

void put_sums_head(struct out *out, const struct sums_head *head)
{
    put_u64(out, head->time_ns);
    put_varied(out, head->flags);
    put_varied(out, head->enter_ps);
    put_varied(out, head->exit_ps);
    put_varied(out, head->folded);
    put_varied(out, head->deep);
    put_varied(out, head->mismatched);
    put_varied(out, head->backwards);
}

bool get_sums_head(struct in *in, struct sums_head *head)
{
    head->time_ns = get_u64(in);
    if (head->time_ns > SUMS_TIME_MOST)
        in_fail(in, "a time that cannot be");
    head->flags = (uint32_t)get_varied(in);
    head->enter_ps = (uint32_t)get_varied(in);
    head->exit_ps = (uint32_t)get_varied(in);
    head->folded = get_varied(in);
    head->deep = get_varied(in);
    head->mismatched = get_varied(in);
    head->backwards = get_varied(in);
    return !in->error;
}

/* ---- contexts ---- */

static void put_is(struct out *out, const struct sums_context *c)
{
    put_varied(out, c->index ? c->index - c->is.parent : 0);
    put_varied(out, c->index - c->is.lands);
    bool counted = c->is.scope == SCOPE_COUNTED, since = counted && c->is.since_ns;
    put_varied(out,
               (counted ? COUNTED : c->is.scope) | (c->is.site ? SITED : 0) | (since ? SINCE : 0));
    put_varied(out, c->is.function);
    if (c->is.site)
        put_varied(out, c->is.site);
    if (since)
        put_varied(out, c->is.since_ns);
}

static bool get_is(struct in *in, uint32_t index, struct sums_is *is)
{
    uint64_t parent = get_varied(in), lands = get_varied(in), marks = get_varied(in);
    uint64_t scope = marks & COUNTED && !(marks & SCOPE) ? SCOPE_COUNTED : marks & SCOPE;
    is->function = get_varied(in);
    is->site = marks & SITED ? get_varied(in) : 0;
    is->since_ns = marks & SINCE ? get_time(in) : 0;
    if (parent > index || (index && !parent) || lands > index ||
        marks > (SCOPE | SITED | COUNTED | SINCE) || (marks & COUNTED && marks & SCOPE) ||
        (marks & SINCE && !(marks & COUNTED)))
        in_fail(in, "a context that cannot be");
    is->parent = index - (uint32_t)parent;
    is->lands = index - (uint32_t)lands;
    is->scope = (uint32_t)scope;
    return !in->error;
}

static void put_times(struct out *out, const struct sums_context *c)
{
    bool ended = c->least_ns != UINT64_MAX;
    put_varied(out, c->real_ns);
    put_varied(out, ended ? c->least_ns + 1 : 0);
    put_varied(out, c->most_ns);
    put_varied(out, c->own_ns);
    put_varied(out, ended ? c->own_least_ns : 0);
    put_varied(out, c->own_most_ns);
    put_varied(out, c->off_ns);
}

static void get_times(struct in *in, struct sums_context *c)
{
    c->real_ns = get_time(in);
    c->least_ns = get_time(in) - 1; /* none: UINT64_MAX */
    c->most_ns = get_time(in);
    c->own_ns = get_time(in);
    c->own_least_ns = get_time(in);
    c->own_most_ns = get_time(in);
    c->off_ns = get_time(in);
}

void put_sums_context(struct out *out, uint32_t before, const struct sums_context *c, bool is)
{
    bool timed = c->real_ns || c->own_ns || c->off_ns || c->least_ns != UINT64_MAX;
    uint64_t marks = (is ? IS : 0) | (timed ? TIMED : 0) | (c->open ? OPEN : 0);
    put_varied(out, (uint64_t)(uint32_t)(c->index - before - 1) << MARKS_BITS | marks);
    if (is)
        put_is(out, c);
    put_varied(out, c->calls);
    put_varied(out, c->concurrent);
    put_varied(out, c->ended);
    if (timed)
        put_times(out, c);
    if (!c->open)
        return;
    put_varied(out, c->open);
    put_varied(out, c->open_real_ns);
    put_varied(out, c->open_own_ns);
    put_varied(out, c->open_last_ns);
}

bool get_sums_context(struct in *in, uint32_t before, struct sums_context *c, bool *is)
{
    *c = (struct sums_context){.least_ns = UINT64_MAX};
    if (in->error || !in_left(in))
        return false;
    uint64_t word = get_varied(in), index = (word >> MARKS_BITS) + (uint64_t)(uint32_t)(before + 1);
    if (index >= REGION_CONTEXTS)
        in_fail(in, "a context that cannot be");
    *is = word & IS;
    c->index = (uint32_t)index;
    if (*is && !get_is(in, c->index, &c->is))
        return false;
    c->calls = get_varied(in);
    c->concurrent = get_varied(in);
    c->ended = get_varied(in);
    if (word & TIMED)
        get_times(in, c);
    if (word & OPEN) {
        c->open = get_varied(in);
        c->open_real_ns = get_time(in);
        c->open_own_ns = get_time(in);
        c->open_last_ns = get_time(in);
    }
    return !in->error;
}
