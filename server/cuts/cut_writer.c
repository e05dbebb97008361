#include "server/cuts/cut_writer.h"

#include "base/alloc.h"
#include "server/cuts/cut_bridges.h"
#include "server/cuts/cut_info.h"
#include "server/cuts/cut_names.h"
#include "server/cuts/cut_records.h"
#include "server/order/log/log_block.h"
#include "server/tracefile/chunks.h"
#include "wire/trace_header.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS_BYTES 60000u /* of a chunk of events */
#define HOLDS_AT 96u /* in the head: what the file holds */

struct cut_writer {
    const struct run *run;
    struct cut_selection selection;
    struct cut_names names;
    struct cut_bridges *bridges; /* NULL: no event is left out between others */
    enum { CUT_SELECTING, CUT_BEGINNING, CUT_COPYING, CUT_ENDING, CUT_DONE } stage;
    uint64_t begin, end, at; /* positions: of the selection; of the next event */
    /* kept events from `begin` on, a bit each, and how many there are before each word of bits */
    uint64_t *kept, *before;
    uint64_t count;
    struct encoder out, events;
    struct cut_line_written {
        uint64_t number; /* of its last event in the cut */
    } *lines[2];
    uint32_t *hidden; /* by hidden line - 1: its number in the cut; 0: none yet */
    uint32_t hidden_count;
    uint32_t *sites; /* by number - 1: that in the cut; 0: none yet */
    uint32_t site_count;
    int64_t time_ns;
    bool doubtful; /* what is left out before the cut may hide order */
    struct cut_figures figures;
    uint64_t *edges; /* of the event that is written: positions in the run */
    size_t edge_room;
};

struct cut_writer *cut_writer_new(const struct run *run, struct cut_selection *selection)
{
    struct cut_writer *w = xcalloc(1, sizeof *w);
    w->run = run;
    w->selection = *selection;
    *selection = (struct cut_selection){0};
    return w;
}

void cut_writer_free(struct cut_writer *w)
{
    if (!w)
        return;
    cut_selection_free(&w->selection);
    cut_names_free(&w->names);
    cut_bridges_free(w->bridges);
    encoder_free(&w->out);
    encoder_free(&w->events);
    free(w->kept);
    free(w->before);
    free(w->lines[0]);
    free(w->lines[1]);
    free(w->hidden);
    free(w->sites);
    free(w->edges);
    free(w);
}

const char *cut_writer_problem(const struct cut_writer *w)
{
    if (w->bridges && cut_bridges_too_many(w->bridges))
        return "the order among so many lines takes too much memory; select fewer of them";
    return w->out.failed || w->events.failed ? "out of memory" : NULL;
}

struct cut_figures cut_writer_figures(const struct cut_writer *w) { return w->figures; }

uint32_t cut_writer_line(const struct cut_writer *w, uint32_t number)
{
    return number && number <= w->names.count ? w->names.kept[number - 1] : 0;
}

/* ---- the begin ---- */

static void cut_writer_put_head(struct cut_writer *w)
{
    uint8_t head[TRACEHEAD_BYTES] = TRACEHEAD_MAGIC;
    uint64_t begun = w->run->clock.wall_ns;
    chunk_set_u32(head + 8, 1);
    snprintf((char *)head + 12, 36, "%.35s", w->run->name);
    head[HOLDS_AT] = 2; /* the run has ended */
    head[HOLDS_AT + 1] = (uint8_t)~2u;
    chunk_set_u64(head + TRACEHEAD_BEGUN_AT, begun);
    chunk_set_u64(head + TRACEHEAD_BEGUN_AT + 8, ~begun);
    encode_bytes(&w->out, head, sizeof head);
}

/* Returns whether all that happened before an event of the cut is in it. */
static bool cut_writer_is_prefix(const struct cut_writer *w)
{
    const struct cut_info *cut = cut_info_of(w->run);
    return !w->selection.since && !cut_selection_has_holes(&w->selection) &&
           !order_first(w->run->order) && (!cut || cut->prefix);
}

static void cut_writer_put_selection(struct cut_writer *w)
{
    struct encoder body = {0};
    encode_string(&body, w->run->key);
    encode_string(&body, w->selection.text);
    encode_u32(&body, (uint32_t)w->run->types.count);
    for (size_t i = 0; i < w->run->types.count; i++)
        encode_string(&body, w->run->types.items[i]);
    encode_u8(&body, cut_writer_is_prefix(w));
    encode_string(&body, w->selection.keeps);
    cut_put_chunk(&w->out, CHUNK_CUT, 0, 0, &body);
    encoder_free(&body);
}

