#include "server/queries/referenced_lines.h"

#include "base/alloc.h"
#include "server/queries/query.h"
#include "server/run/run.h"
#include "wire/trace_view.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool noting;
    uint32_t *lines;
    size_t count, room;
} named; /* lines noted in the current response */

bool referenced_lines_is_enabled(const struct run *run, const struct viewer_knowledge *known)
{
    return known->named && order_line_count(run->order) > LIMIT_LINES_SENT;
}

bool referenced_lines_is_sent(const struct viewer_knowledge *known, uint32_t line)
{
    return line <= known->lines ||
           (line / 8 < known->sent_room && known->sent[line / 8] >> line % 8 & 1);
}

void referenced_lines_send_count(struct encoder *out, const struct run *run,
                                 struct viewer_knowledge *known)
{
    uint32_t lines = order_line_count(run->order);
    if (known->lines_are == lines)
        return;
    known->lines_are = lines;
    encoder_begin_message(out, MESSAGE_LINE_COUNT);
    encode_u32(out, lines);
    encoder_end_message(out);
}

void referenced_lines_begin(const struct run *run, const struct viewer_knowledge *known)
{
    named.count = 0;
    named.noting = referenced_lines_is_enabled(run, known);
}

void referenced_lines_note(uint32_t line)
{
    if (!named.noting || !line || line & HIDDEN_LINE)
        return;
    if (named.count && named.lines[named.count - 1] == line)
        return;
    named.lines = array_reserve(named.lines, &named.room, named.count + 1, sizeof *named.lines);
    named.lines[named.count++] = line;
}

static uint64_t referenced_line_number(const struct order *order, uint32_t line, uint64_t ordinal)
{
    uint64_t position = order_line_at(order, line, ordinal);
    return position == NO_POSITION ? 0 : order_event(order, position).number;
}

void referenced_line_encode(struct encoder *out, const struct run *run, uint32_t line)
{
    const struct order *order = run->order;
    struct line_info s = {.line = line, .kind = (char *)(uintptr_t) "order", .name = NULL};
    uint64_t n = order_line_events(order, line), first = order_line_first(order, line);
    if (line & HIDDEN_LINE) {
        s.kind = (char *)(uintptr_t)run_kind_name(run, order_line_kind(order, line));
    } else {
        const struct run_line *l = run_line_at(run, line);
        s.kind = (char *)(uintptr_t)run_kind_name(run, l->kind);
        s.name = l->name;
        s.process = l->process;
        s.object = l->object;
        s.entry = l->entry;
        s.exited = run_exited(run, line);
    }
    s.shared = order_line_shared(order, line);
    s.closed = order_line_closed(order, line);
    s.opened_by = order_line_opened_by(order, line);
    s.events = n;
    s.first = n > first ? referenced_line_number(order, line, first) : 0;
    s.last = n > first ? referenced_line_number(order, line, n - 1) : 0;
    encoder_begin_message(out, MESSAGE_LINE_INFO);
    encode_line_info(out, &s);
    encoder_end_message(out);
}

static void referenced_lines_send_line(struct encoder *out, const struct run *run,
                                       struct viewer_knowledge *known, uint32_t line)
{
    if (!line || line & HIDDEN_LINE || line > order_line_count(run->order) ||
        referenced_lines_is_sent(known, line))
        return;
    known->sent = array_reserve_zeroed(known->sent, &known->sent_room, line / 8 + 1, 1);
    known->sent[line / 8] |= (uint8_t)(1u << line % 8);
    referenced_line_encode(out, run, line);
}

/* Inserts the contents of `first` into `out` at byte `at`. */
static void put_before(struct encoder *out, size_t at, struct encoder *first)
{
    size_t size = out->size - at;
    encode_bytes(out, first->data, first->size);
    out->failed |= first->failed;
    if (out->failed)
        return;
    memmove(out->data + at + first->size, out->data + at, size);
    memcpy(out->data + at, first->data, first->size);
}

void referenced_lines_end(struct encoder *out, size_t answer, const struct run *run,
                          struct viewer_knowledge *known)
{
    struct encoder names = {0};
    for (size_t i = 0; named.noting && i < named.count; i++) {
        uint32_t line = named.lines[i];
        referenced_lines_send_line(&names, run, known, line);
        if (line <= order_line_count(run->order)) /* its data names the line that opened it */
            referenced_lines_send_line(&names, run, known,
                                       order_line_opened_by(run->order, line).line);
    }
    if (names.size)
        put_before(out, answer, &names);
    encoder_free(&names);
    named.noting = false;
    named.count = 0;
}

/* ---- requests for lines by number ---- */

static void answer_lines(const struct run *run, struct decoder *in, struct response *reply)
{
    uint32_t count = decode_count(in, 4);
    if (count > LIMIT_LINES_ASKED)
        decoder_fail(in, "too many lines requested");
    for (; count && !in->error; count--)
        referenced_lines_note(
            decode_u32(in)); /* they are sent before the response, which has no parts */
    decoder_finish(in);
}

const struct query query_lines = {.at_once = answer_lines};

/* ---- cleanup ---- */

void referenced_lines_clear(struct viewer_knowledge *known)
{
    free(known->sent);
    *known = (struct viewer_knowledge){0};
}
