#include "wire/asked.h"

#include "wire/limits.h"
#include "wire/ref.h"

#include <stdlib.h>
#include <string.h>

static void put_rows(struct out *out, const uint32_t *rows, const uint8_t *joined, uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(out, rows[i]);
        put_u8(out, joined && joined[i]);
    }
}

static void get_rows(struct in *in, uint32_t **rows, uint8_t **joined, uint32_t *count)
{
    uint32_t n = get_count(in, 5);
    *rows = get_room(in, n, sizeof **rows);
    *joined = get_room(in, n, sizeof **joined);
    for (*count = 0; *rows && *joined && *count < n; ++*count) {
        (*rows)[*count] = get_u32(in);
        (*joined)[*count] = get_u8(in) != 0;
    }
}

void put_window_request(struct out *out, const struct window_request *r)
{
    uint64_t fraction;
    memcpy(&fraction, &r->fraction, sizeof fraction);
    put_u8(out, r->anchor);
    put_ref(out, r->event);
    put_u64(out, r->position);
    put_u64(out, fraction);
    put_u32(out, (uint32_t)r->from);
    put_u32(out, r->columns);
    put_u8(out, r->fold);
    put_u64(out, (uint64_t)r->time_ns);
    put_u64(out, r->column_ns);
    put_u32(out, r->move_count);
    for (uint32_t i = 0; i < r->move_count; i++) {
        put_u32(out, r->moves[i].line);
        put_u8(out, r->moves[i].to);
        put_u64(out, (uint64_t)r->moves[i].events);
    }
    put_rows(out, r->rows, r->joined, r->row_count);
    put_u32(out, r->most_rows);
    put_u32(out, (uint32_t)r->middle);
    if (r->early)
        put_u8(out, 1);
}

void get_window_request(struct in *in, struct window_request *r)
{
    *r = (struct window_request){.anchor = get_u8(in)};
    r->event = get_ref(in);
    r->position = get_u64(in);
    uint64_t fraction = get_u64(in);
    memcpy(&r->fraction, &fraction, sizeof fraction);
    r->from = (int32_t)get_u32(in);
    r->columns = get_u32(in);
    r->fold = get_u8(in);
    if (r->anchor >= ANCHORS || r->columns == 0 || r->columns > LIMIT_COLUMNS ||
        r->from > (1 << 30) || r->from < -(1 << 30))
        in_fail(in, "asks for an impossible window");
    if (!(r->fraction >= 0 && r->fraction <= 1))
        r->fraction = 0;
    r->time_ns = (int64_t)get_u64(in);
    r->column_ns = get_u64(in);
    uint32_t n = get_count(in, 13);
    r->moves = get_room(in, n, sizeof *r->moves);
    for (; r->moves && r->move_count < n; r->move_count++) {
        r->moves[r->move_count].line = get_u32(in);
        r->moves[r->move_count].to = get_u8(in) != 0;
        int64_t events = (int64_t)get_u64(in);
        if (events > INT64_MAX / 2 || events < INT64_MIN / 2)
            in_fail(in, "asks for an impossible move");
        r->moves[r->move_count].events = in->error ? 0 : events;
    }
    get_rows(in, &r->rows, &r->joined, &r->row_count);
    r->most_rows = get_u32(in);
    r->middle = (int32_t)get_u32(in);
    r->early = in_left(in) && get_u8(in) & 1;
}

void window_request_free(struct window_request *r)
{
    free(r->moves);
    free(r->rows);
    free(r->joined);
    *r = (struct window_request){0};
}

void put_density_request(struct out *out, const struct density_request *r)
{
    put_u8(out, (uint8_t)(r->by_time | r->blocked << 1 | r->living << 2));
    put_u64(out, (uint64_t)r->from);
    put_u64(out, (uint64_t)r->to);
    put_u32(out, r->pixels);
    put_rows(out, r->rows, r->joined, r->row_count);
}