static void cut_writer_begin(struct cut_writer *w)
{
    const struct order *order = w->run->order;
    uint64_t first = order_first(order), begin = cut_selection_begin(&w->selection);
    w->begin = w->at = begin > first ? begin : first;
    w->end = cut_selection_end(&w->selection);
    w->end = w->end > w->begin ? w->end : w->begin;
    w->kept = xcalloc((w->end - w->begin) / 64 + 1, sizeof *w->kept);
    w->before = xcalloc((w->end - w->begin) / 64 + 1, sizeof *w->before);
    w->lines[0] = xcalloc(order_line_count(order) + 1u, sizeof *w->lines[0]);
    w->lines[1] = xcalloc(order_hidden_lines(order) + 1u, sizeof *w->lines[1]);
    w->hidden = xcalloc(order_hidden_lines(order) + 1u, sizeof *w->hidden);
    w->sites = xcalloc(w->run->sites.count + 1, sizeof *w->sites);
    w->doubtful = (w->selection.since || first) && order_figures(order).doubtful;
    if (cut_selection_has_holes(&w->selection))
        w->bridges = cut_bridges_new(order, w->begin);
    cut_writer_put_head(w);
    cut_writer_put_selection(w);
    cut_names_begin(&w->names, w->run, &w->out);
}

/* ---- kept positions ---- */

static void cut_writer_keep(struct cut_writer *w, uint64_t position)
{
    uint64_t i = position - w->begin;
    if (!w->kept[i / 64])
        w->before[i / 64] = w->count;
    w->kept[i / 64] |= UINT64_C(1) << i % 64;
    w->count++;
}

/* Returns the position in the cut, NO_POSITION if the event is not there. */
static uint64_t cut_writer_position(const struct cut_writer *w, uint64_t position)
{
    uint64_t i = position - w->begin;
    if (position < w->begin || position >= w->end || !(w->kept[i / 64] >> i % 64 & 1))
        return NO_POSITION;
    uint64_t earlier = w->kept[i / 64] & ((UINT64_C(1) << i % 64) - 1);
    return w->before[i / 64] + (uint64_t)__builtin_popcountll(earlier);
}

/* ---- events ---- */

/* Returns the number of a site in the cut, after writing it and its callers. */
static uint32_t cut_writer_site(struct cut_writer *w, uint32_t number)
{
    const struct site *site = site_table_at(&w->run->sites, number);
    if (!site || number > w->run->sites.count)
        return 0;
    if (w->sites[number - 1])
        return w->sites[number - 1];
    uint64_t caller = site->caller == SITE_CUT       ? CUT_CALLER_CUT
                      : site->caller == SITE_UNKNOWN ? CUT_CALLER_UNKNOWN
                                                     : 0;
    uint32_t by = caller || !site->caller ? 0 : cut_writer_site(w, site->caller);
    uint32_t program = cut_names_program(&w->names, site->process);
    encode_u8(&w->events, CUT_RECORD_SITE);
    encode_varint(&w->events, program);
    encode_varint(&w->events, site->address);
    encode_varint(&w->events, by ? CUT_CALLER_FIRST + (uint64_t)by : caller);
    return w->sites[number - 1] = ++w->site_count;
}

static uint32_t cut_writer_line_number(struct cut_writer *w, uint32_t line)
{
    if (!(line & HIDDEN_LINE))
        return cut_names_line(&w->names, line);
    uint32_t *number = &w->hidden[(line & ~HIDDEN_LINE) - 1];
    if (!*number)
        *number = ++w->hidden_count;
    return HIDDEN_LINE | *number;
}

/* Appends edges that are in the cut to w->edges, as positions there. */
static void cut_writer_add_edges(struct cut_writer *w, uint32_t *count, const uint64_t *from,
                                 size_t more)
{
    w->edges = array_reserve(w->edges, &w->edge_room, *count + more + 1, sizeof *w->edges);
    for (size_t i = 0; i < more; i++) {
        uint64_t position = cut_writer_position(w, from[i]);
        if (position != NO_POSITION)
            w->edges[(*count)++] = position;
    }
}

/* Collects the edges of an event in the cut: sends first, then others, the one that opened its line
 * last. */
static void cut_writer_collect_edges(struct cut_writer *w, uint64_t position, size_t member,
                                     struct order_event *e)
{
    const struct order *order = w->run->order;
    uint32_t count = 0, opener = e->opened ? e->edge_count - 1 : e->edge_count, sends = 0;
    for (uint32_t i = 0; i < opener; i++) {
        uint64_t from = order_edge(order, position, i);
        cut_writer_add_edges(w, &count, &from, 1);
        sends = i < e->send_count ? count : sends;
    }
    size_t more = 0;
    const uint64_t *bridges = w->bridges ? cut_bridges_edges(w->bridges, member, &more) : NULL;
    cut_writer_add_edges(w, &count, bridges, more);
    uint32_t before = count;
    if (e->opened) {
        uint64_t from = order_edge(order, position, opener);
        cut_writer_add_edges(w, &count, &from, 1);
    }
    e->opened = count > before;
    e->edge_count = count;
    e->send_count = sends;
}

