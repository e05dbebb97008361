#include "wire/program_messages.h"

#include <string.h>

struct text_view text_view_of(const char *s)
{
    return (struct text_view){s, s ? (uint32_t)strlen(s) : 0};
}

/* ---- fields ---- */

static void encode_text(struct encoder *out, struct text_view text)
{
    encode_u32(out, text.size);
    encode_bytes(out, text.bytes, text.size);
}

static struct text_view decode_counted(struct decoder *in, size_t limit, const char *too_long)
{
    uint32_t size = decode_u32(in);
    if (!in->error && size > limit)
        decoder_fail(in, too_long);
    const uint8_t *bytes = decode_bytes(in, in->error ? 0 : size);
    return (struct text_view){(const char *)bytes, bytes ? size : 0};
}

static struct text_view decode_limited(struct decoder *in, size_t limit)
{
    struct text_view text = decode_counted(in, limit, "string too long");
    if (!text.size || !memchr(text.bytes, 0, text.size))
        return text;
    decoder_fail(in, "string contains a NUL byte");
    return (struct text_view){0};
}

static struct text_view decode_text(struct decoder *in)
{
    return decode_limited(in, LIMIT_TEXT_BYTES);
}

static void encode_label(struct encoder *out, struct text_view label) { encode_text(out, label); }
static struct text_view decode_label(struct decoder *in)
{
    return decode_limited(in, MESSAGE_LABEL_BYTES);
}

static void encode_build_id(struct encoder *out, struct text_view id) { encode_text(out, id); }
static struct text_view decode_build_id(struct decoder *in)
{
    return decode_counted(in, BUILD_ID_BYTES, "a build-id is too long");
}

/* ---- messages that are lists of fields ---- */

#define PUT(type, name) encode_##type(out, message->name);
#define GET(type, name) message->name = decode_##type(in);
#define M(name, fields)                                                                            \
    void encode_##name(struct encoder *out, const struct name##_message *message) { fields(PUT) }  \
    bool decode_##name(struct decoder *in, struct name##_message *message)                         \
    {                                                                                              \
        fields(GET) return decoder_finish(in);                                                     \
    }
PROGRAM_MESSAGES(M)
#undef M
#undef GET
#undef PUT

/* ---- other messages ---- */

void encode_hello(struct encoder *out, const struct program_hello *message)
{
    encode_u32(out, HELLO_MAGIC);
    encode_u32(out, WIRE_VERSION);
    encode_u8(out, message->role);
    if (message->role != ROLE_PROGRAM)
        return;
    encode_text(out, message->run);
    encode_text(out, message->environment);
    encode_text(out, message->path);
    encode_text(out, message->host);
    encode_u32(out, message->pid);
    encode_u64(out, message->instance);
    encode_u64(out, message->clock_ns);
    encode_u64(out, message->wall_ns);
    encode_u32(out, message->argument_count);
}

bool decode_hello(struct decoder *in, struct program_hello *message)
{
    *message = (struct program_hello){0};
    uint32_t magic = decode_u32(in);
    if (magic == HELLO_FORMER_MAGIC)
        decoder_fail(in, "of an older version of Poet; update the peer");
    if (magic != HELLO_MAGIC)
        decoder_fail(in, "HELLO without its magic number");
    message->version = decode_u32(in);
    message->role = decode_u8(in);
    if (message->version != WIRE_VERSION)
        decoder_fail(in, "protocol version mismatch");
    if (!in->error && message->role == ROLE_VIEWER)
        return true;
    if (message->role != ROLE_PROGRAM)
        decoder_fail(in, "neither a program nor a viewer");
    message->run = decode_label(in);
    message->environment = decode_label(in);
    message->path = decode_text(in);
    message->host = decode_label(in);
    message->pid = decode_u32(in);
    message->instance = decode_u64(in);
    message->clock_ns = decode_u64(in);
    message->wall_ns = decode_u64(in);
    message->argument_count = decode_u32(in);
    if (!in->error && message->argument_count > decoder_remaining(in) / 4)
        decoder_fail(in, "more arguments than bytes");
    if (!in->error && !message->run.size)
        decoder_fail(in, "no run named");
    return !in->error;
}