void get_density_request(struct in *in, struct density_request *r)
{
    *r = (struct density_request){0};
    uint8_t flags = get_u8(in);
    r->by_time = flags & 1;
    r->blocked = flags & 2;
    r->living = flags & 4;
    r->from = (int64_t)get_u64(in);
    r->to = (int64_t)get_u64(in);
    r->pixels = get_u32(in);
    if (r->pixels == 0 || r->pixels > LIMIT_PIXELS)
        in_fail(in, "asks for an impossible number of pixels");
    get_rows(in, &r->rows, &r->joined, &r->row_count);
}

void density_request_free(struct density_request *r)
{
    free(r->rows);
    free(r->joined);
    *r = (struct density_request){0};
}

static void put_numbers(struct out *out, const uint32_t *numbers, uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        put_u32(out, numbers[i]);
}

static uint32_t *get_numbers(struct in *in, uint32_t *count)
{
    uint32_t n = get_count(in, 4), *numbers = get_room(in, n, sizeof *numbers);
    for (*count = 0; numbers && *count < n; ++*count)
        numbers[*count] = get_u32(in);
    return numbers;
}

void put_search_request(struct out *out, const struct search_request *r)
{
    put_u64(out, r->from);
    put_u8(out, (uint8_t)(r->backwards | r->any << 1 | r->count << 2 | r->expression << 3));
    put_u32(out, r->limit);
    put_numbers(out, r->types, r->type_count);
    put_numbers(out, r->lines, r->line_count);
    put_u32(out, r->site_count);
    for (uint32_t i = 0; i < r->site_count; i++) {
        put_u32(out, r->sites[i].process);
        put_u64(out, r->sites[i].address);
    }
    put_string(out, r->text);
}

void get_search_request(struct in *in, struct search_request *r)
{
    *r = (struct search_request){.from = get_u64(in)};
    uint8_t flags = get_u8(in);
    r->backwards = flags & 1;
    r->any = flags & 2;
    r->count = flags & 4;
    r->expression = flags & 8;
    r->limit = get_u32(in);
    r->types = get_numbers(in, &r->type_count);
    r->lines = get_numbers(in, &r->line_count);
    uint32_t n = get_count(in, 12);
    r->sites = get_room(in, n, sizeof *r->sites);
    for (; r->sites && r->site_count < n; r->site_count++) {
        r->sites[r->site_count].process = get_u32(in);
        r->sites[r->site_count].address = get_u64(in);
    }
    r->text = get_string(in, LIMIT_TEXT_BYTES);
    if (r->limit > LIMIT_HITS)
        in_fail(in, "asks for too many hits");
}

void search_request_free(struct search_request *r)
{
    free(r->types);
    free(r->lines);
    free(r->sites);
    free(r->text);
    *r = (struct search_request){0};
}

void put_stands_request(struct out *out, const struct stands_request *r)
{
    put_ref(out, r->about);
    put_u32(out, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        put_u64(out, r->positions[i]);
}

void get_stands_request(struct in *in, struct stands_request *r)
{
    *r = (struct stands_request){.about = get_ref(in)};
    uint32_t n = get_count(in, 8);
    if (n > LIMIT_STANDS)
        in_fail(in, "asks about too many events");
    r->positions = get_room(in, in->error ? 0 : n, sizeof *r->positions);
    for (; r->positions && !in->error && r->count < n; r->count++)
        r->positions[r->count] = get_u64(in);
}

void stands_request_free(struct stands_request *r)
{
    free(r->positions);
    *r = (struct stands_request){0};
}

void put_want_request(struct out *out, const struct want_request *r)
{
    put_u32(out, r->mask);
    put_u32(out, r->bits);
    put_numbers(out, r->lines, r->line_count);
}

void get_want_request(struct in *in, struct want_request *r)
{
    *r = (struct want_request){.mask = get_u32(in)};
    r->bits = get_u32(in);
    r->lines = get_numbers(in, &r->line_count);
    if (r->line_count > LIMIT_LINES_ASKED)
        in_fail(in, "asks for too many lines");
}

void want_request_free(struct want_request *r)
{
    free(r->lines);
    *r = (struct want_request){0};
}
