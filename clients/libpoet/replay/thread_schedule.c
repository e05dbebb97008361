/* Queries of a thread's schedule: what its next events are. */
#define _GNU_SOURCE
#include "clients/libpoet/replay/thread_schedule.h"

#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/replay/held_points.h"
#include "clients/libpoet/replay/replay_stops.h"
#include "clients/libpoet/replay/replay_ticket.h"
#include "clients/libpoet/replay/schedule_mapping.h"
#include "clients/libpoet/replay/shared_schedule.h"
#include "wire/annotation_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool thread_schedule_is_enabled(void) { return shared_schedule_is_active(); }

bool thread_schedule_is_found(struct traced_thread *t) { return schedule_map_thread(t) != NULL; }

enum trace_type thread_schedule_peek_type(struct traced_thread *t, unsigned k)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    return schedule_map_own_type(p ? schedule_map_peek(p, k) : NULL);
}

bool thread_schedule_is_over(struct traced_thread *t)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    return p && !schedule_map_peek(p, 0);
}

bool thread_schedule_next_is(struct traced_thread *t, uint16_t type)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    return e && schedule_map_is_type(e, type);
}

#define BY_KEY (UINT64_C(1) << 63) /* neither a process nor a code: there are fewer processes */

static bool thread_schedule_is_known(uint64_t key)
{
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++)
        if (atomic_load(&shared_schedule_line(i)->bound) == key)
            return true;
    return false;
}

enum thread_schedule_match thread_schedule_next_is_about(struct traced_thread *t, uint16_t type,
                                                         uint64_t key, unsigned k)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, k) : NULL;
    if (!e || !schedule_map_is_type(e, type))
        return SCHEDULE_MATCH_NO;
    uint64_t is = e->ticket ? atomic_load(&shared_schedule_line(e->about)->bound) : 0;
    if (!e->ticket || !key || is == (key | BY_KEY))
        return SCHEDULE_MATCH_YES;
    return is || thread_schedule_is_known(key | BY_KEY) ? SCHEDULE_MATCH_NO
                                                        : SCHEDULE_MATCH_POSSIBLE;
}

void thread_schedule_commit(struct traced_thread *t, uint16_t type, uint64_t key)
{
    const struct schedule_event *e = schedule_map_peek(schedule_map_thread(t), 0);
    uint64_t nobody = 0;
    if (thread_schedule_next_is_about(t, type, key, 0) == SCHEDULE_MATCH_POSSIBLE)
        atomic_compare_exchange_strong(&shared_schedule_line(e->about)->bound, &nobody,
                                       key | BY_KEY);
}

static const struct schedule_event *thread_schedule_next(const struct thread_schedule *p,
                                                         uint16_t type)
{
    for (unsigned k = 0; k < THREAD_SCHEDULE_AHEAD; k++) {
        const struct schedule_event *e = schedule_map_peek(p, k);
        if (!e || schedule_map_is_type(e, type))
            return e;
    }
    return NULL;
}

bool thread_schedule_has_next(struct traced_thread *t, enum trace_type type)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    return p && thread_schedule_next(p, type);
}

bool thread_schedule_next_has_text(struct traced_thread *t, enum trace_type type, const char *text,
                                   bool otherwise)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    return e && schedule_map_is_type(e, type) ? e->text == schedule_text_hash(text, strlen(text))
                                              : otherwise;
}

bool thread_schedule_next_about_thread(struct traced_thread *t, enum trace_type type,
                                       const struct trace_line *line)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    if (!e || !schedule_map_is_type(e, type) ||
        (e->about && !replay_ticket_wait(p->line, e->about, 1)))
        return false;
    return schedule_map_code(e->about) == atomic_load_explicit(&line->index, memory_order_relaxed);
}

#define LOOKS_MOST 65536u /* events: a nondeterministic call may be reported late */

/* (other events have their predecessors there) */
static bool thread_schedule_is_answer(const struct schedule_event *e, bool *together)
{
    char text[NONDET_BYTES];
    int alone = snprintf(text, sizeof text, NONDET_TEXT, e->after_number, e->after_line);
    int size = alone + snprintf(text + alone, sizeof text - (size_t)alone, NONDET_TOGETHER);
    *together = e->text == schedule_text_hash(text, (size_t)size);
    return *together || e->text == schedule_text_hash(text, (size_t)alone);
}

