#include "server/queries/line_answer.h"

#include "server/run/run.h"
#include "wire/trace_view.h"

#include <stddef.h>

static uint64_t number_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    uint64_t position = order_line_at(order, line, ordinal);
    return position == NO_POSITION ? 0 : order_event(order, position).number;
}

void line_answer_encode(struct encoder *out, const struct run *run, uint32_t line)
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
    s.first = n > first ? number_at(order, line, first) : 0;
    s.last = n > first ? number_at(order, line, n - 1) : 0;
    encoder_begin_message(out, MESSAGE_LINE_INFO);
    encode_line_info(out, &s);
    encoder_end_message(out);
}
