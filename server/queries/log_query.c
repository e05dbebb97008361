/* Events in the order of the log: lists of them, single steps from one event to another, what is
 * between two events, and a dump of all. */
#include "base/alloc.h"
#include "server/eventloop/event_loop.h"
#include "server/queries/event_answer.h"
#include "server/queries/query.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/request_queue.h"
#include "server/run/untraced_reasons.h"
#include "wire/event_types.h"
#include "wire/layout_results.h"
#include "wire/limits.h"
#include "wire/query_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- lists ---- */

#define LOOKED_MOST 16384u /* positions searched if many events are on hidden lines */
#define STEPS_MOST 20000u  /* events of one line searched for an edge to another line */

static void log_range_answer_list(const struct run *run, struct decoder *in, struct response *reply)
{
    const struct order *order = run->order;
    uint64_t first = order_first(order), position = decode_u64(in);
    uint32_t count = decode_u32(in);
    if (!decoder_finish(in))
        return;
    position = position < first ? first : position;
    count = count > LIMIT_LIST ? LIMIT_LIST : count;
    uint64_t end =
        position + LOOKED_MOST < order_count(order) ? position + LOOKED_MOST : order_count(order);
    for (; count && position < end; position++) {
        struct order_event e = order_event(order, position);
        if (!e.line || e.line & HIDDEN_LINE)
            continue;
        event_answer_query(reply, run, (struct event_id){e.line, e.number});
        count--;
    }
    response_chunk_begin(reply, RESPONSE_LOG_POSITION);
    encode_u64(reply->out, position);
    encode_u64(reply->out, order_count(order));
    response_chunk_end(reply);
}

const struct query query_log_range = {.at_once = log_range_answer_list};

/* ---- steps ---- */

static uint64_t log_range_neighbor(const struct order *order, uint32_t line, uint64_t position,
                                   bool back)
{
    uint64_t i = order_line_from(order, line, position);
    if (back ? i <= order_line_first(order, line) : i + 1 >= order_line_events(order, line))
        return NO_POSITION;
    return order_line_at(order, line, back ? i - 1 : i + 1);
}

struct nearest_event {
    const struct order *order;
    uint32_t line;
    uint64_t position; /* of the nearest one so far */
    bool future;
};

static void log_range_offer_event(struct nearest_event *n, uint64_t position)
{
    struct order_event e = order_event(n->order, position);
    if (!e.line || e.line == n->line || e.line & HIDDEN_LINE)
        return;
    if (n->position == NO_POSITION || (n->future ? position < n->position : position > n->position))
        n->position = position;
}

static void log_range_offer_receive(void *context, uint64_t receive)
{
    log_range_offer_event(context, receive);
}

/* Offers the events of other lines that directly precede an event, or directly follow it. */
static void log_range_scan_neighbors(struct nearest_event *n, uint64_t position, bool own_point)
{
    struct order_event e = order_event(n->order, position);
    uint64_t end = order_point_end(n->order, position);
    for (uint64_t p = e.point; own_point && p <= end; p++)
        if (p != position)
            log_range_offer_event(n, p);
    for (uint32_t i = 0; !n->future && i < e.edge_count; i++)
        log_range_offer_event(n, order_edge(n->order, position, i));
    if (n->future && e.sends)
        order_receives(n->order, position, log_range_offer_receive, n);
}

/* Follows the line to the first event with an edge to another line; returns the event there. */
static uint64_t log_range_find_other_line(const struct order *order, uint32_t line,
                                          uint64_t position, bool future)
{
    struct nearest_event n = {order, line, NO_POSITION, future};
    log_range_scan_neighbors(&n, position, false);
    for (unsigned i = 0; n.position == NO_POSITION && i < STEPS_MOST; i++) {
        position = log_range_neighbor(order, line, position, !future);
        if (position == NO_POSITION)
            break;
        log_range_scan_neighbors(&n, position, true);
    }
    return n.position;
}

