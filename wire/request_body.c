#include "wire/request_body.h"

#include "wire/limits.h"
#include "wire/event_id.h"

#include <stdlib.h>
#include <string.h>

static void encode_rows(struct encoder *out, const uint32_t *rows, const uint8_t *joined,
                        uint32_t count)
{
    encode_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        encode_u32(out, rows[i]);
        encode_u8(out, joined && joined[i]);
    }
}

static void decode_rows(struct decoder *in, uint32_t **rows, uint8_t **joined, uint32_t *count)
{
    uint32_t n = decode_count(in, 5);
    *rows = decode_array(in, n, sizeof **rows);
    *joined = decode_array(in, n, sizeof **joined);
    for (*count = 0; *rows && *joined && *count < n; ++*count) {
        (*rows)[*count] = decode_u32(in);
        (*joined)[*count] = decode_u8(in) != 0;
    }
}

void encode_window_request(struct encoder *out, const struct window_request *r)
{
    uint64_t fraction;
    memcpy(&fraction, &r->fraction, sizeof fraction);
    encode_u8(out, r->anchor);
    encode_event_id(out, r->event);
    encode_u64(out, r->position);
    encode_u64(out, fraction);
    encode_u32(out, (uint32_t)r->from);
    encode_u32(out, r->columns);
    encode_u8(out, r->fold);
    encode_u64(out, (uint64_t)r->time_ns);
    encode_u64(out, r->column_ns);
    encode_u32(out, r->move_count);
    for (uint32_t i = 0; i < r->move_count; i++) {
        encode_u32(out, r->moves[i].line);
        encode_u8(out, r->moves[i].to);
        encode_u64(out, (uint64_t)r->moves[i].events);
    }
    encode_rows(out, r->rows, r->joined, r->row_count);
    encode_u32(out, r->most_rows);
    encode_u32(out, (uint32_t)r->middle);
    if (r->early)
        encode_u8(out, 1);
}

void decode_window_request(struct decoder *in, struct window_request *r)
{
    *r = (struct window_request){.anchor = decode_u8(in)};
    r->event = decode_event_id(in);
    r->position = decode_u64(in);
    uint64_t fraction = decode_u64(in);
    memcpy(&r->fraction, &fraction, sizeof fraction);
    r->from = (int32_t)decode_u32(in);
    r->columns = decode_u32(in);
    r->fold = decode_u8(in);
    if (r->anchor >= ANCHORS || r->columns == 0 || r->columns > LIMIT_COLUMNS ||
        r->from > (1 << 30) || r->from < -(1 << 30))
        decoder_fail(in, "invalid window");
    if (!(r->fraction >= 0 && r->fraction <= 1))
        r->fraction = 0;
    r->time_ns = (int64_t)decode_u64(in);
    r->column_ns = decode_u64(in);
    uint32_t n = decode_count(in, 13);
    r->moves = decode_array(in, n, sizeof *r->moves);
    for (; r->moves && r->move_count < n; r->move_count++) {
        r->moves[r->move_count].line = decode_u32(in);
        r->moves[r->move_count].to = decode_u8(in) != 0;
        int64_t events = (int64_t)decode_u64(in);
        if (events > INT64_MAX / 2 || events < INT64_MIN / 2)
            decoder_fail(in, "invalid scroll request");
        r->moves[r->move_count].events = in->error ? 0 : events;
    }
    decode_rows(in, &r->rows, &r->joined, &r->row_count);
    r->most_rows = decode_u32(in);
    r->middle = (int32_t)decode_u32(in);
    r->early = decoder_remaining(in) && decode_u8(in) & 1;
}

void window_request_free(struct window_request *r)
{
    free(r->moves);
    free(r->rows);
    free(r->joined);
    *r = (struct window_request){0};
}

void encode_density_request(struct encoder *out, const struct density_request *r)
{
    encode_u8(out,
              (uint8_t)(r->by_time | r->blocked << 1 | r->living << 2 | (r->untils != NULL) << 3));
    encode_u64(out, (uint64_t)r->from);
    encode_u64(out, (uint64_t)r->to);
    encode_u32(out, r->pixels);
    encode_rows(out, r->rows, r->joined, r->row_count);
    for (uint32_t i = 0; r->untils && i < r->row_count; i++)
        encode_u64(out, (uint64_t)r->untils[i]);
}

static void decode_untils(struct decoder *in, struct density_request *r)
{
    r->untils = decode_array(in, r->row_count, sizeof *r->untils);
    for (uint32_t i = 0; r->untils && i < r->row_count; i++)
        r->untils[i] = (int64_t)decode_u64(in);
}

