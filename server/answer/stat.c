/* The figures of a run, and what is wrong with it. */
#include "server/answer/event.h"
#include "server/answer/named.h"
#include "server/answer/question.h"
#include "server/run/clocks.h"
#include "server/run/lost.h"
#include "server/run/unseen.h"
#include "wire/limits.h"
#include "wire/ref.h"
#include "wire/shown.h"

#include <math.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct shown_event *)a)->time_ns,
            y = ((const struct shown_event *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static void answer_clocks(const struct run *run, struct reply *reply)
{
    struct clock_bound *bounds;
    size_t count = clocks_bounds(run, &bounds);
    for (size_t i = 0; i < count && i < LIMIT_TOLD; i++) {
        const struct tied *b = &bounds[i].bound;
        struct shown_clock c = {.host = (char *)(uintptr_t)bounds[i].host,
                                .is_known = b->known,
                                .is_first = i == 0,
                                .is_uneven = b->uneven,
                                .at_ns = run->start_ns + (uint64_t)bounds[i].at_ns,
                                .ahead_ns = bounds[i].ahead_ns};
        if (b->known) {
            c.low_ns = (int64_t)floor(b->ahead_ns.low);
            c.high_ns = (int64_t)ceil(b->ahead_ns.high);
            c.low_ppb = (int64_t)floor(b->drift.low * 1e9);
            c.high_ppb = (int64_t)ceil(b->drift.high * 1e9);
        }
        part_begin(reply, PART_CLOCK);
        put_clock(reply->out, &c);
        part_end(reply);
    }
    free(bounds);
}

static void answer_stat(const struct run *run, struct in *in, struct reply *reply)
{
    struct out *out = reply->out;
    if (!in_done(in))
        return;
    if (run->verify)
        order_verify(run->order);
    struct order_figures f = order_figures(run->order);
    char *damage = answer_damaged(run, f.damaged);
    uint64_t unreadable = order_unreadable_events(run->order);
    struct shown_stat s = {.lines = order_lines(run->order),
                           .hidden_lines = order_hidden_lines(run->order),
                           .events = f.events - unreadable,
                           .pending = f.pending,
                           .lost = run_lost(run) + unreadable,
                           .contradictions = f.contradictions,
                           .duplicates = f.duplicates,
                           .texts = run->text_count,
                           .duration_ns = run->last_ns,
                           .connected = run_connected(run),
                           .behind_ns = run->behind_ns,
                           .journal_ahead = run->journal_ahead,
                           .discarded = order_first(run->order),
                           .unfinished = run->unfinished,
                           .written = run->written,
                           .doubtful = f.doubtful,
                           .damage = damage};
    for (size_t i = 0; i < run->process_count; i++) {
        s.waited_ns += run->processes[i].waited_ns;
        s.untraced += run->processes[i].unfollowed;
        s.cut_off += run->processes[i].unsent && !run->processes[i].connected;
    }
    s.unseen = unseen_list(run, &s.unseen_count);
    part_begin(reply, PART_STAT);
    put_stat(out, &s);
    part_end(reply);
    free(damage);
    free(s.unseen);
    size_t count;
    const struct trouble *troubles = order_troubles(run->order, &count);
    for (size_t i = 0; i < count && i < LIMIT_TOLD; i++) {
        named_note(troubles[i].at.line);
        named_note(troubles[i].with.line);
        part_begin(reply, PART_TROUBLE);
        put_ref(out, troubles[i].at);
        put_ref(out, troubles[i].with);
        put_string(out, troubles[i].why);
        part_end(reply);
    }
    struct waiting pending = pending_of(run, LIMIT_TOLD);
    if (pending.count)
        qsort(pending.events, pending.count, sizeof *pending.events, by_time);
    for (size_t i = 0; i < pending.count; i++)
        answer_shown(reply, &pending.events[i]);
    waiting_free(&pending);
    answer_clocks(run, reply);
}

const struct question question_stat = {.at_once = answer_stat};
