/* Dump of a run: every event, pending events by line and number, inconsistent events, gaps. */
#include "server/queries/event_answer.h"
#include "server/run/untraced_reasons.h"
#include "server/queries/request_queue.h"
#include "server/queries/referenced_lines.h"

#include "wire/limits.h"
#include "base/alloc.h"
#include "wire/layout_results.h"
#include "wire/event_id.h"

#include <stdlib.h>

#define WORK 4096u /* items visited in one step */

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
    for (unsigned i = 0; i < WORK && dump->at < count; i++)
        referenced_line_encode(out, dump->run, HIDDEN_LINE | (uint32_t)++dump->at);
    return dump->at == count;
}

static bool dump_send_events(struct dump_job *dump, struct response *reply, size_t enough,
                             bool contradictory)
{
    const struct order *order = dump->run->order;
    if (dump->at < order_first(order))
        dump->at = order_first(order);
    for (unsigned i = 0; i < WORK && dump->at < order_count(order) && reply->out->size < enough;
         i++) {
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
    piece.refs = array_reserve(NULL, &room, WORK, sizeof *piece.refs);
    while (piece.count < WORK && pending_walk_next(&dump->walk, &piece.refs[piece.count]))
        piece.count++;
    bool all = piece.count < WORK;
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
    for (unsigned i = 0; i < WORK && dump->piece_count && reply->out->size < enough; i++) {
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
         n < WORK && dump->at < order_line_count(order) && reply->out->size < enough; n++) {
        struct gap_info gap = {.line = (uint32_t)++dump->at};
        struct dump_output telling = {reply, gap.line};
        for (size_t i = 0; order_line_gap(order, gap.line, i, &gap.first, &gap.count); i++)
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
