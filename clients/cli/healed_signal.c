/* Lost signals without a hang: another signal woke the waiter later, or the program ended. */
#include "clients/cli/confirm.h"

#include "base/alloc.h"
#include "base/map.h"
#include "clients/cli/command_source.h"
#include "clients/cli/hold_points.h"
#include "clients/connection/result_table.h"

#include <stdlib.h>
#include <string.h>

/* An event of the signal's type, at any call site. */
struct healed_signal {
    struct event_id at;
    uint32_t thread, about;
    struct table_place place;
    int64_t time_ns;
    bool there; /* its call site is that of the point */
    bool woke; /* it woke a thread */
};

struct healed_wait {
    uint32_t thread, about;
    int64_t before_ns, began_ns; /* of the thread's event before the wait; of the wait */
    bool over, uncertain;
    int64_t over_ns;
    struct event_id waker; /* line 0: not recorded */
};

struct healed {
    struct command_source subject;
    const struct hold_point *signal, *wait;
    struct healed_signal *signals;
    uint32_t signal_count;
    struct map signal_of; /* line, number -> index + 1 */
    struct healed_wait *waits;
    uint32_t wait_count;
    struct map waits_now; /* thread -> index + 1 */
    struct map last; /* thread -> index + 1 in times */
    int64_t *times; /* of the last event of each thread */
    uint32_t time_count;
};

/* ---- events of the trace ---- */

static bool healed_signal_is_at(const struct healed *h, const struct event_info *e,
                                const struct hold_point *point)
{
    const struct trace_metadata *book = &h->subject.source.book;
    struct hold_point here = {.count = 0};
    return strcmp(metadata_type_name(book, e->type), point->type) == 0 &&
           hold_points_point(&here, book, (struct table_place){e->process, e->site}, point->type) &&
           here.address == point->address && strcmp(here.file, point->file) == 0;
}

static void healed_signal_add(struct healed *h, const struct event_info *e, uint32_t thread)
{
    if (!e->about ||
        strcmp(metadata_type_name(&h->subject.source.book, e->type), h->signal->type) != 0)
        return;
    struct healed_signal s = {.at = e->at,
                              .thread = thread,
                              .about = e->about,
                              .place = {e->process, e->site},
                              .time_ns = e->time_ns,
                              .there = healed_signal_is_at(h, e, h->signal)};
    ARRAY_PUSH(h->signals, h->signal_count, s);
    map_put(&h->signal_of, e->at.line, e->at.number, (void *)(uintptr_t)h->signal_count);
}

static struct healed_signal *healed_signal_at(struct healed *h, struct event_id at)
{
    uintptr_t index = (uintptr_t)map_get(&h->signal_of, at.line, at.number);
    return index ? &h->signals[index - 1] : NULL;
}

/* Ends the thread's wait, if any, by its next event; notes the signals that this event shows to
 * have been delivered. */
static void healed_signal_end_wait(struct healed *h, const struct event_info *e, uint32_t thread)
{
    uintptr_t index = (uintptr_t)map_remove(&h->waits_now, thread, 0);
    struct healed_wait *w = index ? &h->waits[index - 1] : NULL;
    for (uint32_t i = 0; i < e->after_count; i++) {
        struct healed_signal *s = healed_signal_at(h, e->after[i]);
        if (s && s->about == e->about)
            s->woke = true;
        if (w && s && s->about == w->about)
            w->waker = e->after[i];
    }
    if (!w)
        return;
    w->over = true;
    w->uncertain = e->about != w->about || e->doubt;
    w->over_ns = e->time_ns;
}

static void healed_signal_add_wait(struct healed *h, const struct event_info *e, uint32_t thread,
                                   const int64_t *last)
{
    if (!last || !e->about || !healed_signal_is_at(h, e, h->wait))
        return;
    struct healed_wait w = {
        .thread = thread, .about = e->about, .before_ns = *last, .began_ns = e->time_ns};
    ARRAY_PUSH(h->waits, h->wait_count, w);
    map_put(&h->waits_now, thread, 0, (void *)(uintptr_t)h->wait_count);
}