uint32_t thread_schedule_choice_result(struct traced_thread *t, uint16_t type, uint32_t asked,
                                       uint32_t otherwise)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    bool together;
    for (uint64_t i = p ? p->next : 0; p && i < p->count && i - p->next < LOOKS_MOST; i++)
        if (p->events[i].after_line == asked && schedule_map_is_type(&p->events[i], type) &&
            thread_schedule_is_answer(&p->events[i], &together))
            return p->events[i].after_number;
    return otherwise;
}

uint32_t thread_schedule_next_choice(struct traced_thread *t, uint16_t type, uint32_t *got,
                                     bool *together)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    if (!e || !schedule_map_is_type(e, type) || !thread_schedule_is_answer(e, together))
        return 0;
    *got = e->after_number;
    return e->after_line;
}

struct event_id thread_schedule_next_cause(struct traced_thread *t, enum trace_type type)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    uint32_t line = e && schedule_map_is_type(e, type) ? schedule_map_code(e->after_line) : 0;
    return line ? (struct event_id){line, e->after_number} : (struct event_id){0, 0};
}

struct event_id thread_schedule_await_send(struct traced_thread *t, uint16_t type)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    if (!e || !e->after_line || !schedule_map_is_type(e, type) ||
        !replay_ticket_wait(p->line, e->after_line, e->after_number) ||
        !schedule_map_code(e->after_line))
        return (struct event_id){0, 0};
    return (struct event_id){schedule_map_code(e->after_line), e->after_number};
}

void thread_schedule_commit_receive(struct traced_thread *t, uint16_t type, struct event_id send)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    if (!e || !e->after_line || !schedule_map_is_type(e, type) ||
        (schedule_map_code(e->after_line) == send.line && e->after_number == send.number))
        return;
    shared_schedule_abandon(&(struct schedule_end){
        .why = SCHEDULE_END_RECEIVED,
        .thread = (uint32_t)(p->line - shared_schedule_line(0)),
        .event = p->next,
        .line = schedule_map_line(send.line),
        .number = send.number < UINT32_MAX ? (uint32_t)send.number : UINT32_MAX});
}

unsigned thread_schedule_timeout_ms(struct traced_thread *t)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    return p && replay_stop_is_debugged()
               ? UINT_MAX
               : replay_ticket_timeout_ms(p ? p->line : shared_schedule_line(0));
}

bool thread_schedule_next_has_cause(struct traced_thread *t)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    return e && e->after_line;
}

/* Returns the thread that made the event: the thread of the line, or the one that was on it; 0:
 * none. */
static uint32_t thread_schedule_get_thread(uint32_t line, uint32_t number)
{
    if (line > tracer.replay.schedule->line_count || shared_schedule_line(line)->count)
        return line <= tracer.replay.schedule->line_count ? line : 0;
    for (uint32_t i = 1; i <= tracer.replay.schedule->line_count; i++) {
        const struct schedule_line *thread = shared_schedule_line(i);
        const struct schedule_event *events = shared_schedule_events(thread);
        for (uint64_t k = 0; k < thread->count; k++)
            if (events[k].line == line && events[k].number == number)
                return i;
    }
    return 0;
}

uint32_t thread_schedule_next_sender(struct traced_thread *t, enum trace_type type,
                                     uint32_t *process)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    uint32_t line = e && schedule_map_is_type(e, type) ? e->after_line : 0,
             thread = line ? thread_schedule_get_thread(line, e->after_number) : 0;
    *process = thread ? replay_stop_process(thread) : 0;
    return thread;
}

/* Returns the first number of what the thread does until then on the same line. */
static uint32_t thread_schedule_first_number(const struct thread_schedule *p,
                                             const struct schedule_event *e)
{
    for (unsigned k = 0; k < THREAD_SCHEDULE_AHEAD && schedule_map_peek(p, k) != e; k++)
        if (schedule_map_peek(p, k)->line == e->line)
            return schedule_map_peek(p, k)->number;
    return e->number;
}

static bool thread_schedule_await_turn(struct thread_schedule *p, const struct schedule_event *e)
{
    if (UNLIKELY(replay_stop_is_debugged()))
        replay_stop_reach(p->line, p->next, (uint64_t)(e - p->events), false);
    return replay_ticket_wait(p->line, e->line, thread_schedule_first_number(p, e) - 1) &&
           (!e->ticket || replay_ticket_wait(p->line, e->about, e->ticket - 1));
}

bool thread_schedule_wait(struct traced_thread *t, uint16_t type)
{
    struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? thread_schedule_next(p, type) : NULL;
    return e && thread_schedule_await_turn(p, e);
}

uint32_t thread_schedule_line(struct traced_thread *t, const struct trace_line *line)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    uint32_t as = atomic_load_explicit(&line->script, memory_order_relaxed);
    return as || !e ? as : e->about;
}

