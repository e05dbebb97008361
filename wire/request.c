#include "wire/request.h"

#include "wire/event_types.h"
#include "wire/fields.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

/* clang-format off */
#define WINDOW_FIELDS(F, o) \
    F(u8, o, anchor) F(event_id, o, event) F(u64, o, position) F(fraction, o, fraction) \
    F(i32, o, from) F(u32, o, columns) F(u8, o, fold)
#define MOVE_FIELDS(F, o) F(u32, o, line) F(flag, o, to) F(move, o, events)
#define SITE_FIELDS(F, o) F(u32, o, process) F(u64, o, address)
/* clang-format on */

static void encode_fraction(struct encoder *out, double fraction)
{
    uint64_t bits;
    memcpy(&bits, &fraction, sizeof bits);
    encode_u64(out, bits);
}

/* Returns 0 for a number that is not a fraction. */
static double decode_fraction(struct decoder *in)
{
    uint64_t bits = decode_u64(in);
    double fraction;
    memcpy(&fraction, &bits, sizeof fraction);
    return fraction >= 0 && fraction <= 1 ? fraction : 0;
}

/* By how many events a line is moved. */
static void encode_move(struct encoder *out, int64_t events) { encode_i64(out, events); }
static int64_t decode_move(struct decoder *in)
{
    int64_t events = decode_i64(in);
    if (events > INT64_MAX / 2 || events < INT64_MIN / 2)
        decoder_fail(in, "invalid scroll request");
    return in->error ? 0 : events;
}

enum { FIELD_BYTES_move = 8 };

const char *request_type_name(unsigned what)
{
    switch (what) {
#define Q(number, NAME, name)                                                                      \
    case number:                                                                                   \
        return #NAME;
        REQUESTS(Q)
#undef Q
    default:
        return "unknown";
    }
}

const char *response_chunk_name(unsigned part)
{
    switch (part) {
#define P(number, NAME)                                                                            \
    case number:                                                                                   \
        return #NAME;
        RESPONSE_CHUNKS(P)
#undef P
    default:
        return "unknown";
    }
}

void encode_request(struct encoder *out, uint32_t id, enum request_type what,
                    const struct encoder *body)
{
    encoder_begin_message(out, MESSAGE_REQUEST);
    encode_u32(out, id);
    encode_u16(out, (uint16_t)what);
    if (body)
        encode_bytes(out, body->data, body->size);
    encoder_end_message(out);
}

void decode_request_header(struct decoder *in, struct request_header *asked)
{
    asked->id = decode_u32(in);
    asked->what = decode_u16(in);
    if (!in->error && !asked->id)
        decoder_fail(in, "request without an id");
}

void encode_cancel(struct encoder *out, uint32_t id)
{
    encoder_begin_message(out, MESSAGE_CANCEL);
    encode_u32(out, id);
    encoder_end_message(out);
}

void response_chunk_begin(struct response *reply, enum response_chunk_type part)
{
    encoder_begin_message(reply->out, MESSAGE_RESPONSE);
    encode_u32(reply->out, reply->id);
    encode_u8(reply->out, false);
    reply->last = reply->out->size;
    encode_u16(reply->out, (uint16_t)part);
}

void response_chunk_end(struct response *reply) { encoder_end_message(reply->out); }

void response_finish(struct response *reply)
{
    if (!reply->last) {
        response_chunk_begin(reply, RESPONSE_END);
        response_chunk_end(reply);
    }
    if (!reply->out->failed)
        reply->out->data[reply->last - 1] = true;
}

void response_error(struct encoder *out, uint32_t id, const char *why)
{
    struct response reply = {out, id, 0};
    response_chunk_begin(&reply, RESPONSE_ERROR);
    encode_string(out, why);
    response_chunk_end(&reply);
    response_finish(&reply);
}

void decode_response_chunk(struct decoder *in, struct response_chunk *answer)
{
    *answer = (struct response_chunk){.id = decode_u32(in), .in = in};
    answer->last = decode_u8(in) != 0;
    answer->part = decode_u16(in);
}

/* ---- bodies of requests ---- */

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
    WINDOW_FIELDS(FIELD_ENCODE, r)
    encode_u64(out, (uint64_t)r->time_ns);
    encode_u64(out, r->column_ns);
    ENCODE_LIST(r->moves, r->move_count, MOVE_FIELDS);
    encode_rows(out, r->rows, r->joined, r->row_count);
    encode_u32(out, r->most_rows);
    encode_u32(out, (uint32_t)r->middle);
    if (r->early)
        encode_u8(out, 1);
}

void decode_window_request(struct decoder *in, struct window_request *r)
{
    *r = (struct window_request){0};
    WINDOW_FIELDS(FIELD_DECODE, r)
    if (r->anchor >= ANCHORS || r->columns == 0 || r->columns > LIMIT_COLUMNS ||
        r->from > (1 << 30) || r->from < -(1 << 30))
        decoder_fail(in, "invalid window");
    r->time_ns = (int64_t)decode_u64(in);
    r->column_ns = decode_u64(in);
    DECODE_LIST(r->moves, r->move_count, MOVE_FIELDS);
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

void encode_search_request(struct encoder *out, const struct search_request *r)
{
    encode_u64(out, r->from);
    encode_u8(out, (uint8_t)(r->backwards | r->any << 1 | r->count << 2 | r->expression << 3));
    encode_u32(out, r->limit);
    encode_numbers(out, r->types, r->type_count);
    encode_numbers(out, r->lines, r->line_count);
    ENCODE_LIST(r->sites, r->site_count, SITE_FIELDS);
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
    DECODE_LIST(r->sites, r->site_count, SITE_FIELDS);
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