void encode_argument(struct encoder *out, struct text_view argument) { encode_text(out, argument); }

struct text_view decode_argument(struct decoder *in) { return decode_text(in); }

void encode_variables(struct encoder *out, uint32_t count) { encode_u32(out, count); }

uint32_t decode_variables(struct decoder *in)
{
    uint32_t count = in->error || !decoder_remaining(in) ? 0 : decode_u32(in);
    if (!in->error && count > decoder_remaining(in) / 4)
        decoder_fail(in, "more variables than bytes");
    return in->error ? 0 : count;
}

void encode_type(struct encoder *out, const struct type_message *message)
{
    encode_u16(out, message->code);
    encode_text(out, message->name);
    encode_u16(out, message->after_count);
    for (unsigned i = 0; i < message->after_count; i++)
        encode_u16(out, message->after[i]);
}

bool decode_type(struct decoder *in, struct type_message *message)
{
    message->code = decode_u16(in);
    message->name = decode_text(in);
    message->after_count = decode_u16(in);
    if (message->after_count > LIMIT_AFTER)
        decoder_fail(in, "a type comes after too many others");
    if (in->error)
        message->after_count = 0;
    for (unsigned i = 0; i < message->after_count; i++)
        message->after[i] = decode_u16(in);
    if (!in->error && (message->code == 0 || message->code >= LIMIT_TYPES || !message->name.size))
        decoder_fail(in, "a type has no code or no name");
    return decoder_finish(in);
}

void encode_shape(struct encoder *out, const struct shape_message *message)
{
    encode_u16(out, message->code);
    encode_u16(out, message->count);
    for (unsigned i = 0; i < message->count; i++) {
        encode_u16(out, message->steps[i].type_a);
        encode_u16(out, message->steps[i].type_b);
        encode_u32(out, message->steps[i].flags);
    }
}

bool decode_shape(struct decoder *in, struct shape_message *message)
{
    message->code = decode_u16(in);
    message->count = decode_u16(in);
    if (message->code < SHAPE_COMPOUND || message->code - SHAPE_COMPOUND >= LIMIT_SHAPES ||
        message->count == 0 || message->count > LIMIT_STEPS)
        decoder_fail(in, "a shape has a bad code or number of steps");
    if (in->error)
        message->count = 0;
    for (unsigned i = 0; i < message->count; i++) {
        message->steps[i].type_a = decode_u16(in);
        message->steps[i].type_b = decode_u16(in);
        message->steps[i].flags = decode_u32(in);
    }
    return decoder_finish(in);
}

void encode_rename(struct encoder *out, const struct rename_message *message)
{
    encode_u32(out, message->line);
    encode_text(out, message->name);
    encode_u64(out, message->since);
}

bool decode_rename(struct decoder *in, struct rename_message *message)
{
    message->line = decode_u32(in);
    message->name = decode_text(in);
    message->since = decode_u64(in);
    return decoder_finish(in);
}

void encode_losses(struct encoder *out, const struct losses_message *message)
{
    encode_u64(out, message->waited_ns);
    encode_u64(out, message->dropped);
    encode_u64(out, message->unfollowed);
    encode_u64(out, message->left);
    encode_u64(out, message->left_known);
    encode_u64(out, message->gone_ns);
}

bool decode_losses(struct decoder *in, struct losses_message *message)
{
    message->waited_ns = decode_u64(in);
    message->dropped = decode_u64(in);
    message->unfollowed = decode_u64(in);
    message->left = decode_u64(in);
    message->left_known = decode_u64(in);
    message->gone_ns = decode_u64(in);
    return decoder_finish(in);
}
