/* What comes next. */
#define _GNU_SOURCE
#include "clients/trace/replay/part.h"

#include "clients/trace/core/line.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/cast.h"
#include "clients/trace/replay/script.h"
#include "clients/trace/replay/stop.h"
#include "clients/trace/replay/turn.h"
#include "wire/got.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool part_of_all(void) { return script_plays(); }

bool part_plays(struct thread *t) { return cast_part(t) != NULL; }

enum trace_type part_type(struct thread *t, unsigned k)
{
    const struct part *p = cast_part(t);
    return cast_type(p ? cast_ahead(p, k) : NULL);
}

bool part_is_over(struct thread *t)
{
    const struct part *p = cast_part(t);
    return p && !cast_ahead(p, 0);
}

bool part_is(struct thread *t, uint16_t type)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    return e && cast_is(e, type);
}

#define BY_KEY (UINT64_C(1) << 63) /* no process and code: so many processes there are not */

static bool is_known(uint64_t key)
{
    for (uint32_t i = 1; i <= script->line_count; i++)
        if (atomic_load(&script_line(i)->bound) == key)
            return true;
    return false;
}

enum part_is part_is_for(struct thread *t, uint16_t type, uint64_t key, unsigned k)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, k) : NULL;
    if (!e || !cast_is(e, type))
        return PART_NO;
    uint64_t is = e->ticket ? atomic_load(&script_line(e->about)->bound) : 0;
    if (!e->ticket || !key || is == (key | BY_KEY))
        return PART_YES;
    return is || is_known(key | BY_KEY) ? PART_NO : PART_PERHAPS;
}

void part_takes(struct thread *t, uint16_t type, uint64_t key)
{
    const struct script_event *e = cast_ahead(cast_part(t), 0);
    uint64_t nobody = 0;
    if (part_is_for(t, type, key, 0) == PART_PERHAPS)
        atomic_compare_exchange_strong(&script_line(e->about)->bound, &nobody, key | BY_KEY);
}

static const struct script_event *next_of(const struct part *p, uint16_t type)
{
    for (unsigned k = 0; k < PART_AHEAD; k++) {
        const struct script_event *e = cast_ahead(p, k);
        if (!e || cast_is(e, type))
            return e;
    }
    return NULL;
}

bool part_has(struct thread *t, enum trace_type type)
{
    const struct part *p = cast_part(t);
    return p && next_of(p, type);
}

bool part_says(struct thread *t, enum trace_type type, const char *text, bool otherwise)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    return e && cast_is(e, type) ? e->text == script_text(text, strlen(text)) : otherwise;
}

bool part_is_about(struct thread *t, enum trace_type type, const struct line *line)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    if (!e || !cast_is(e, type) || (e->about && !turn_wait(p->line, e->about, 1)))
        return false;
    return cast_code(e->about) == atomic_load_explicit(&line->index, memory_order_relaxed);
}

#define LOOKS_MOST 65536u /* events: an ask may be answered late */

/* (others have there what they are after) */
static bool answers(const struct script_event *e, bool *together)
{
    char text[GOT_BYTES];
    int alone = snprintf(text, sizeof text, GOT_TEXT, e->after_number, e->after_line);
    int size = alone + snprintf(text + alone, sizeof text - (size_t)alone, GOT_TOGETHER);
    *together = e->text == script_text(text, (size_t)size);
    return *together || e->text == script_text(text, (size_t)alone);
}

uint32_t part_got(struct thread *t, uint16_t type, uint32_t asked, uint32_t otherwise)
{
    const struct part *p = cast_part(t);
    bool together;
    for (uint64_t i = p ? p->next : 0; p && i < p->count && i - p->next < LOOKS_MOST; i++)
        if (p->events[i].after_line == asked && cast_is(&p->events[i], type) &&
            answers(&p->events[i], &together))
            return p->events[i].after_number;
    return otherwise;
}

uint32_t part_asked(struct thread *t, uint16_t type, uint32_t *got, bool *together)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    if (!e || !cast_is(e, type) || !answers(e, together))
        return 0;
    *got = e->after_number;
    return e->after_line;
}

struct ref part_cause(struct thread *t, enum trace_type type)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    uint32_t line = e && cast_is(e, type) ? cast_code(e->after_line) : 0;
    return line ? (struct ref){line, e->after_number} : (struct ref){0, 0};
}

struct ref part_await_send(struct thread *t, uint16_t type)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    if (!e || !e->after_line || !cast_is(e, type) ||
        !turn_wait(p->line, e->after_line, e->after_number) || !cast_code(e->after_line))
        return (struct ref){0, 0};
    return (struct ref){cast_code(e->after_line), e->after_number};
}