static void log_range_answer_step(const struct run *run, struct decoder *in, struct response *reply)
{
    const struct order *order = run->order;
    struct event_id from = decode_event_id(in);
    enum neighbor_step step = decode_u8(in);
    if (step >= STEPS)
        decoder_fail(in, "unknown kind of step requested");
    if (!decoder_finish(in))
        return;
    bool exists = from.line && !(from.line & HIDDEN_LINE) && from.line <= order_line_count(order);
    uint64_t position = exists ? order_position(order, from) : NO_POSITION, to = NO_POSITION;
    if (position != NO_POSITION)
        to = step == STEP_CAUSE || step == STEP_EFFECT
                 ? log_range_find_other_line(order, from.line, position, step == STEP_EFFECT)
                 : log_range_neighbor(order, from.line, position, step == STEP_LINE_BACK);
    struct order_event e = to == NO_POSITION ? (struct order_event){0} : order_event(order, to);
    referenced_lines_note(e.line);
    struct search_hit hit = {{e.line, e.number}, to};
    struct search_result found = {.done = true,
                                  .looked = 1,
                                  .count = to != NO_POSITION,
                                  .hits = &hit,
                                  .hit_count = to != NO_POSITION};
    response_chunk_begin(reply, RESPONSE_FOUND);
    encode_search_result(reply->out, &found);
    response_chunk_end(reply);
}

const struct query query_neighbor = {.at_once = log_range_answer_step};

/* ---- between two events: elapsed time, and the number of events of each type, as recorded ---- */

#define BETWEEN_SLICE 4096u /* events between two readings of the clock */
#define BETWEEN_COST 8u /* events for one unit of the budget */

struct between_job {
    const struct run *run;
    struct between_info span;
    uint64_t at, end; /* positions; those between `at` and `end` are still to be counted */
    uint64_t *counts; /* by type */
    uint32_t types;
    uint64_t most_ns, spent_ns; /* working time; most_ns 0: unlimited */
};

static bool between_find_event(const struct run *run, struct event_id at, uint64_t *position)
{
    bool there = at.line && !(at.line & HIDDEN_LINE) && at.line <= order_line_count(run->order);
    *position = there ? order_position(run->order, at) : NO_POSITION;
    return *position != NO_POSITION;
}

static void *between_begin(struct request_queue *queue, struct decoder *in)
{
    const struct run *run = queue->run;
    struct event_id a = decode_event_id(in), b = decode_event_id(in);
    uint64_t most_ns = decoder_remaining(in) ? 1000000u * (uint64_t)decode_u32(in) : 0;
    if (!decoder_finish(in))
        return NULL;
    struct between_job *job = xcalloc(1, sizeof *job);
    *job = (struct between_job){.run = run, .span = {.from = a, .to = b}, .most_ns = most_ns};
    job->types = (uint32_t)run->types.count + 1;
    job->counts = xcalloc(job->types, sizeof *job->counts);
    uint64_t first, last;
    job->span.known = between_find_event(run, a, &first) && between_find_event(run, b, &last);
    if (!job->span.known)
        return job;
    job->span.ns = order_event(run->order, last).time_ns - order_event(run->order, first).time_ns;
    job->at = first < last ? first : last;
    job->end = first < last ? last : first;
    return job;
}

/* Counts the events between the two, excluding both. */
static bool between_step(void *p, uint64_t budget)
{
    struct between_job *job = p;
    uint64_t began = loop_clock_ns();
    if (job->at < order_first(job->run->order))
        job->at = order_first(job->run->order); /* discarded meanwhile */
    for (; job->at + 1 < job->end && budget;
         budget -= budget < BETWEEN_SLICE / BETWEEN_COST ? budget : BETWEEN_SLICE / BETWEEN_COST) {
        uint64_t until =
            job->end - job->at - 1 < BETWEEN_SLICE ? job->end : job->at + 1 + BETWEEN_SLICE;
        order_count_types(job->run->order, job->at + 1, until, job->counts, job->types);
        job->at = until - 1;
    }
    job->spent_ns += loop_clock_ns() - began;
    job->span.whole = job->at + 1 >= job->end;
    return job->span.whole || (job->most_ns && job->spent_ns >= job->most_ns);
}

static bool between_put(void *p, struct response *reply)
{
    struct between_job *job = p;
    struct between_info span = job->span;
    struct type_count *kinds = xcalloc(job->types, sizeof *kinds);
    for (uint32_t type = 0; type < job->types; type++) {
        span.events += job->counts[type];
        if (job->counts[type])
            kinds[span.kind_count++] = (struct type_count){type, job->counts[type]};
    }
    span.kinds = kinds;
    response_chunk_begin(reply, RESPONSE_BETWEEN);
    encode_between(reply->out, &span);
    response_chunk_end(reply);
    free(kinds);
    return true;
}