static void cut_writer_put_texts(struct cut_writer *w, const struct run_text *text)
{
    encode_varint(&w->events, text->count);
    for (; text; text = text->next) {
        encode_varint(&w->events, strlen(text->text));
        encode_bytes(&w->events, text->text, strlen(text->text));
    }
}

static unsigned cut_writer_flags(const struct order_event *e)
{
    return e->relation | (e->partner_lost ? CUT_EVENT_PARTNER_LOST : 0) |
           (e->opened ? CUT_EVENT_OPENED : 0) | (e->after_gap ? CUT_EVENT_AFTER_GAP : 0) |
           (e->sends && e->relation != RELATION_SEND ? CUT_EVENT_SENDS : 0);
}

/* Sets what an event has in the cut and not in the run. point: in the cut; alone: its partner is
 * left out. */
static void cut_writer_adapt(struct cut_writer *w, struct order_event *e, uint64_t position,
                             size_t member, bool alone)
{
    bool hidden = e->line & HIDDEN_LINE;
    const struct cut_line_written *line = &w->lines[hidden][(e->line & ~HIDDEN_LINE) - 1];
    if (!e->doubt && w->bridges)
        e->doubt = cut_bridges_doubt(w->bridges, member);
    if (!e->doubt && w->doubtful && !line->number)
        e->doubt = UNTRACED_LOST;
    if (alone && (e->relation == RELATION_SYNC || e->relation == RELATION_GROUP))
        e->relation = RELATION_NONE;
    cut_writer_collect_edges(w, position, member, e);
}

static void cut_writer_put_event(struct cut_writer *w, uint64_t position, uint64_t point,
                                 size_t member, bool alone, struct order_event e)
{
    cut_writer_adapt(w, &e, position, member, alone);
    uint32_t number = cut_writer_line_number(w, e.line),
             thread = cut_names_line(&w->names, e.thread),
             about = cut_names_line(&w->names, e.about), site = cut_writer_site(w, e.site);
    struct cut_line_written *line = &w->lines[number >> 31][(e.line & ~HIDDEN_LINE) - 1];
    const struct run_text *text =
        w->run->annotations.count ? run_texts(w->run, (struct event_id){e.line, e.number}) : NULL;
    uint64_t here = cut_writer_position(w, position);
    struct encoder *out = &w->events;
    encode_u8(out, CUT_RECORD_EVENT);
    encode_u8(out, (uint8_t)cut_writer_flags(&e));
    encode_u8(out, (uint8_t)(e.doubt | (text ? CUT_EVENT_TEXTS : 0)));
    encode_varint(out, block_line_code(number));
    encode_varint(out, e.number - line->number);
    encode_varint(out, cut_zigzag((int64_t)((uint64_t)e.time_ns - (uint64_t)w->time_ns)));
    encode_varint(out, here - point);
    encode_varint(out, thread);
    encode_varint(out, about);
    encode_varint(out, site);
    encode_varint(out, e.type);
    encode_varint(out, e.edge_count);
    if (e.edge_count)
        encode_varint(out, e.send_count);
    for (uint32_t i = 0; i < e.edge_count; i++)
        encode_varint(out, here - w->edges[i]);
    if (text)
        cut_writer_put_texts(w, text);
    line->number = e.number;
    w->time_ns = e.time_ns;
    w->figures.events += !(e.line & HIDDEN_LINE);
}

static void cut_writer_flush(struct cut_writer *w)
{
    if (w->events.size)
        cut_put_chunk(&w->out, CHUNK_EVENTS, 0, 0, &w->events);
    w->events.size = 0;
}

#define POINT_MEMBERS 16u /* of a point of which no memory is allocated */

/* Copies the events of the next point that are selected. */
static void cut_writer_copy_point(struct cut_writer *w, uint64_t *budget)
{
    const struct order *order = w->run->order;
    uint64_t first = w->at, last = order_point_end(order, first), point = w->count;
    size_t members = (size_t)(last - first + 1), kept = 0;
    bool few[POINT_MEMBERS], *has = members > POINT_MEMBERS ? xmalloc(members) : few;
    for (uint64_t p = first; p <= last; p++) {
        struct order_event e = order_event(order, p);
        has[p - first] = p < w->end && cut_selection_has(&w->selection, p, &e);
        kept += has[p - first];
        if (has[p - first])
            cut_writer_keep(w, p);
    }
    if (w->bridges)
        cut_bridges_pass(w->bridges, first, last, has);
    for (uint64_t p = first; p <= last; p++)
        if (has[p - first])
            cut_writer_put_event(w, p, point, (size_t)(p - first), kept == 1,
                                 order_event(order, p));
    if (has != few)
        free(has);
    w->at = last + 1;
    *budget -= members < *budget ? members : *budget;
    if (w->events.size >= EVENTS_BYTES)
        cut_writer_flush(w);
}