void decode_density_request(struct decoder *in, struct density_request *r)
{
    *r = (struct density_request){0};
    uint8_t flags = decode_u8(in);
    r->by_time = flags & 1;
    r->blocked = flags & 2;
    r->living = flags & 4;
    r->from = (int64_t)decode_u64(in);
    r->to = (int64_t)decode_u64(in);
    r->pixels = decode_u32(in);
    if (r->pixels == 0 || r->pixels > LIMIT_PIXELS)
        decoder_fail(in, "invalid number of pixels");
    decode_rows(in, &r->rows, &r->joined, &r->row_count);
    if (flags & 8 && !in->error)
        decode_untils(in, r);
}

void density_request_free(struct density_request *r)
{
    free(r->rows);
    free(r->joined);
    free(r->untils);
    *r = (struct density_request){0};
}

static void encode_numbers(struct encoder *out, const uint32_t *numbers, uint32_t count)
{
    encode_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        encode_u32(out, numbers[i]);
}

static uint32_t *decode_numbers(struct decoder *in, uint32_t *count)
{
    uint32_t n = decode_count(in, 4), *numbers = decode_array(in, n, sizeof *numbers);
    for (*count = 0; numbers && *count < n; ++*count)
        numbers[*count] = decode_u32(in);
    return numbers;
}

void encode_search_request(struct encoder *out, const struct search_request *r)
{
    encode_u64(out, r->from);
    encode_u8(out, (uint8_t)(r->backwards | r->any << 1 | r->count << 2 | r->expression << 3));
    encode_u32(out, r->limit);
    encode_numbers(out, r->types, r->type_count);
    encode_numbers(out, r->lines, r->line_count);
    encode_u32(out, r->site_count);
    for (uint32_t i = 0; i < r->site_count; i++) {
        encode_u32(out, r->sites[i].process);
        encode_u64(out, r->sites[i].address);
    }
    encode_string(out, r->text);
}

void decode_search_request(struct decoder *in, struct search_request *r)
{
    *r = (struct search_request){.from = decode_u64(in)};
    uint8_t flags = decode_u8(in);
    r->backwards = flags & 1;
    r->any = flags & 2;
    r->count = flags & 4;
    r->expression = flags & 8;
    r->limit = decode_u32(in);
    r->types = decode_numbers(in, &r->type_count);
    r->lines = decode_numbers(in, &r->line_count);
    uint32_t n = decode_count(in, 12);
    r->sites = decode_array(in, n, sizeof *r->sites);
    for (; r->sites && r->site_count < n; r->site_count++) {
        r->sites[r->site_count].process = decode_u32(in);
        r->sites[r->site_count].address = decode_u64(in);
    }
    r->text = decode_string(in, LIMIT_TEXT_BYTES);
    if (r->limit > LIMIT_HITS)
        decoder_fail(in, "too many hits requested");
}

void search_request_free(struct search_request *r)
{
    free(r->types);
    free(r->lines);
    free(r->sites);
    free(r->text);
    *r = (struct search_request){0};
}

void encode_relations_request(struct encoder *out, const struct relations_request *r)
{
    encode_event_id(out, r->about);
    encode_u32(out, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        encode_u64(out, r->positions[i]);
}

void decode_relations_request(struct decoder *in, struct relations_request *r)
{
    *r = (struct relations_request){.about = decode_event_id(in)};
    uint32_t n = decode_count(in, 8);
    if (n > LIMIT_STANDS)
        decoder_fail(in, "too many events requested");
    r->positions = decode_array(in, in->error ? 0 : n, sizeof *r->positions);
    for (; r->positions && !in->error && r->count < n; r->count++)
        r->positions[r->count] = decode_u64(in);
}

void relations_request_free(struct relations_request *r)
{
    free(r->positions);
    *r = (struct relations_request){0};
}

void encode_measurement_request(struct encoder *out, const struct measurement_request *r)
{
    encode_u32(out, r->mask);
    encode_u32(out, r->bits);
    encode_numbers(out, r->lines, r->line_count);
}

void decode_measurement_request(struct decoder *in, struct measurement_request *r)
{
    *r = (struct measurement_request){.mask = decode_u32(in)};
    r->bits = decode_u32(in);
    r->lines = decode_numbers(in, &r->line_count);
    if (r->line_count > LIMIT_LINES_ASKED)
        decoder_fail(in, "too many lines requested");
}

void measurement_request_free(struct measurement_request *r)
{
    free(r->lines);
    *r = (struct measurement_request){0};
}
