#include "wire/state_bands.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

enum thread_state_code band_thread_state_code(enum band_thread_state class)
{
    static const uint8_t codes[BAND_LIVINGS] = {[BAND_LIVING_START] = THREAD_STATE_CREATED,
                                                [BAND_LIVING_READY] = THREAD_STATE_RUNNABLE,
                                                [BAND_LIVING_RUNNING] = THREAD_STATE_RUNNING,
                                                [BAND_LIVING_MEETING] = THREAD_STATE_BLOCKED,
                                                [BAND_LIVING_EXCLUSION] = THREAD_STATE_BLOCKED,
                                                [BAND_LIVING_TIMER] = THREAD_STATE_BLOCKED,
                                                [BAND_LIVING_UNKNOWN] = THREAD_STATE_UNATTRIBUTED,
                                                [BAND_LIVING_TERMINATE] = THREAD_STATE_EXITED,
                                                [BAND_LIVING_SYSTEM] = THREAD_STATE_OFF_CPU};
    return codes[class];
}

static bool state_bands_same_cell(const struct state_band_cell *a, const struct state_band_cell *b)
{
    return memcmp(a->share, b->share, sizeof a->share) == 0 && a->about == b->about;
}

/* Encodes runs of equal cells: u32 length, a byte for each class, u32 about. */
static void encode_row(struct encoder *out, const struct state_band_cell *cells, uint32_t pixels,
                       unsigned classes)
{
    for (uint32_t i = 0, end; i < pixels; i = end) {
        for (end = i + 1; end < pixels && state_bands_same_cell(&cells[i], &cells[end]);)
            end++;
        encode_u32(out, end - i);
        for (unsigned k = 0; k < classes; k++)
            encode_u8(out, cells[i].share[k]);
        encode_u32(out, cells[i].about);
    }
}

void encode_state_bands(struct encoder *out, const struct state_bands *s)
{
    encode_u8(out, s->by_time);
    encode_u64(out, (uint64_t)s->from);
    encode_u64(out, (uint64_t)s->to);
    encode_u64(out, s->known);
    encode_u64(out, s->count);
    encode_u8(out, s->classes);
    encode_u8(out, s->measured);
    encode_u32(out, s->pixels);
    encode_u32(out, s->row_count);
    for (uint32_t i = 0; i < s->row_count; i++) {
        encode_u32(out, s->rows[i]);
        encode_row(out, s->cells + (size_t)i * s->pixels, s->pixels, s->classes);
    }
}

static void decode_row(struct decoder *in, struct state_band_cell *cells, uint32_t pixels,
                       unsigned classes)
{
    for (uint32_t i = 0; i < pixels && !in->error;) {
        struct state_band_cell cell = {0};
        uint32_t n = decode_u32(in);
        for (unsigned k = 0; k < classes; k++)
            cell.share[k] = decode_u8(in);
        cell.about = decode_u32(in);
        if (n == 0 || n > pixels - i)
            decoder_fail(in, "invalid strip length");
        for (uint32_t end = i + n; !in->error && i < end; i++)
            cells[i] = cell;
    }
}

void decode_state_bands(struct decoder *in, struct state_bands *s)
{
    *s = (struct state_bands){.by_time = decode_u8(in) != 0};
    s->from = (int64_t)decode_u64(in);
    s->to = (int64_t)decode_u64(in);
    s->known = decode_u64(in);
    s->count = decode_u64(in);
    s->classes = decode_u8(in);
    if (s->classes != BAND_CLASSES && s->classes != BAND_LIVINGS)
        decoder_fail(in, "strip with other states");
    s->measured = decode_u8(in);
    if (s->measured > BAND_MEASURED_ALL)
        decoder_fail(in, "strip with another measurement");
    uint32_t pixels = decode_u32(in), n = decode_count(in, 8);
    size_t most = LIMIT_ANSWER_BYTES / 2 / sizeof *s->cells;
    if (in->error || pixels > LIMIT_PIXELS || (pixels && n > most / pixels)) {
        decoder_fail(in, "invalid strip size");
        return;
    }
    s->rows = calloc(n + 1, sizeof *s->rows);
    s->cells = calloc((size_t)n * pixels + 1, sizeof *s->cells);
    if (!s->rows || !s->cells) {
        decoder_fail(in, "out of memory");
        return;
    }
    s->pixels = pixels;
    for (; s->row_count < n && !in->error; s->row_count++) {
        s->rows[s->row_count] = decode_u32(in);
        decode_row(in, s->cells + (size_t)s->row_count * pixels, pixels, s->classes);
    }
}

void state_bands_free(struct state_bands *s)
{
    free(s->rows);
    free(s->cells);
    *s = (struct state_bands){0};
}
