/* A dump of a run: every event, what is pending by line and number, contradictions, gaps. */
#include "server/answer/event.h"
#include "server/answer/line.h"
#include "server/run/unseen.h"
#include "server/answer/desk.h"
#include "server/answer/named.h"

#include "wire/limits.h"
#include "memory/memory.h"
#include "wire/placed.h"
#include "wire/ref.h"

#include <stdlib.h>

#define WORK 4096u /* looked at in one step */

struct dump {
    const struct run *run;
    enum stage {
        DUMP_HIDDEN,
        DUMP_EVENTS,
        DUMP_COLLECT,
        DUMP_PENDING,
        DUMP_TROUBLES,
        DUMP_GAPS,
        DUMP_DONE
    } stage;
    uint64_t at; /* of the stage: a position, a line */
    struct pending_walk walk;
    struct sorted { /* what is pending, in pieces that are sorted; a heap by what comes first */
        struct ref *refs;
        size_t next, count;
    } *pieces;
    size_t piece_count, piece_room;
};

static void *begin(struct desk *desk, struct in *in)
{
    if (!in_done(in))
        return NULL;
    struct dump *dump = memory_zeroed(1, sizeof *dump);
    dump->run = desk->run;
    return dump;
}

static void free_job(void *p)
{
    struct dump *dump = p;
    pending_walk_end(&dump->walk);
    for (size_t i = 0; i < dump->piece_count; i++)
        free(dump->pieces[i].refs);
    free(dump->pieces);
    free(dump);
}

/* ---- events ---- */

static bool tell_hidden(struct dump *dump, struct out *out)
{
    uint64_t count = order_hidden_lines(dump->run->order);
    for (unsigned i = 0; i < WORK && dump->at < count; i++)
        tell_line(out, dump->run, HIDDEN_LINE | (uint32_t)++dump->at);
    return dump->at == count;
}

static bool tell_events(struct dump *dump, struct reply *reply, size_t enough, bool contradictory)
{
    const struct order *order = dump->run->order;
    if (dump->at < order_first(order))
        dump->at = order_first(order);
    for (unsigned i = 0; i < WORK && dump->at < order_count(order) && reply->out->size < enough;
         i++) {
        uint64_t position = dump->at++;
        struct event e = order_event(order, position);
        if ((e.state == EVENT_CONTRADICTORY) != contradictory ||
            !e.line) /* told last; cannot be read */
            continue;
        struct shown_event s = show(dump->run, position);
        answer_shown(reply, &s);
        show_free(&s);
    }
    return dump->at >= order_count(order);
}

/* ---- what is pending ---- */