void thread_schedule_wait_rest(struct traced_thread *t, uint32_t line)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    if (p && line)
        replay_ticket_wait(p->line, line, shared_schedule_line(line)->last);
}

static bool thread_schedule_is_reached(uint32_t line, uint32_t number)
{
    return replay_ticket_is_reached(shared_schedule_line(line), number);
}

bool thread_schedule_is_turn(struct traced_thread *t, const struct trace_line *line, uint16_t type)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? thread_schedule_next(p, type) : NULL;
    uint32_t rest = p && !e && thread_schedule_is_over(t) ? thread_schedule_line(t, line) : 0;
    if (!shared_schedule_is_active() || (!e && !rest))
        return true;
    if (!e)
        return thread_schedule_is_reached(rest, shared_schedule_line(rest)->last);
    return thread_schedule_is_reached(e->line, thread_schedule_first_number(p, e) - 1) &&
           (!e->ticket || thread_schedule_is_reached(e->about, e->ticket - 1));
}

struct thread_schedule_lock
thread_schedule_request_lock(struct traced_thread *t, const struct trace_line *line, uintptr_t site)
{
    enum trace_type asks = thread_schedule_next_type(t, 0), got = thread_schedule_next_type(t, 1);
    uint32_t rest = got == TYPE_NONE ? thread_schedule_line(t, line) : 0;
    struct thread_schedule_lock is = {.got = got,
                                      .last = got == TYPE_NONE &&
                                              (asks == TYPE_ACQUIRE || asks == TYPE_TIMED_ACQUIRE)};
    is.requested = asks == TYPE_TIMED_ACQUIRE || is.last;
    if (tracer.replay.has_hold_points && got == TYPE_NONE)
        hold_point_before_lock(t, line, site);
    if (is.requested)
        record_event(t, asks, thread_place(t), atomic_load(&line->index), site);
    if (got == TYPE_NONE)
        thread_schedule_wait_rest(t, rest);
    return is;
}

void thread_schedule_nap(void)
{
    int saved = errno;
    syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
    errno = saved;
}

void thread_schedule_wait_bits(struct traced_thread *t, const _Atomic unsigned *bits, unsigned mask)
{
    for (int i = 0; i < 10000 && thread_schedule_active(t) && !(atomic_load(bits) & mask); i++)
        thread_schedule_nap();
}

/* Events after a thread's last event, from a walk through the schedule. */
struct schedule_rest {
    const uint32_t *threads; /* of each event */
    uint64_t count;
};

static struct schedule_rest thread_schedule_rest_after(uint32_t thread)
{
    const uint32_t *order =
        (const void *)((const char *)tracer.replay.schedule + tracer.replay.schedule->order_at);
    uint64_t first = tracer.replay.schedule->event_count;
    while (first && order[first - 1] != thread)
        first--;
    return (struct schedule_rest){order + first, tracer.replay.schedule->event_count - first};
}

static uint64_t thread_schedule_count(const struct schedule_rest *rest, uint32_t thread)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < rest->count; i++)
        count += rest->threads[i] == thread;
    return count;
}

void thread_schedule_wait_others(struct traced_thread *t)
{
    struct thread_schedule *p = t ? schedule_map_thread(t) : NULL;
    struct schedule_rest later =
        p ? thread_schedule_rest_after((uint32_t)(p->line - shared_schedule_line(0)))
          : (struct schedule_rest){0};
    for (uint32_t i = 1; p && i <= tracer.replay.schedule->line_count; i++) {
        const struct schedule_line *other = shared_schedule_line(i);
        if (other == p->line || !other->count || !schedule_map_code(i)) /* or of another process */
            continue;
        uint64_t count = other->count - thread_schedule_count(&later, i);
        const struct schedule_event *last =
            count ? shared_schedule_events(other) + count - 1 : NULL;
        if (last && !replay_ticket_wait(p->line, last->line, last->number))
            return;
    }
}

uint32_t thread_schedule_next_choose(struct traced_thread *t, uint32_t of, uint32_t otherwise)
{
    const struct thread_schedule *p = schedule_map_thread(t);
    const struct schedule_event *e = p ? schedule_map_peek(p, 0) : NULL;
    if (!e || !schedule_map_is_type(e, TYPE_CHOOSE))
        return otherwise;
    if (e->after_line == of && e->after_number < of)
        return e->after_number;
    schedule_map_diverge(p, TYPE_CHOOSE, e->line);
    return otherwise;
}
