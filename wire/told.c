#include "wire/told.h"

#include <string.h>

struct text text_of(const char *s) { return (struct text){s, s ? (uint32_t)strlen(s) : 0}; }

/* ---- fields ---- */

static void put_text(struct out *out, struct text text)
{
    put_u32(out, text.size);
    put_bytes(out, text.bytes, text.size);
}

static struct text get_counted(struct in *in, size_t limit, const char *too_long)
{
    uint32_t size = get_u32(in);
    if (!in->error && size > limit)
        in_fail(in, too_long);
    const uint8_t *bytes = get_bytes(in, in->error ? 0 : size);
    return (struct text){(const char *)bytes, bytes ? size : 0};
}

static struct text get_limited(struct in *in, size_t limit)
{
    struct text text = get_counted(in, limit, "a string is too long");
    if (!text.size || !memchr(text.bytes, 0, text.size))
        return text;
    in_fail(in, "a string holds a zero byte");
    return (struct text){0};
}

static struct text get_text(struct in *in) { return get_limited(in, LIMIT_TEXT_BYTES); }

static void put_label(struct out *out, struct text label) { put_text(out, label); }
static struct text get_label(struct in *in) { return get_limited(in, TOLD_LABEL_BYTES); }

static void put_build_id(struct out *out, struct text id) { put_text(out, id); }
static struct text get_build_id(struct in *in)
{
    return get_counted(in, BUILD_ID_BYTES, "a build-id is too long");
}

/* ---- messages that are lists of fields ---- */

#define PUT(type, name) put_##type(out, told->name);
#define GET(type, name) told->name = get_##type(in);
#define M(message, fields)                                                                         \
    void put_told_##message(struct out *out, const struct told_##message *told) { fields(PUT) }    \
    bool get_told_##message(struct in *in, struct told_##message *told)                            \
    {                                                                                              \
        fields(GET) return in_done(in);                                                            \
    }
TOLD(M)
#undef M
#undef GET
#undef PUT

/* ---- the others ---- */

void put_told_hello(struct out *out, const struct told_hello *told)
{
    put_u32(out, HELLO_MAGIC);
    put_u32(out, WIRE_VERSION);
    put_u8(out, told->role);
    if (told->role != ROLE_PROGRAM)
        return;
    put_text(out, told->run);
    put_text(out, told->environment);
    put_text(out, told->path);
    put_text(out, told->host);
    put_u32(out, told->pid);
    put_u64(out, told->instance);
    put_u64(out, told->clock_ns);
    put_u64(out, told->wall_ns);
    put_u32(out, told->argument_count);
}

bool get_told_hello(struct in *in, struct told_hello *told)
{
    *told = (struct told_hello){0};
    if (get_u32(in) != HELLO_MAGIC)
        in_fail(in, "HELLO without its magic number");
    told->version = get_u32(in);
    told->role = get_u8(in);
    uint32_t oldest = told->role == ROLE_PROGRAM ? WIRE_VERSION_PROGRAM : WIRE_VERSION;
    if (told->version < oldest || told->version > WIRE_VERSION)
        in_fail(in, "speaks another version of the protocol");
    if (!in->error && told->role == ROLE_VIEWER)
        return true;
    if (told->role != ROLE_PROGRAM)
        in_fail(in, "is neither a program nor a viewer");
    told->run = get_label(in);
    told->environment = get_label(in);
    told->path = get_text(in);
    told->host = get_label(in);
    told->pid = get_u32(in);
    told->instance = get_u64(in);
    told->clock_ns = get_u64(in);
    told->wall_ns = get_u64(in);
    told->argument_count = get_u32(in);
    if (!in->error && told->argument_count > in_left(in) / 4)
        in_fail(in, "more arguments than bytes");
    if (!in->error && !told->run.size)
        in_fail(in, "names no run");
    return !in->error;
}

void put_told_argument(struct out *out, struct text argument) { put_text(out, argument); }

struct text get_told_argument(struct in *in) { return get_text(in); }

void put_told_variables(struct out *out, uint32_t count) { put_u32(out, count); }

uint32_t get_told_variables(struct in *in)
{
    uint32_t count = in->error || !in_left(in) ? 0 : get_u32(in);
    if (!in->error && count > in_left(in) / 4)
        in_fail(in, "more variables than bytes");
    return in->error ? 0 : count;
}

void put_told_type(struct out *out, const struct told_type *told)
{
    put_u16(out, told->code);
    put_text(out, told->name);
    put_u16(out, told->after_count);
    for (unsigned i = 0; i < told->after_count; i++)
        put_u16(out, told->after[i]);
}

bool get_told_type(struct in *in, struct told_type *told)
{
    told->code = get_u16(in);
    told->name = get_text(in);
    told->after_count = get_u16(in);
    if (told->after_count > LIMIT_AFTER)
        in_fail(in, "a type comes after too many others");
    if (in->error)
        told->after_count = 0;
    for (unsigned i = 0; i < told->after_count; i++)
        told->after[i] = get_u16(in);
    if (!in->error && (told->code == 0 || told->code >= LIMIT_TYPES || !told->name.size))
        in_fail(in, "a type has no code or no name");
    return in_done(in);
}

void put_told_shape(struct out *out, const struct told_shape *told)
{
    put_u16(out, told->code);
    put_u16(out, told->count);
    for (unsigned i = 0; i < told->count; i++) {
        put_u16(out, told->steps[i].type_a);
        put_u16(out, told->steps[i].type_b);
        put_u32(out, told->steps[i].flags);
    }
}

bool get_told_shape(struct in *in, struct told_shape *told)
{
    told->code = get_u16(in);
    told->count = get_u16(in);
    if (told->code < SHAPE_COMPOUND || told->code - SHAPE_COMPOUND >= LIMIT_SHAPES ||
        told->count == 0 || told->count > LIMIT_STEPS)
        in_fail(in, "a shape has a bad code or number of steps");
    if (in->error)
        told->count = 0;
    for (unsigned i = 0; i < told->count; i++) {
        told->steps[i].type_a = get_u16(in);
        told->steps[i].type_b = get_u16(in);
        told->steps[i].flags = get_u32(in);
    }
    return in_done(in);
}

void put_told_rename(struct out *out, const struct told_rename *told)
{
    put_u32(out, told->line);
    put_text(out, told->name);
    put_u64(out, told->since);
}

bool get_told_rename(struct in *in, struct told_rename *told)
{
    told->line = get_u32(in);
    told->name = get_text(in);
    told->since = in_left(in) ? get_u64(in) : 0;
    return in_done(in);
}

void put_told_losses(struct out *out, const struct told_losses *told)
{
    put_u64(out, told->waited_ns);
    put_u64(out, told->dropped);
    put_u64(out, told->unfollowed);
    put_u64(out, told->left);
    put_u64(out, told->left_told);
}

bool get_told_losses(struct in *in, struct told_losses *told)
{
    told->waited_ns = get_u64(in);
    told->dropped = get_u64(in);
    told->unfollowed = get_u64(in);
    told->left = in_left(in) ? get_u64(in) : 0;
    told->left_told = in_left(in) ? get_u64(in) : 0;
    return in_done(in);
}
