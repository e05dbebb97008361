#include "wire/profile_snapshot.h"

#include "wire/message.h"

/* Flags below the index of a context: its identity follows, its times follow, it has open calls. */
#define IS 1u
#define TIMED 2u
#define OPEN 4u
#define MARKS_BITS 3
/* The enum profile_scope and flags; SCOPE_COUNTED and those after it have flags of their own. */
#define SCOPE 3u
#define SITED 4u /* the call site follows */
#define COUNTED 8u
#define SINCE 16u /* the start of counting follows */
#define POINT 32u
#define EDGE 64u

static uint64_t decode_time(struct decoder *in)
{
    uint64_t ns = decode_varint(in);
    if (ns > SNAPSHOT_TIME_MOST)
        decoder_fail(in, "invalid timestamp");
    return ns;
}

void encode_snapshot_head(struct encoder *out, const struct snapshot_head *head)
{
    encode_u64(out, head->time_ns);
    encode_varint(out, head->flags);
    encode_varint(out, head->enter_ps);
    encode_varint(out, head->exit_ps);
    encode_varint(out, head->folded);
    encode_varint(out, head->deep);
    encode_varint(out, head->mismatched);
    encode_varint(out, head->backwards);
}

bool decode_snapshot_head(struct decoder *in, struct snapshot_head *head)
{
    head->time_ns = decode_u64(in);
    if (head->time_ns > SNAPSHOT_TIME_MOST)
        decoder_fail(in, "invalid timestamp");
    head->flags = (uint32_t)decode_varint(in);
    head->enter_ps = (uint32_t)decode_varint(in);
    head->exit_ps = (uint32_t)decode_varint(in);
    head->folded = decode_varint(in);
    head->deep = decode_varint(in);
    head->mismatched = decode_varint(in);
    head->backwards = decode_varint(in);
    return !in->error;
}

/* ---- contexts ---- */

static void profile_snapshot_encode_identity(struct encoder *out, const struct snapshot_context *c)
{
    encode_varint(out, c->index ? c->index - c->is.parent : 0);
    encode_varint(out, c->index - c->is.lands);
    bool counted = c->is.scope == SCOPE_COUNTED, since = counted && c->is.since_ns;
    uint32_t scope = counted                      ? COUNTED
                     : c->is.scope == SCOPE_POINT ? POINT
                     : c->is.scope == SCOPE_EDGE  ? EDGE
                                                  : c->is.scope;
    encode_varint(out, scope | (c->is.site ? SITED : 0) | (since ? SINCE : 0));
    encode_varint(out, c->is.function);
    if (c->is.site)
        encode_varint(out, c->is.site);
    if (since)
        encode_varint(out, c->is.since_ns);
}

static bool profile_snapshot_decode_identity(struct decoder *in, uint32_t index,
                                             struct snapshot_scope *is)
{
    uint64_t parent = decode_varint(in), lands = decode_varint(in), marks = decode_varint(in);
    uint64_t kind = marks & (SCOPE | COUNTED | POINT | EDGE), scope = kind == COUNTED
                                                                          ? SCOPE_COUNTED
                                                                      : kind == POINT ? SCOPE_POINT
                                                                      : kind == EDGE  ? SCOPE_EDGE
                                                                                      : kind;
    is->function = decode_varint(in);
    is->site = marks & SITED ? decode_varint(in) : 0;
    is->since_ns = marks & SINCE ? decode_time(in) : 0;
    if (parent > index || (index && !parent) || lands > index ||
        marks > (SCOPE | SITED | COUNTED | SINCE | POINT | EDGE) || scope > SCOPE_EDGE ||
        (marks & SINCE && !(marks & COUNTED)))
        decoder_fail(in, "invalid context");
    is->parent = index - (uint32_t)parent;
    is->lands = index - (uint32_t)lands;
    is->scope = (uint32_t)scope;
    return !in->error;
}

static void encode_times(struct encoder *out, const struct snapshot_context *c)
{
    bool ended = c->least_ns != UINT64_MAX;
    encode_varint(out, c->real_ns);
    encode_varint(out, ended ? c->least_ns + 1 : 0);
    encode_varint(out, c->most_ns);
    encode_varint(out, c->own_ns);
    encode_varint(out, ended ? c->own_least_ns : 0);
    encode_varint(out, c->own_most_ns);
    encode_varint(out, c->off_ns);
}

static void decode_times(struct decoder *in, struct snapshot_context *c)
{
    c->real_ns = decode_time(in);
    c->least_ns = decode_time(in) - 1; /* encoded as 0 if there is none: UINT64_MAX */
    c->most_ns = decode_time(in);
    c->own_ns = decode_time(in);
    c->own_least_ns = decode_time(in);
    c->own_most_ns = decode_time(in);
    c->off_ns = decode_time(in);
}

void encode_snapshot_context(struct encoder *out, uint32_t before, const struct snapshot_context *c,
                             bool is)
{
    bool timed = c->real_ns || c->own_ns || c->off_ns || c->least_ns != UINT64_MAX;
    uint64_t marks = (is ? IS : 0) | (timed ? TIMED : 0) | (c->open ? OPEN : 0);
    encode_varint(out, (uint64_t)(uint32_t)(c->index - before - 1) << MARKS_BITS | marks);
    if (is)
        profile_snapshot_encode_identity(out, c);
    encode_varint(out, c->calls);
    encode_varint(out, c->concurrent);
    encode_varint(out, c->ended);
    if (timed)
        encode_times(out, c);
    if (!c->open)
        return;
    encode_varint(out, c->open);
    encode_varint(out, c->open_real_ns);
    encode_varint(out, c->open_own_ns);
    encode_varint(out, c->open_last_ns);
}

bool decode_snapshot_context(struct decoder *in, uint32_t before, struct snapshot_context *c,
                             bool *is)
{
    *c = (struct snapshot_context){.least_ns = UINT64_MAX};
    if (in->error || !decoder_remaining(in))
        return false;
    uint64_t word = decode_varint(in),
             index = (word >> MARKS_BITS) + (uint64_t)(uint32_t)(before + 1);
    if (index >= REGION_CONTEXTS)
        decoder_fail(in, "invalid context");
    *is = word & IS;
    c->index = (uint32_t)index;
    if (*is && !profile_snapshot_decode_identity(in, c->index, &c->is))
        return false;
    c->calls = decode_varint(in);
    c->concurrent = decode_varint(in);
    c->ended = decode_varint(in);
    if (word & TIMED)
        decode_times(in, c);
    if (word & OPEN) {
        c->open = decode_varint(in);
        c->open_real_ns = decode_time(in);
        c->open_own_ns = decode_time(in);
        c->open_last_ns = decode_time(in);
    }
    return !in->error;
}