static void healed_signal_note_time(struct healed *h, uint32_t thread, int64_t time_ns)
{
    uintptr_t index = (uintptr_t)map_get(&h->last, thread, 0);
    if (!index) {
        ARRAY_PUSH(h->times, h->time_count, 0);
        index = h->time_count;
        map_put(&h->last, thread, 0, (void *)index);
    }
    h->times[index - 1] = time_ns;
}

static void healed_signal_event(struct healed *h, const struct event_info *e)
{
    uint32_t thread = e->thread ? e->thread : e->at.line;
    uintptr_t last = (uintptr_t)map_get(&h->last, thread, 0);
    healed_signal_end_wait(h, e, thread);
    healed_signal_add(h, e, thread);
    healed_signal_add_wait(h, e, thread, last ? &h->times[last - 1] : NULL);
    healed_signal_note_time(h, thread, e->time_ns);
}

static void healed_signal_receive(void *user, const struct response_chunk *answer)
{
    struct event_info event;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    if (!answer->in->error && event.state == EVENT_ORDERED)
        healed_signal_event(user, &event);
    event_info_free(&event);
}

/* ---- search ---- */

/* Returns whether a signal was sent while the thread was about to wait. Times can be compared,
 * since a controlled run is on one host. */
static bool healed_signal_is_lost(const struct healed_signal *s, const struct healed_wait *w)
{
    bool came = s->there && !s->woke && s->about == w->about && s->thread != w->thread;
    return came && w->before_ns < s->time_ns && s->time_ns < w->began_ns && !w->uncertain &&
           (!w->over || w->waker.line);
}

/* Returns "T:main at main (f.c:12) (event 1:2)", in new memory. */
static char *healed_signal_place_text(struct healed *h, const struct healed_signal *s)
{
    const struct table_names names = {&h->subject.source.book, h->subject.sites};
    char at[48], *place = result_table_place_text(&names, s->place, "");
    event_id_print(at, sizeof at, s->at);
    char *text = xasprintf("%s%s%s (event %s)", metadata_label(names.book, s->thread),
                           *place ? " at " : "", place, at);
    free(place);
    return text;
}

static char *healed_signal_text(struct healed *h, const struct healed_signal *lost,
                                const struct healed_wait *w)
{
    const struct trace_metadata *book = &h->subject.source.book;
    struct healed_signal *later = healed_signal_at(h, w->waker);
    char *signal = healed_signal_place_text(h, lost), *text;
    if (w->over) {
        char *by = healed_signal_place_text(h, later);
        text = xasprintf("the signal of %s was lost; a later signal of %s woke %s after %.3f ms",
                         signal, by, metadata_label(book, w->thread),
                         (double)(w->over_ns - w->began_ns) / 1e6);
        free(by);
    } else {
        text = xasprintf("the signal of %s was lost; %s waited until the program ended", signal,
                         metadata_label(book, w->thread));
    }
    free(signal);
    return text;
}

static char *healed_signal_check_waits(struct healed *h)
{
    for (uint32_t i = 0; i < h->wait_count; i++)
        for (uint32_t k = 0; k < h->signal_count; k++)
            if (healed_signal_is_lost(&h->signals[k], &h->waits[i]))
                return healed_signal_text(h, &h->signals[k], &h->waits[i]);
    return NULL;
}

char *healed_signal_find(const struct command *command, const char *trace,
                         const struct hold_point *signal, const struct hold_point *wait)
{
    struct healed h = {.signal = signal, .wait = wait};
    char *text = NULL;
    if (!command_source_open(command, &h.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return NULL;
    if (command_source_request(command, &h.subject, REQUEST_DUMP, NULL, healed_signal_receive,
                               &h)) {
        command_source_label_lines(&h.subject);
        text = healed_signal_check_waits(&h);
    }
    command_source_close(&h.subject);
    free(h.signals);
    free(h.waits);
    free(h.times);
    map_free(&h.signal_of);
    map_free(&h.waits_now);
    map_free(&h.last);
    return text;
}
