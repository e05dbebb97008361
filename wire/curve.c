#include "wire/curve.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- the question ---- */

void put_curve_request(struct out *out, const struct curve_request *r)
{
    put_u64(out, (uint64_t)r->from);
    put_u64(out, (uint64_t)r->to);
    put_u32(out, r->pixels);
    put_u8(out, r->groups);
    put_u8(out, r->threads);
    put_string(out, r->meter);
    put_u32(out, r->line_count);
    for (uint32_t i = 0; i < r->line_count; i++)
        put_u32(out, r->lines[i]);
}

void get_curve_request(struct in *in, struct curve_request *r)
{
    *r = (struct curve_request){.from = (int64_t)get_u64(in)};
    r->to = (int64_t)get_u64(in);
    r->pixels = get_u32(in);
    r->groups = get_u8(in);
    r->threads = get_u8(in) != 0;
    r->meter = get_string(in, LIMIT_TEXT_BYTES);
    uint32_t n = get_count(in, 4);
    if (!r->pixels || r->pixels > LIMIT_PIXELS || n > LIMIT_LINES_ASKED ||
        r->groups > (CURVE_USAGE | CURVE_MEMORY | CURVE_OWN))
        in_fail(in, "curves of an impossible size, or of something unknown");
    if (in->error)
        return;
    r->lines = calloc(n + 1u, sizeof *r->lines);
    if (!r->lines) {
        in_fail(in, "out of memory");
        return;
    }
    for (; r->line_count < n; r->line_count++)
        r->lines[r->line_count] = get_u32(in);
}

void curve_request_free(struct curve_request *r)
{
    free(r->meter);
    free(r->lines);
    *r = (struct curve_request){0};
}

/* ---- the answer ---- */

static bool same(const struct curve_pixel *a, const struct curve_pixel *b)
{
    return a->known == b->known && a->least == b->least && a->mean == b->mean && a->most == b->most;
}

/* Pixels that are alike, in one. */
static void put_pixels(struct out *out, const struct curve_pixel *pixels, uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same(&pixels[i], &pixels[end]);)
            end++;
        put_u32(out, end - i);
        put_u8(out, pixels[i].known);
        if (pixels[i].known == CURVE_NOTHING)
            continue;
        put_u64(out, (uint64_t)pixels[i].least);
        put_u64(out, (uint64_t)pixels[i].mean);
        put_u64(out, (uint64_t)pixels[i].most);
    }
}

static struct curve_pixel get_pixel(struct in *in)
{
    struct curve_pixel pixel = {.known = get_u8(in)};
    if (pixel.known > CURVE_TOLD)
        in_fail(in, "a pixel of a curve that is known in no known way");
    if (in->error || pixel.known == CURVE_NOTHING)
        return pixel;
    pixel.least = (int64_t)get_u64(in);
    pixel.mean = (int64_t)get_u64(in);
    pixel.most = (int64_t)get_u64(in);
    if (pixel.least > pixel.mean || pixel.mean > pixel.most)
        in_fail(in, "a pixel of a curve whose mean is not between least and most");
    return pixel;
}

static void get_pixels(struct in *in, struct curve_pixel *pixels, uint32_t count)
{
    for (uint32_t i = 0; i < count && !in->error;) {
        uint32_t n = get_u32(in);
        struct curve_pixel pixel = get_pixel(in);
        if (n == 0 || n > count - i)
            in_fail(in, "a curve that does not fit");
        for (uint32_t end = i + n; !in->error && i < end; i++)
            pixels[i] = pixel;
    }
}

void put_curves(struct out *out, const struct shown_curves *s)
{
    put_u64(out, (uint64_t)s->from);
    put_u64(out, (uint64_t)s->to);
    put_u32(out, s->pixels);
    put_u32(out, s->left_out);
    put_u32(out, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct shown_curve *c = &s->items[i];
        put_u32(out, c->thread);
        put_u32(out, c->meter);
        put_u8(out, (uint8_t)(c->grows | c->exact << 1));
        put_u64(out, (uint64_t)c->scale);
        put_string(out, c->program);
        put_string(out, c->name);
        put_string(out, c->unit);
        put_pixels(out, c->pixels, s->pixels);
    }
}

static void get_curve(struct in *in, struct shown_curve *c, uint32_t pixels)
{
    c->thread = get_u32(in);
    c->meter = get_u32(in);
    uint8_t flags = get_u8(in);
    c->grows = flags & 1;
    c->exact = flags & 2;
    c->scale = (int64_t)get_u64(in);
    if (c->scale < 1 || flags > 3)
        in_fail(in, "a curve of an impossible scale");
    c->program = get_name(in, LIMIT_TEXT_BYTES);
    c->name = get_name(in, LIMIT_TEXT_BYTES);
    c->unit = get_name(in, LIMIT_TEXT_BYTES);
    c->pixels = in->error ? NULL : calloc(pixels + 1u, sizeof *c->pixels);
    if (!c->pixels)
        in_fail(in, "out of memory");
    else
        get_pixels(in, c->pixels, pixels);
}

void get_curves(struct in *in, struct shown_curves *s)
{
    *s = (struct shown_curves){.from = (int64_t)get_u64(in)};
    s->to = (int64_t)get_u64(in);
    s->pixels = get_u32(in);
    s->left_out = get_u32(in);
    uint32_t n = get_count(in, 28);
    if (in->error || s->to <= s->from || !s->pixels || s->pixels > LIMIT_PIXELS ||
        n > LIMIT_CURVE_PIXELS / s->pixels) {
        in_fail(in, "curves of an impossible size");
        return;
    }
    s->items = calloc(n + 1u, sizeof *s->items);
    if (!s->items) {
        in_fail(in, "out of memory");
        return;
    }
    while (s->count < n && !in->error)
        get_curve(in, &s->items[s->count++], s->pixels);
}

void shown_curves_free(struct shown_curves *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->items[i].program);
        free(s->items[i].name);
        free(s->items[i].unit);
        free(s->items[i].pixels);
    }
    free(s->items);
    *s = (struct shown_curves){0};
}