static void between_free(void *p)
{
    struct between_job *job = p;
    free(job->counts);
    free(job);
}

const struct query query_between = {.begin = between_begin,
                                    .step = between_step,
                                    .put = between_put,
                                    .free = between_free,
                                    .most = LIMIT_QUERIES};

/* ---- dump ----
 *
 * Every event, pending events by line and number, inconsistent events, gaps. */

#define DUMP_WORK 4096u /* items visited in one step */

struct dump_job {
    const struct run *run;
    enum dump_stage {
        DUMP_HIDDEN,
        DUMP_EVENTS,
        DUMP_COLLECT,
        DUMP_PENDING,
        DUMP_TROUBLES,
        DUMP_GAPS,
        DUMP_DONE
    } stage;
    uint64_t at; /* progress of the stage: a position, a line */
    struct pending_walk walk;
    struct dump_run { /* sorted parts of the pending events, a heap by the next event of each */
        struct event_id *refs;
        size_t next, count;
    } *pieces;
    size_t piece_count, piece_room;
};

static void *dump_begin(struct request_queue *queue, struct decoder *in)
{
    if (!decoder_finish(in))
        return NULL;
    struct dump_job *dump = xcalloc(1, sizeof *dump);
    dump->run = queue->run;
    return dump;
}

static void free_job(void *p)
{
    struct dump_job *dump = p;
    pending_walk_end(&dump->walk);
    for (size_t i = 0; i < dump->piece_count; i++)
        free(dump->pieces[i].refs);
    free(dump->pieces);
    free(dump);
}

/* ---- events ---- */

static bool dump_send_hidden(struct dump_job *dump, struct encoder *out)
{
    uint64_t count = order_hidden_lines(dump->run->order);
    for (unsigned i = 0; i < DUMP_WORK && dump->at < count; i++)
        referenced_line_encode(out, dump->run, HIDDEN_LINE | (uint32_t)++dump->at);
    return dump->at == count;
}

static bool dump_send_events(struct dump_job *dump, struct response *reply, size_t enough,
                             bool contradictory)
{
    const struct order *order = dump->run->order;
    if (dump->at < order_first(order))
        dump->at = order_first(order);
    for (unsigned i = 0;
         i < DUMP_WORK && dump->at < order_count(order) && reply->out->size < enough; i++) {
        uint64_t position = dump->at++;
        struct order_event e = order_event(order, position);
        if ((e.state == EVENT_CONTRADICTORY) != contradictory ||
            !e.line) /* inconsistent events are sent last, damaged ones not at all */
            continue;
        struct event_info s = event_answer_info(dump->run, position);
        event_answer_encode(reply, &s);
        event_answer_free(&s);
    }
    return dump->at >= order_count(order);
}

/* ---- pending events ---- */