static int by_line(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool comes_before(const struct sorted *a, const struct sorted *b)
{
    return by_line(&a->refs[a->next], &b->refs[b->next]) < 0;
}

static void sift(struct dump *dump, size_t i)
{
    struct sorted *heap = dump->pieces, it = heap[i];
    for (size_t child; (child = 2 * i + 1) < dump->piece_count; i = child) {
        child += child + 1 < dump->piece_count && comes_before(&heap[child + 1], &heap[child]);
        if (!comes_before(&heap[child], &it))
            break;
        heap[i] = heap[child];
    }
    heap[i] = it;
}

/* A piece more; true when there are no more, and they are a heap. */
static bool collect(struct dump *dump)
{
    struct sorted piece = {.refs = NULL};
    size_t room = 0;
    if (!dump->walk.order)
        pending_walk_begin(dump->run->order, &dump->walk);
    piece.refs = grow(NULL, &room, WORK, sizeof *piece.refs);
    while (piece.count < WORK && pending_walk_next(&dump->walk, &piece.refs[piece.count]))
        piece.count++;
    bool all = piece.count < WORK;
    if (piece.count) {
        qsort(piece.refs, piece.count, sizeof *piece.refs, by_line);
        dump->pieces =
            grow(dump->pieces, &dump->piece_room, dump->piece_count + 1, sizeof *dump->pieces);
        dump->pieces[dump->piece_count++] = piece;
    } else {
        free(piece.refs);
    }
    for (size_t i = all ? dump->piece_count / 2 : 0; i-- > 0;)
        sift(dump, i);
    return all;
}

/* What was delivered meanwhile is told as it is now. */
static void tell_waiting(struct dump *dump, struct reply *reply, struct ref at)
{
    const struct arrival *a = order_pending_at(dump->run->order, at);
    uint64_t position = a ? NO_POSITION : order_position(dump->run->order, at);
    if (!a && (position == NO_POSITION || position < dump->at))
        return;
    struct shown_event s = a ? show_pending(dump->run, a) : show(dump->run, position);
    answer_shown(reply, &s);
    show_free(&s);
}

static bool tell_pending(struct dump *dump, struct reply *reply, size_t enough)
{
    for (unsigned i = 0; i < WORK && dump->piece_count && reply->out->size < enough; i++) {
        struct sorted *first = dump->pieces;
        tell_waiting(dump, reply, first->refs[first->next]);
        if (++first->next == first->count) {
            free(first->refs);
            *first = dump->pieces[--dump->piece_count];
        }
        if (dump->piece_count)
            sift(dump, 0);
    }
    return !dump->piece_count;
}

/* ---- what is missing ---- */

struct telling {
    struct reply *reply;
    uint32_t line;
};

static void tell_missing(void *context, uint64_t first, uint64_t count)
{
    const struct telling *telling = context;
    named_note(telling->line);
    part_begin(telling->reply, PART_LOST);
    put_ref(telling->reply->out, (struct ref){telling->line, first});
    put_u64(telling->reply->out, count);
    part_end(telling->reply);
}

static bool tell_gaps(struct dump *dump, struct reply *reply, size_t enough)
{
    const struct order *order = dump->run->order;
    for (unsigned n = 0; n < WORK && dump->at < order_lines(order) && reply->out->size < enough;
         n++) {
        struct shown_gap gap = {.line = (uint32_t)++dump->at};
        struct telling telling = {reply, gap.line};
        for (size_t i = 0; order_line_gap(order, gap.line, i, &gap.first, &gap.count); i++)
            tell_missing(&telling, gap.first, gap.count);
        order_unreadable(order, gap.line, tell_missing, &telling);
    }
    if (dump->at < order_lines(order))
        return false;
    struct telling unnumbered = {reply, 0}; /* without a number, or on lines that nobody knows */
    if (unseen_lost(dump->run))
        tell_missing(&unnumbered, 0, unseen_lost(dump->run));
    return true;
}

static bool stage_step(struct dump *dump, struct reply *reply, size_t enough)
{
    switch (dump->stage) {
    case DUMP_HIDDEN:
        return tell_hidden(dump, reply->out);
    case DUMP_EVENTS:
        return tell_events(dump, reply, enough, false);
    case DUMP_COLLECT:
        return collect(dump);
    case DUMP_PENDING:
        return tell_pending(dump, reply, enough);
    case DUMP_TROUBLES:
        return order_figures(dump->run->order).contradictions == 0 ||
               tell_events(dump, reply, enough, true);
    case DUMP_GAPS:
        return tell_gaps(dump, reply, enough);
    default:
        return true;
    }
}

static bool step(void *dump, uint64_t budget) { return true; }

#define ENOUGH (128u << 10) /* bytes of one put */

static bool put(void *p, struct reply *reply)
{
    struct dump *dump = p;
    if (!stage_step(dump, reply, reply->out->size + ENOUGH))
        return false;
    bool from_start =
        dump->stage != DUMP_EVENTS && dump->stage != DUMP_COLLECT; /* where events end */
    dump->stage++;
    if (from_start)
        dump->at = 0;
    return dump->stage == DUMP_DONE;
}

const struct question question_dump = {.begin = begin,
                                       .step = step,
                                       .put = put,
                                       .free = free_job,
                                       .most = LIMIT_QUESTIONS,
                                       .stream = true};