/* ---- the end ---- */

/* Returns whether the cut has the last event of a line: of a thread on whichever line. */
static bool cut_writer_is_whole(const void *context, uint32_t line)
{
    const struct cut_writer *w = context;
    const struct order *order = w->run->order;
    uint64_t last = order_thread_last(order, line), count = order_line_events(order, line);
    if (last == NO_POSITION && count > order_line_first(order, line))
        last = order_line_at(order, line, count - 1);
    return last == NO_POSITION || cut_writer_position(w, last) != NO_POSITION;
}

/* Appends the lines of which it is not known which threads are in them at the end: their last event
 * is left out, and so may be others before it. */
static void cut_writer_put_unknown(const struct cut_writer *w, struct encoder *body)
{
    struct encoder list = {0};
    for (uint32_t i = 0; i < w->names.count && !cut_writer_is_prefix(w); i++) {
        uint32_t line = w->names.kept[i];
        uint64_t count = order_line_events(w->run->order, line);
        uint64_t last = count > order_line_first(w->run->order, line)
                            ? order_line_at(w->run->order, line, count - 1)
                            : NO_POSITION;
        if (last != NO_POSITION && cut_writer_position(w, last) == NO_POSITION)
            encode_u32(&list, i + 1);
    }
    encode_u32(body, (uint32_t)(list.size / 4));
    encode_bytes(body, list.data, list.size);
    encoder_free(&list);
}

/* Appends the threads that continued after the cut, and how many are not in it at all. */
static void cut_writer_put_left_out(struct cut_writer *w)
{
    const struct run *run = w->run;
    struct encoder body = {0}, list = {0};
    bool live = run->programs.connected > 0;
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        if (order_line_is_evicted(run->order, line) ||
            order_thread_last(run->order, line) == NO_POSITION)
            continue;
        bool continues = live || cut_info_continues(run, line) || !cut_writer_is_whole(w, line);
        uint32_t number = w->lines[0][line - 1].number ? w->names.lines[line - 1] : 0;
        w->figures.threads_left_out += !number;
        w->figures.threads_continuing += number && continues;
        if (number && continues)
            encode_u32(&list, number);
    }
    const struct cut_info *cut = cut_info_of(run);
    w->figures.threads_left_out += cut ? cut->threads_left_out : 0;
    w->figures.left_out = order_figures(run->order).events - w->figures.events;
    encode_u64(&body, w->figures.events);
    encode_u64(&body, w->figures.left_out);
    encode_u32(&body, w->figures.threads_left_out);
    encode_u32(&body, w->figures.threads_continuing);
    encode_bytes(&body, list.data, list.size);
    cut_writer_put_unknown(w, &body);
    cut_put_chunk(&w->out, CHUNK_LEFT_OUT, 0, 0, &body);
    encoder_free(&body);
    encoder_free(&list);
}

static void cut_writer_end(struct cut_writer *w)
{
    const struct run *run = w->run;
    cut_writer_flush(w);
    cut_writer_put_left_out(w);
    cut_names_end(&w->names, cut_writer_is_whole, w);
    w->figures.lines = w->names.count;
    w->figures.renumbered = order_line_count(run->order) > CUT_LINES_ALL;
    if (!run->programs.connected && !run->file.unfinished) {
        bool all = !w->figures.threads_continuing && !w->figures.threads_left_out;
        struct encoder body = {0};
        encode_u64(&body, all ? (uint64_t)run->clock.ended_ns : 0);
        cut_put_chunk(&w->out, CHUNK_END, 0, 0, &body);
        encoder_free(&body);
    }
}

/* ---- steps ---- */

bool cut_writer_step(struct cut_writer *w, uint64_t budget, struct encoder *out)
{
    if (w->stage == CUT_SELECTING && cut_selection_step(&w->selection, budget))
        w->stage = CUT_BEGINNING;
    if (w->stage == CUT_BEGINNING) {
        cut_writer_begin(w);
        w->stage = CUT_COPYING;
    }
    while (w->stage == CUT_COPYING && w->at < w->end && budget)
        cut_writer_copy_point(w, &budget);
    if (w->stage == CUT_COPYING && w->at >= w->end) {
        cut_writer_end(w);
        w->stage = CUT_DONE;
    }
    encode_bytes(out, w->out.data, w->out.size);
    w->out.size = 0;
    return w->stage == CUT_DONE;
}