static int by_line(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool comes_before(const struct dump_run *a, const struct dump_run *b)
{
    return by_line(&a->refs[a->next], &b->refs[b->next]) < 0;
}

static void dump_sift_down(struct dump_job *dump, size_t i)
{
    struct dump_run *heap = dump->pieces, it = heap[i];
    for (size_t child; (child = 2 * i + 1) < dump->piece_count; i = child) {
        child += child + 1 < dump->piece_count && comes_before(&heap[child + 1], &heap[child]);
        if (!comes_before(&heap[child], &it))
            break;
        heap[i] = heap[child];
    }
    heap[i] = it;
}

/* Adds a sorted part of the pending events; returns true once it is the last one and the parts
 * form a heap. */
static bool dump_collect_run(struct dump_job *dump)
{
    struct dump_run piece = {.refs = NULL};
    size_t room = 0;
    if (!dump->walk.order)
        pending_walk_begin(dump->run->order, &dump->walk);
    piece.refs = array_reserve(NULL, &room, DUMP_WORK, sizeof *piece.refs);
    while (piece.count < DUMP_WORK && pending_walk_next(&dump->walk, &piece.refs[piece.count]))
        piece.count++;
    bool all = piece.count < DUMP_WORK;
    if (piece.count) {
        qsort(piece.refs, piece.count, sizeof *piece.refs, by_line);
        dump->pieces = array_reserve(dump->pieces, &dump->piece_room, dump->piece_count + 1,
                                     sizeof *dump->pieces);
        dump->pieces[dump->piece_count++] = piece;
    } else {
        free(piece.refs);
    }
    for (size_t i = all ? dump->piece_count / 2 : 0; i-- > 0;)
        dump_sift_down(dump, i);
    return all;
}

/* Sends an event that was pending, in its current state; not if it was sent as a delivered one. */
static void dump_send_waiting(struct dump_job *dump, struct response *reply, struct event_id at)
{
    const struct arrival *a = order_pending_at(dump->run->order, at);
    uint64_t position = a ? NO_POSITION : order_position(dump->run->order, at);
    if (!a && (position == NO_POSITION || position < dump->at))
        return;
    struct event_info s =
        a ? event_answer_pending(dump->run, a) : event_answer_info(dump->run, position);
    event_answer_encode(reply, &s);
    event_answer_free(&s);
}

static bool dump_send_pending(struct dump_job *dump, struct response *reply, size_t enough)
{
    for (unsigned i = 0; i < DUMP_WORK && dump->piece_count && reply->out->size < enough; i++) {
        struct dump_run *first = dump->pieces;
        dump_send_waiting(dump, reply, first->refs[first->next]);
        if (++first->next == first->count) {
            free(first->refs);
            *first = dump->pieces[--dump->piece_count];
        }
        if (dump->piece_count)
            dump_sift_down(dump, 0);
    }
    return !dump->piece_count;
}

/* ---- missing events ---- */

struct dump_output {
    struct response *reply;
    uint32_t line;
};

static void dump_send_missing(void *context, uint64_t first, uint64_t count)
{
    const struct dump_output *telling = context;
    referenced_lines_note(telling->line);
    response_chunk_begin(telling->reply, RESPONSE_LOST);
    encode_event_id(telling->reply->out, (struct event_id){telling->line, first});
    encode_u64(telling->reply->out, count);
    response_chunk_end(telling->reply);
}

static bool dump_send_gaps(struct dump_job *dump, struct response *reply, size_t enough)
{
    const struct order *order = dump->run->order;
    for (unsigned n = 0;
         n < DUMP_WORK && dump->at < order_line_count(order) && reply->out->size < enough; n++) {
        struct gap_info gap = {.line = (uint32_t)++dump->at};
        struct dump_output telling = {reply, gap.line};
        for (size_t i = 0; order_line_gap(order, gap.line, i, &gap.first, &gap.count); i++)
            if (gap.count)
                dump_send_missing(&telling, gap.first, gap.count);
        order_unreadable(order, gap.line, dump_send_missing, &telling);
    }
    if (dump->at < order_line_count(order))
        return false;
    /* events without a number, or on lines that are not declared */
    struct dump_output unnumbered = {reply, 0};
    if (untraced_reasons_lost(dump->run))
        dump_send_missing(&unnumbered, 0, untraced_reasons_lost(dump->run));
    return true;
}

static bool stage_step(struct dump_job *dump, struct response *reply, size_t enough)
{
    switch (dump->stage) {
    case DUMP_HIDDEN:
        return dump_send_hidden(dump, reply->out);
    case DUMP_EVENTS:
        return dump_send_events(dump, reply, enough, false);
    case DUMP_COLLECT:
        return dump_collect_run(dump);
    case DUMP_PENDING:
        return dump_send_pending(dump, reply, enough);
    case DUMP_TROUBLES:
        return order_figures(dump->run->order).contradictions == 0 ||
               dump_send_events(dump, reply, enough, true);
    case DUMP_GAPS:
        return dump_send_gaps(dump, reply, enough);
    default:
        return true;
    }
}

static bool dump_step(void *dump, uint64_t budget) { return true; }

#define ENOUGH (128u << 10) /* bytes appended by one put */

static bool dump_put(void *p, struct response *reply)
{
    struct dump_job *dump = p;
    if (!stage_step(dump, reply, reply->out->size + ENOUGH))
        return false;
    /* DUMP_PENDING needs the position where the events ended */
    bool from_start = dump->stage != DUMP_EVENTS && dump->stage != DUMP_COLLECT;
    dump->stage++;
    if (from_start)
        dump->at = 0;
    return dump->stage == DUMP_DONE;
}

const struct query query_dump = {.begin = dump_begin,
                                 .step = dump_step,
                                 .put = dump_put,
                                 .free = free_job,
                                 .most = LIMIT_QUERIES,
                                 .stream = true};
