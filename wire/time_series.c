#include "wire/time_series.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

void encode_series_request(struct encoder *out, const struct series_request *r)
{
    encode_u64(out, (uint64_t)r->from);
    encode_u64(out, (uint64_t)r->to);
    encode_u32(out, r->pixels);
    encode_u8(out, r->groups);
    encode_u8(out, r->threads);
    encode_string(out, r->meter);
    encode_u32(out, r->line_count);
    for (uint32_t i = 0; i < r->line_count; i++)
        encode_u32(out, r->lines[i]);
}

void decode_series_request(struct decoder *in, struct series_request *r)
{
    *r = (struct series_request){.from = (int64_t)decode_u64(in)};
    r->to = (int64_t)decode_u64(in);
    r->pixels = decode_u32(in);
    r->groups = decode_u8(in);
    r->threads = decode_u8(in) != 0;
    r->meter = decode_string(in, LIMIT_TEXT_BYTES);
    uint32_t n = decode_count(in, 4);
    if (!r->pixels || r->pixels > LIMIT_PIXELS || n > LIMIT_LINES_ASKED ||
        r->groups > SERIES_GROUPS)
        decoder_fail(in, "invalid curve request");
    if (in->error)
        return;
    r->lines = calloc(n + 1u, sizeof *r->lines);
    if (!r->lines) {
        decoder_fail(in, "out of memory");
        return;
    }
    for (; r->line_count < n; r->line_count++)
        r->lines[r->line_count] = decode_u32(in);
}

void series_request_free(struct series_request *r)
{
    free(r->meter);
    free(r->lines);
    *r = (struct series_request){0};
}

/* ---- responses ---- */

static bool time_series_same_pixel(const struct series_pixel *a, const struct series_pixel *b)
{
    return a->known == b->known && a->least == b->least && a->mean == b->mean && a->most == b->most;
}

/* Encodes runs of equal pixels: u32 length, u8 known; unless NOTHING, u64 minimum, mean,
 * maximum. */
static void encode_pixels(struct encoder *out, const struct series_pixel *pixels, uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && time_series_same_pixel(&pixels[i], &pixels[end]);)
            end++;
        encode_u32(out, end - i);
        encode_u8(out, pixels[i].known);
        if (pixels[i].known == SERIES_NOTHING)
            continue;
        encode_u64(out, (uint64_t)pixels[i].least);
        encode_u64(out, (uint64_t)pixels[i].mean);
        encode_u64(out, (uint64_t)pixels[i].most);
    }
}

static struct series_pixel decode_pixel(struct decoder *in)
{
    struct series_pixel pixel = {.known = decode_u8(in)};
    if (pixel.known > SERIES_RECORDED)
        decoder_fail(in, "invalid curve pixel");
    if (in->error || pixel.known == SERIES_NOTHING)
        return pixel;
    pixel.least = (int64_t)decode_u64(in);
    pixel.mean = (int64_t)decode_u64(in);
    pixel.most = (int64_t)decode_u64(in);
    if (pixel.least > pixel.mean || pixel.mean > pixel.most)
        decoder_fail(in, "invalid curve pixel: mean not between minimum and maximum");
    return pixel;
}

static void decode_pixels(struct decoder *in, struct series_pixel *pixels, uint32_t count)
{
    for (uint32_t i = 0; i < count && !in->error;) {
        uint32_t n = decode_u32(in);
        struct series_pixel pixel = decode_pixel(in);
        if (n == 0 || n > count - i)
            decoder_fail(in, "invalid curve length");
        for (uint32_t end = i + n; !in->error && i < end; i++)
            pixels[i] = pixel;
    }
}

void encode_time_series(struct encoder *out, const struct time_series_set *s)
{
    encode_u64(out, (uint64_t)s->from);
    encode_u64(out, (uint64_t)s->to);
    encode_u32(out, s->pixels);
    encode_u32(out, s->left_out);
    encode_u32(out, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct time_series *c = &s->items[i];
        encode_u32(out, c->thread);
        encode_u32(out, c->meter);
        encode_u8(out, (uint8_t)(c->grows | c->exact << 1));
        encode_u64(out, (uint64_t)c->scale);
        encode_string(out, c->program);
        encode_string(out, c->name);
        encode_string(out, c->unit);
        encode_pixels(out, c->pixels, s->pixels);
    }
}

static void decode_curve(struct decoder *in, struct time_series *c, uint32_t pixels)
{
    c->thread = decode_u32(in);
    c->meter = decode_u32(in);
    uint8_t flags = decode_u8(in);
    c->grows = flags & 1;
    c->exact = flags & 2;
    c->scale = (int64_t)decode_u64(in);
    if (c->scale < 1 || flags > 3)
        decoder_fail(in, "invalid curve scale");
    c->program = decode_name(in, LIMIT_TEXT_BYTES);
    c->name = decode_name(in, LIMIT_TEXT_BYTES);
    c->unit = decode_name(in, LIMIT_TEXT_BYTES);
    c->pixels = in->error ? NULL : calloc(pixels + 1u, sizeof *c->pixels);
    if (!c->pixels)
        decoder_fail(in, "out of memory");
    else
        decode_pixels(in, c->pixels, pixels);
}

void decode_time_series(struct decoder *in, struct time_series_set *s)
{
    *s = (struct time_series_set){.from = (int64_t)decode_u64(in)};
    s->to = (int64_t)decode_u64(in);
    s->pixels = decode_u32(in);
    s->left_out = decode_u32(in);
    uint32_t n = decode_count(in, 28);
    if (in->error || s->to <= s->from || !s->pixels || s->pixels > LIMIT_PIXELS ||
        n > LIMIT_CURVE_PIXELS / s->pixels) {
        decoder_fail(in, "invalid curve size");
        return;
    }
    s->items = calloc(n + 1u, sizeof *s->items);
    if (!s->items) {
        decoder_fail(in, "out of memory");
        return;
    }
    while (s->count < n && !in->error)
        decode_curve(in, &s->items[s->count++], s->pixels);
}

void time_series_free(struct time_series_set *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->items[i].program);
        free(s->items[i].name);
        free(s->items[i].unit);
        free(s->items[i].pixels);
    }
    free(s->items);
    *s = (struct time_series_set){0};
}