void part_receives(struct thread *t, uint16_t type, struct ref send)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    if (!e || !e->after_line || !cast_is(e, type) ||
        (cast_code(e->after_line) == send.line && e->after_number == send.number))
        return;
    script_leave(&(struct script_end){.why = SCRIPT_RECEIVED,
                                      .thread = (uint32_t)(p->line - script_line(0)),
                                      .event = p->next,
                                      .line = cast_line(send.line),
                                      .number = send.number < UINT32_MAX ? (uint32_t)send.number
                                                                         : UINT32_MAX});
}

unsigned part_patience_ms(struct thread *t)
{
    const struct part *p = cast_part(t);
    return p && stop_debugged() ? UINT_MAX : turn_patience_ms(p ? p->line : script_line(0));
}

bool part_has_cause(struct thread *t)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    return e && e->after_line;
}

/* Who did that: whose line it is on, or who was there; 0: nobody. */
static uint32_t thread_of(uint32_t line, uint32_t number)
{
    if (line > script->line_count || script_line(line)->count)
        return line <= script->line_count ? line : 0;
    for (uint32_t i = 1; i <= script->line_count; i++) {
        const struct script_line *thread = script_line(i);
        const struct script_event *events = script_events(thread);
        for (uint64_t k = 0; k < thread->count; k++)
            if (events[k].line == line && events[k].number == number)
                return i;
    }
    return 0;
}

bool part_sender(struct thread *t, enum trace_type type, uint32_t *process)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    uint32_t line = e && cast_is(e, type) ? e->after_line : 0,
             thread = line ? thread_of(line, e->after_number) : 0;
    *process = thread ? stop_process(thread) : 0;
    return thread != 0;
}

/* Of what it does until then on the same line the first. */
static uint32_t first_number(const struct part *p, const struct script_event *e)
{
    for (unsigned k = 0; k < PART_AHEAD && cast_ahead(p, k) != e; k++)
        if (cast_ahead(p, k)->line == e->line)
            return cast_ahead(p, k)->number;
    return e->number;
}

static bool await(struct part *p, const struct script_event *e)
{
    if (!LIKELY(!stop_debugged()))
        stop_come(p->line, p->next, (uint64_t)(e - p->events), false);
    return turn_wait(p->line, e->line, first_number(p, e) - 1) &&
           (!e->ticket || turn_wait(p->line, e->about, e->ticket - 1));
}

bool part_await(struct thread *t, uint16_t type)
{
    struct part *p = cast_part(t);
    const struct script_event *e = p ? next_of(p, type) : NULL;
    return e && await(p, e);
}

uint32_t part_line(struct thread *t, const struct line *line)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    uint32_t as = atomic_load_explicit(&line->script, memory_order_relaxed);
    return as || !e ? as : e->about;
}

void part_await_rest(struct thread *t, uint32_t line)
{
    const struct part *p = cast_part(t);
    if (p && line)
        turn_wait(p->line, line, script_line(line)->last);
}

void part_nap(void)
{
    int saved = errno;
    syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
    errno = saved;
}

void part_await_bits(struct thread *t, const _Atomic unsigned *bits, unsigned mask)
{
    for (int i = 0; i < 10000 && part_plays(t) && !(atomic_load(bits) & mask); i++)
        part_nap();
}

/* Of a walk through the script what is behind a thread's last event. */
struct rest {
    const uint32_t *threads; /* of each event */
    uint64_t count;
};

static struct rest rest_after(uint32_t thread)
{
    const uint32_t *order = (const void *)((const char *)script + script->order_at);
    uint64_t first = script->event_count;
    while (first && order[first - 1] != thread)
        first--;
    return (struct rest){order + first, script->event_count - first};
}

static uint64_t count_of(const struct rest *rest, uint32_t thread)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < rest->count; i++)
        count += rest->threads[i] == thread;
    return count;
}

void part_await_others(struct thread *t)
{
    struct part *p = t ? cast_part(t) : NULL;
    struct rest later = p ? rest_after((uint32_t)(p->line - script_line(0))) : (struct rest){0};
    for (uint32_t i = 1; p && i <= script->line_count; i++) {
        const struct script_line *other = script_line(i);
        if (other == p->line || !other->count || !cast_code(i)) /* or of another process */
            continue;
        uint64_t count = other->count - count_of(&later, i);
        const struct script_event *last = count ? script_events(other) + count - 1 : NULL;
        if (last && !turn_wait(p->line, last->line, last->number))
            return;
    }
}

uint32_t part_choice(struct thread *t, uint32_t of, uint32_t otherwise)
{
    const struct part *p = cast_part(t);
    const struct script_event *e = p ? cast_ahead(p, 0) : NULL;
    if (!e || !cast_is(e, TYPE_CHOOSE))
        return otherwise;
    if (e->after_line == of && e->after_number < of)
        return e->after_number;
    cast_differ(p, TYPE_CHOOSE, e->line);
    return otherwise;
}
