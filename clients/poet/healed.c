#include "clients/poet/healed.h"

#include "clients/poet/steering.h"
#include "clients/poet/subject.h"
#include "clients/source/table.h"
#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* One that is of the signal's type: where it was made does not matter yet. */
struct healed_signal {
    struct ref at;
    uint32_t thread, about;
    struct table_place place;
    int64_t time_ns;
    bool there; /* it was made at the point, */
    bool woke;  /* and woke a thread */
};

struct healed_wait {
    uint32_t thread, about;
    int64_t before_ns, began_ns; /* the thread's event before it; it */
    bool over, uncertain;
    int64_t over_ns;
    struct ref waker; /* line 0: none is recorded */
};

struct healed {
    struct subject subject;
    const struct steer_point *signal, *wait;
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

/* ---- what the trace has ---- */

static bool healed_is_at(const struct healed *h, const struct shown_event *e,
                         const struct steer_point *point)
{
    const struct book *book = &h->subject.source.book;
    struct steer_point here = {.count = 0};
    return strcmp(book_type(book, e->type), point->type) == 0 &&
           steering_point(&here, book, (struct table_place){e->process, e->site}, point->type) &&
           here.address == point->address && strcmp(here.file, point->file) == 0;
}

static void healed_add_signal(struct healed *h, const struct shown_event *e, uint32_t thread)
{
    if (!e->about || strcmp(book_type(&h->subject.source.book, e->type), h->signal->type) != 0)
        return;
    struct healed_signal s = {.at = e->at,
                              .thread = thread,
                              .about = e->about,
                              .place = {e->process, e->site},
                              .time_ns = e->time_ns,
                              .there = healed_is_at(h, e, h->signal)};
    PUSH(h->signals, h->signal_count, s);
    map_put(&h->signal_of, e->at.line, e->at.number, (void *)(uintptr_t)h->signal_count);
}

static struct healed_signal *healed_signal_at(struct healed *h, struct ref at)
{
    uintptr_t index = (uintptr_t)map_get(&h->signal_of, at.line, at.number);
    return index ? &h->signals[index - 1] : NULL;
}

/* Notes which signal an event shows to have been delivered. */
static void healed_end_wait(struct healed *h, const struct shown_event *e, uint32_t thread)
{
    uintptr_t index = (uintptr_t)map_take(&h->waits_now, thread, 0);
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

static void healed_add_wait(struct healed *h, const struct shown_event *e, uint32_t thread,
                            const int64_t *last)
{
    if (!last || !e->about || !healed_is_at(h, e, h->wait))
        return;
    struct healed_wait w = {
        .thread = thread, .about = e->about, .before_ns = *last, .began_ns = e->time_ns};
    PUSH(h->waits, h->wait_count, w);
    map_put(&h->waits_now, thread, 0, (void *)(uintptr_t)h->wait_count);
}

static void healed_note_time(struct healed *h, uint32_t thread, int64_t time_ns)
{
    uintptr_t index = (uintptr_t)map_get(&h->last, thread, 0);
    if (!index) {
        PUSH(h->times, h->time_count, 0);
        index = h->time_count;
        map_put(&h->last, thread, 0, (void *)index);
    }
    h->times[index - 1] = time_ns;
}

static void healed_event(struct healed *h, const struct shown_event *e)
{
    uint32_t thread = e->thread ? e->thread : e->at.line;
    uintptr_t last = (uintptr_t)map_get(&h->last, thread, 0);
    healed_end_wait(h, e, thread);
    healed_add_signal(h, e, thread);
    healed_add_wait(h, e, thread, last ? &h->times[last - 1] : NULL);
    healed_note_time(h, thread, e->time_ns);
}

static void healed_take(void *user, const struct answer *answer)
{
    struct shown_event event;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &event);
    if (!answer->in->error && event.state == EVENT_ORDERED)
        healed_event(user, &event);
    shown_event_free(&event);
}

/* ---- what it shows ---- */

/* (All of one machine, by one clock: a run that is led is.) */
static bool healed_is_lost(const struct healed_signal *s, const struct healed_wait *w)
{
    bool came = s->there && !s->woke && s->about == w->about && s->thread != w->thread;
    return came && w->before_ns < s->time_ns && s->time_ns < w->began_ns && !w->uncertain &&
           (!w->over || w->waker.line);
}

/* "T:main at main (f.c:12) (1:2)", new memory. */
static char *healed_say_signal(struct healed *h, const struct healed_signal *s)
{
    const struct table_names names = {&h->subject.source.book, h->subject.sites};
    char at[48], *place = table_say_place(&names, s->place, "");
    ref_print(at, sizeof at, s->at);
    char *said = memory_printed("%s%s%s (%s)", book_label(names.book, s->thread),
                                *place ? " at " : "", place, at);
    free(place);
    return said;
}

static char *healed_say(struct healed *h, const struct healed_signal *lost,
                        const struct healed_wait *w)
{
    const struct book *book = &h->subject.source.book;
    struct healed_signal *later = healed_signal_at(h, w->waker);
    char *signal = healed_say_signal(h, lost), *said;
    if (w->over) {
        char *by = healed_say_signal(h, later);
        said = memory_printed("the signal of %s was lost, and a later one of %s woke %s after "
                              "%.3f ms",
                              signal, by, book_label(book, w->thread),
                              (double)(w->over_ns - w->began_ns) / 1e6);
        free(by);
    } else {
        said = memory_printed("the signal of %s was lost, and %s waited until the program ended",
                              signal, book_label(book, w->thread));
    }
    free(signal);
    return said;
}

static char *healed_look(struct healed *h)
{
    for (uint32_t i = 0; i < h->wait_count; i++)
        for (uint32_t k = 0; k < h->signal_count; k++)
            if (healed_is_lost(&h->signals[k], &h->waits[i]))
                return healed_say(h, &h->signals[k], &h->waits[i]);
    return NULL;
}

char *healed_find(const struct command *command, const char *trace,
                  const struct steer_point *signal, const struct steer_point *wait)
{
    struct healed h = {.signal = signal, .wait = wait};
    char *said = NULL;
    if (!subject_open(command, &h.subject, trace, SOURCE_ALL_LINES, LABELS_NAME))
        return NULL;
    if (subject_ask(command, &h.subject, ASK_DUMP, NULL, healed_take, &h)) {
        subject_label(&h.subject);
        said = healed_look(&h);
    }
    subject_close(&h.subject);
    free(h.signals);
    free(h.waits);
    free(h.times);
    map_free(&h.signal_of);
    map_free(&h.waits_now);
    map_free(&h.last);
    return said;
}
