#include "server/cuts/cut_reader.h"

#include "base/alloc.h"
#include "server/cuts/cut_info.h"
#include "server/cuts/cut_records.h"
#include "server/order/delivery/known_events.h"
#include "server/order/log/log_block.h"
#include "server/run/run.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

struct cut_reader {
    struct run *run;
    uint32_t *sites; /* of the run, by number - 1 of the cut */
    size_t site_count, site_room;
    struct cut_line {
        uint64_t number;
    } *lines[2]; /* the last numbers, by line - 1: of visible lines, of hidden ones */
    size_t line_room[2];
    int64_t time_ns; /* of the event before */
    uint64_t *edges;
    size_t edge_room;
};

struct cut_reader *cut_reader_new(struct run *run)
{
    struct cut_reader *reader = xcalloc(1, sizeof *reader);
    reader->run = run;
    return reader;
}

void cut_reader_free(struct cut_reader *reader)
{
    if (!reader)
        return;
    free(reader->sites);
    free(reader->lines[0]);
    free(reader->lines[1]);
    free(reader->edges);
    free(reader);
}

bool cut_reader_accepts(const struct chunk *chunk)
{
    return chunk->kind == CHUNK_CUT || chunk->kind == CHUNK_EVENTS || chunk->kind == CHUNK_LEFT_OUT;
}

/* ---- the begin and the end ---- */

static bool cut_reader_begin(struct cut_reader *reader, struct decoder *in)
{
    struct cut_info *cut = cut_info_make(reader->run);
    if (cut->source || cut->types)
        decoder_fail(in, "a cut begins twice");
    char *source = decode_string(in, LIMIT_TEXT_BYTES),
         *selection = decode_string(in, LIMIT_TEXT_BYTES);
    uint32_t count = decode_count(in, 4);
    if (!in->error) {
        cut->source = text_readable(source, strlen(source), false);
        cut->selection = text_readable(selection, strlen(selection), false);
        cut->types = xcalloc(count, sizeof *cut->types);
    }
    for (uint32_t i = 0; i < count && !in->error; i++) {
        char *name = decode_string(in, LIMIT_TEXT_BYTES);
        cut->types[i] = in->error ? 0 : run_type(reader->run, name);
        cut->type_count = i + 1;
        free(name);
    }
    cut->prefix = decode_u8(in) & 1;
    free(cut->keeps);
    cut->keeps = decode_string(in, LIMIT_TEXT_BYTES);
    free(source);
    free(selection);
    return decoder_finish(in);
}

static bool cut_reader_end(struct cut_reader *reader, struct decoder *in)
{
    struct cut_info *cut = cut_info_make(reader->run);
    cut->kept = decode_u64(in);
    cut->left_out = decode_u64(in);
    cut->threads_left_out = decode_u32(in);
    for (uint32_t n = decode_count(in, 4); n && !in->error; n--)
        map_put(&cut->continuing, decode_u32(in), 0, cut);
    for (uint32_t n = decode_count(in, 4); n && !in->error; n--)
        order_forget_occupants(reader->run->order, decode_u32(in));
    cut->whole = decoder_finish(in);
    return cut->whole;
}

/* ---- events ---- */

static void cut_reader_site(struct cut_reader *reader, struct decoder *in)
{
    uint64_t process = decode_varint(in), address = decode_varint(in), caller = decode_varint(in);
    struct site site = {.process = (uint32_t)process, .address = address};
    if (process >= reader->run->processes.count)
        decoder_fail(in, "a call site in an unknown program");
    else if (caller > CUT_CALLER_FIRST + reader->site_count)
        decoder_fail(in, "an unknown caller");
    else if (caller > CUT_CALLER_FIRST)
        site.caller = reader->sites[caller - CUT_CALLER_FIRST - 1];
    else
        site.caller = caller == CUT_CALLER_CUT       ? SITE_CUT
                      : caller == CUT_CALLER_UNKNOWN ? SITE_UNKNOWN
                                                     : 0;
    if (in->error)
        return;
    reader->sites = array_reserve(reader->sites, &reader->site_room, reader->site_count + 1,
                                  sizeof *reader->sites);
    reader->sites[reader->site_count++] = site_table_add(&reader->run->sites, site);
}

/* Returns the place of a line's last number, or NULL if the line cannot be. */
static uint64_t *cut_reader_number(struct cut_reader *reader, uint32_t line)
{
    bool hidden = line & HIDDEN_LINE;
    uint32_t n = line & ~HIDDEN_LINE;
    const struct order *order = reader->run->order;
    if (!n || n > (hidden ? order_hidden_lines(order) + 1 : order_line_count(order)))
        return NULL;
    reader->lines[hidden] = array_reserve_zeroed(reader->lines[hidden], &reader->line_room[hidden],
                                                 n, sizeof *reader->lines[hidden]);
    return &reader->lines[hidden][n - 1].number;
}

