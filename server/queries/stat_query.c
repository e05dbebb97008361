/* Statistics of a run, and its problems. */
#include "server/queries/event_answer.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/query.h"
#include "server/run/clock_sync.h"
#include "server/run/untraced_reasons.h"
#include "wire/limits.h"
#include "wire/event_id.h"
#include "wire/trace_view.h"

#include <math.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct event_info *)a)->time_ns,
            y = ((const struct event_info *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static void answer_clocks(const struct run *run, struct response *reply)
{
    struct clock_bound *bounds;
    size_t count = clock_sync_bounds(run, &bounds);
    for (size_t i = 0; i < count && i < LIMIT_EVENTS_SENT; i++) {
        const struct clock_tied *b = &bounds[i].bound;
        struct clock_info c = {.host = (char *)(uintptr_t)bounds[i].host,
                               .is_known = b->known,
                               .is_first = i == 0,
                               .is_uneven = b->uneven,
                               .at_ns = run->clock.start_ns + (uint64_t)bounds[i].at_ns,
                               .ahead_ns = bounds[i].ahead_ns};
        if (b->known) {
            c.low_ns = (int64_t)floor(b->ahead_ns.low);
            c.high_ns = (int64_t)ceil(b->ahead_ns.high);
            c.low_ppb = (int64_t)floor(b->drift.low * 1e9);
            c.high_ppb = (int64_t)ceil(b->drift.high * 1e9);
        }
        response_chunk_begin(reply, RESPONSE_CLOCK);
        encode_clock_info(reply->out, &c);
        response_chunk_end(reply);
    }
    free(bounds);
}

static void answer_stat(const struct run *run, struct decoder *in, struct response *reply)
{
    struct encoder *out = reply->out;
    if (!decoder_finish(in))
        return;
    if (run->verify)
        order_verify(run->order);
    struct order_figures f = order_figures(run->order);
    char *damage = damage_text(run, f.damaged);
    uint64_t unreadable = order_unreadable_events(run->order);
    struct stat_info s = {.lines = order_line_count(run->order),
                          .hidden_lines = order_hidden_lines(run->order),
                          .events = f.events - unreadable,
                          .pending = f.pending,
                          .lost = run_lost(run) + unreadable,
                          .contradictions = f.contradictions,
                          .duplicates = f.duplicates,
                          .texts = run->annotations.count,
                          .duration_ns = run->clock.last_ns,
                          .connected = run_connected(run),
                          .behind_ns = run->lag.ns,
                          .journal_ahead = run->lag.bytes,
                          .discarded = order_first(run->order),
                          .unfinished = run->file.unfinished,
                          .written = run->file.still_written,
                          .doubtful = f.doubtful,
                          .damage = damage};
    for (size_t i = 0; i < run->processes.count; i++) {
        s.waited_ns += run->processes.items[i].waited_ns;
        s.untraced += run->processes.items[i].unfollowed;
        s.cut_off += run->processes.items[i].unsent && !run->processes.items[i].connected;
    }
    s.unseen = untraced_reasons_list(run, &s.unseen_count);
    response_chunk_begin(reply, RESPONSE_STAT);
    encode_stat_info(out, &s);
    response_chunk_end(reply);
    free(damage);
    free(s.unseen);
    size_t count;
    const struct inconsistency *troubles = order_inconsistencies(run->order, &count);
    for (size_t i = 0; i < count && i < LIMIT_EVENTS_SENT; i++) {
        referenced_lines_note(troubles[i].at.line);
        referenced_lines_note(troubles[i].with.line);
        response_chunk_begin(reply, RESPONSE_INCONSISTENCY);
        encode_event_id(out, troubles[i].at);
        encode_event_id(out, troubles[i].with);
        encode_string(out, troubles[i].why);
        response_chunk_end(reply);
    }
    struct event_waiting pending = event_answer_pending_of(run, LIMIT_EVENTS_SENT);
    if (pending.count)
        qsort(pending.events, pending.count, sizeof *pending.events, by_time);
    for (size_t i = 0; i < pending.count; i++)
        event_answer_encode(reply, &pending.events[i]);
    event_answer_waiting_free(&pending);
    answer_clocks(run, reply);
}

const struct query query_stat = {.at_once = answer_stat};
