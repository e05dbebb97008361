#include "wire/strip.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

static bool same(const struct strip_cell *a, const struct strip_cell *b)
{
    return memcmp(a->share, b->share, sizeof a->share) == 0 && a->about == b->about;
}

/* Cells that are alike, in one: u32 how many, a byte for each class, u32 about. */
static void put_row(struct out *out, const struct strip_cell *cells, uint32_t pixels,
                    unsigned classes)
{
    for (uint32_t i = 0, end; i < pixels; i = end) {
        for (end = i + 1; end < pixels && same(&cells[i], &cells[end]);)
            end++;
        put_u32(out, end - i);
        for (unsigned k = 0; k < classes; k++)
            put_u8(out, cells[i].share[k]);
        put_u32(out, cells[i].about);
    }
}

void put_strip(struct out *out, const struct shown_strip *s)
{
    put_u8(out, s->by_time);
    put_u64(out, (uint64_t)s->from);
    put_u64(out, (uint64_t)s->to);
    put_u64(out, s->known);
    put_u64(out, s->count);
    put_u8(out, s->classes);
    put_u32(out, s->pixels);
    put_u32(out, s->row_count);
    for (uint32_t i = 0; i < s->row_count; i++) {
        put_u32(out, s->rows[i]);
        put_row(out, s->cells + (size_t)i * s->pixels, s->pixels, s->classes);
    }
}

static void get_row(struct in *in, struct strip_cell *cells, uint32_t pixels, unsigned classes)
{
    for (uint32_t i = 0; i < pixels && !in->error;) {
        struct strip_cell cell = {0};
        uint32_t n = get_u32(in);
        for (unsigned k = 0; k < classes; k++)
            cell.share[k] = get_u8(in);
        cell.about = get_u32(in);
        if (n == 0 || n > pixels - i)
            in_fail(in, "a strip that does not fit");
        for (uint32_t end = i + n; !in->error && i < end; i++)
            cells[i] = cell;
    }
}

void get_strip(struct in *in, struct shown_strip *s)
{
    *s = (struct shown_strip){.by_time = get_u8(in) != 0};
    s->from = (int64_t)get_u64(in);
    s->to = (int64_t)get_u64(in);
    s->known = get_u64(in);
    s->count = get_u64(in);
    s->classes = get_u8(in);
    if (s->classes != STRIP_CLASSES && s->classes != STRIP_LIVINGS)
        in_fail(in, "a strip of other states");
    uint32_t pixels = get_u32(in), n = get_count(in, 8);
    size_t most = LIMIT_ANSWER_BYTES / 2 / sizeof *s->cells;
    if (in->error || pixels > LIMIT_PIXELS || (pixels && n > most / pixels)) {
        in_fail(in, "a strip of an impossible size");
        return;
    }
    s->rows = calloc(n + 1, sizeof *s->rows);
    s->cells = calloc((size_t)n * pixels + 1, sizeof *s->cells);
    if (!s->rows || !s->cells) {
        in_fail(in, "out of memory");
        return;
    }
    s->pixels = pixels;
    for (; s->row_count < n && !in->error; s->row_count++) {
        s->rows[s->row_count] = get_u32(in);
        get_row(in, s->cells + (size_t)s->row_count * pixels, pixels, s->classes);
    }
}

void shown_strip_free(struct shown_strip *s)
{
    free(s->rows);
    free(s->cells);
    *s = (struct shown_strip){0};
}