static void cut_reader_edges(struct cut_reader *reader, struct decoder *in, struct order_event *e)
{
    uint64_t count = decode_varint(in), sends = count ? decode_varint(in) : 0,
             position = order_count(reader->run->order);
    if (count > decoder_remaining(in) || sends > count)
        decoder_fail(in, "too many edges");
    if (in->error)
        return;
    e->edge_count = (uint32_t)count;
    e->send_count = (uint32_t)sends;
    reader->edges =
        array_reserve(reader->edges, &reader->edge_room, count + 1, sizeof *reader->edges);
    for (uint64_t i = 0; i < count && !in->error; i++) {
        uint64_t distance = decode_varint(in);
        if (!distance || distance > position)
            decoder_fail(in, "an edge from no event");
        reader->edges[i] = position - distance;
    }
}

static void cut_reader_texts(struct cut_reader *reader, struct decoder *in, struct event_id at)
{
    for (uint64_t n = decode_varint(in); n && !in->error; n--) {
        uint64_t size = decode_varint(in);
        const uint8_t *bytes = size <= LIMIT_PAYLOAD_BYTES ? decode_bytes(in, (size_t)size) : NULL;
        char *text = bytes ? text_readable((const char *)bytes, (size_t)size, true) : NULL;
        if (text)
            run_add_text(reader->run, at, text);
        else
            decoder_fail(in, "an invalid annotation");
        free(text);
    }
}

static void cut_reader_set_flags(struct order_event *e, unsigned flags, unsigned more)
{
    e->relation = flags & CUT_EVENT_RELATION;
    e->state = flags & CUT_EVENT_INCONSISTENT ? EVENT_CONTRADICTORY : EVENT_ORDERED;
    e->partner_lost = flags & CUT_EVENT_PARTNER_LOST;
    e->opened = flags & CUT_EVENT_OPENED;
    e->after_gap = flags & CUT_EVENT_AFTER_GAP;
    e->sends = flags & CUT_EVENT_SENDS;
    e->doubt = more & CUT_EVENT_DOUBT;
}

static uint32_t cut_reader_code(struct decoder *in, size_t most)
{
    uint64_t code = decode_varint(in);
    if (code > most)
        decoder_fail(in, "an unknown code");
    return in->error ? 0 : (uint32_t)code;
}

static void cut_reader_event(struct cut_reader *reader, struct decoder *in)
{
    struct run *run = reader->run;
    const struct cut_info *cut = cut_info_make(run);
    struct order_event e = {0};
    uint8_t flags = decode_u8(in), more = decode_u8(in);
    cut_reader_set_flags(&e, flags, more);
    e.line = block_line_of(cut_reader_code(in, UINT32_MAX));
    uint64_t *last = cut_reader_number(reader, e.line);
    if (!last)
        decoder_fail(in, "an event on an unknown line");
    if (in->error)
        return;
    e.number = *last + decode_varint(in);
    e.time_ns = (int64_t)((uint64_t)reader->time_ns + (uint64_t)cut_unzigzag(decode_varint(in)));
    e.point = order_count(run->order) - decode_varint(in);
    e.thread = cut_reader_code(in, order_line_count(run->order));
    e.about = cut_reader_code(in, order_line_count(run->order));
    uint32_t site = cut_reader_code(in, reader->site_count),
             type = cut_reader_code(in, cut->type_count);
    e.site = site ? reader->sites[site - 1] : 0;
    e.type = type ? cut->types[type - 1] : 0;
    cut_reader_edges(reader, in, &e);
    if (!in->error && !order_append_known(run->order, e, reader->edges, !cut->prefix))
        decoder_fail(in, "an event that cannot be");
    if (in->error)
        return;
    *last = e.number;
    reader->time_ns = e.time_ns;
    run->clock.last_ns = e.time_ns > run->clock.last_ns ? e.time_ns : run->clock.last_ns;
    if (more & CUT_EVENT_TEXTS)
        cut_reader_texts(reader, in, (struct event_id){e.line, e.number});
}

static bool cut_reader_events(struct cut_reader *reader, struct decoder *in)
{
    while (decoder_remaining(in) && !in->error) {
        uint8_t kind = decode_u8(in);
        if (kind == CUT_RECORD_SITE)
            cut_reader_site(reader, in);
        else if (kind == CUT_RECORD_EVENT)
            cut_reader_event(reader, in);
        else
            decoder_fail(in, "an unknown record");
    }
    reader->run->generation++;
    return decoder_finish(in);
}

bool cut_reader_apply(struct cut_reader *reader, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    return chunk.kind == CHUNK_CUT      ? cut_reader_begin(reader, &in)
           : chunk.kind == CHUNK_EVENTS ? cut_reader_events(reader, &in)
                                        : cut_reader_end(reader, &in);
}
