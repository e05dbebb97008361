#define _GNU_SOURCE
#include "clients/cli/suspect_run.h"

#include "base/alloc.h"
#include "base/map.h"
#include "clients/cli/command_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* An event that is an operation. */
struct suspect_event {
    int64_t time_ns; /* not before that of any event on its line or of its thread before it */
    uint32_t index; /* in the log, from the first operation */
    uint32_t operations[SUSPECT_NAMES], thread, object;
    bool request; /* not an event of the object: its thread is about to use it */
    bool fulfilled; /* and did so next: only that is an operation */
    struct event_id at;
};

struct suspect_reader {
    struct order_predicates **predicates;
    struct command_source subject;
    struct map times; /* the latest time of a line, 1 + its index in latest_ns */
    int64_t *latest_ns;
    size_t latest_count, latest_room;
    struct map last; /* the last event of a thread, 1 + its index in `events` */
    struct map known[SUSPECT_NAMES]; /* operations, by lines, type and place */
    struct suspect_event *events;
    size_t count, room;
};

/* Returns the name that the line of the same role has in each run, in new memory: without the
 * number of several lines of one name, unless `numbered`. */
static char *suspect_name(const struct suspect_reader *r, uint32_t line, bool numbered)
{
    const char *label = line ? metadata_label(&r->subject.source.book, line) : "";
    size_t size = strlen(label), end = size;
    while (end && isdigit((unsigned char)label[end - 1]))
        end--;
    if (!numbered && end && end < size && (label[end - 1] == '#' || label[end - 1] == ' '))
        size = end - 1;
    return xstrndup(label, size);
}

static bool suspect_is_thread(const struct suspect_reader *r, uint32_t line)
{
    return line && metadata_line_is_thread(&r->subject.source.book, line);
}

/* Returns whether the object is a lock, by its description. */
static bool suspect_guards(const struct suspect_reader *r, uint32_t object)
{
    const struct target_line_type *type =
        object ? metadata_line_type(&r->subject.source.book, object) : NULL;
    return type && type->category == CATEGORY_LOCK;
}

/* Returns the operation; it is looked up by numbers before any text is made. */
static uint32_t suspect_operation(struct suspect_reader *r, const struct event_info *e,
                                  enum suspect_names names, uint32_t thread, uint32_t object,
                                  bool request)
{
    uint64_t lines = (uint64_t)thread << 32 | object;
    uint64_t what = (e->site ^ (uint64_t)e->process << 48) * UINT64_C(0x9e3779b97f4a7c15) + e->type;
    uintptr_t known = (uintptr_t)map_get(&r->known[names], lines, what);
    if (known)
        return (uint32_t)(known - 1);
    char *who = suspect_name(r, thread, names == SUSPECT_THREADS),
         *at = suspect_name(r, object, names == SUSPECT_THREADS && suspect_is_thread(r, object));
    struct predicate_operation operation = {
        .thread = who,
        .type = metadata_type_name(&r->subject.source.book, e->type),
        .object = at,
        .place = command_source_site(&r->subject, e),
        .guards = suspect_guards(r, object),
        .request = request};
    uint32_t number = order_predicates_operation(r->predicates[names], &operation);
    free(who);
    free(at);
    map_put(&r->known[names], lines, what, (void *)((uintptr_t)number + 1));
    return number;
}

/* Raises the time of an event to that of the last one on the line, and remembers it. */
static int64_t suspect_after_line(struct suspect_reader *r, uint32_t line, int64_t time_ns)
{
    int64_t *latest =
        MAP_ITEM(&r->times, line, 0, r->latest_ns, r->latest_count, r->latest_room, time_ns);
    if (*latest < time_ns)
        *latest = time_ns;
    return *latest;
}

/* Returns the object of an event, 0: none. Of a synchronization point, the event where its thread
 * is outside is the operation, and that of the object is not. */
static uint32_t suspect_object(const struct suspect_reader *r, const struct event_info *e,
                               uint32_t thread, bool *request)
{
    uint32_t line = e->at.line;
    *request = false;
    if (e->relation == RELATION_SYNC && e->partner_count == 1)
        line = e->partners[0].line;
    if (e->about) {
        *request = line == thread || suspect_guards(r, e->about);
        return e->about;
    }
    return line == thread || line & HIDDEN_LINE ? 0 : line;
}

static void suspect_take_event(struct suspect_reader *r, const struct event_info *e)
{
    uint32_t thread = e->thread ? e->thread : e->at.line;
    if (e->state != EVENT_ORDERED || e->at.line & HIDDEN_LINE)
        return;
    int64_t time_ns = suspect_after_line(r, thread, e->time_ns);
    time_ns = suspect_after_line(r, e->at.line, time_ns);
    suspect_after_line(r, thread, time_ns);
    if (event_is_of_entered_object(&r->subject.source.book, e))
        return;
    bool request;
    uint32_t object = suspect_object(r, e, thread, &request);
    uintptr_t last = (uintptr_t)map_get(&r->last, thread, 0);
    if (last && r->events[last - 1].request && r->events[last - 1].object == object)
        r->events[last - 1].fulfilled = true;
    r->events = array_reserve(r->events, &r->room, r->count + 1, sizeof *r->events);
    r->events[r->count] = (struct suspect_event){.time_ns = time_ns,
                                                 .index = (uint32_t)r->count,
                                                 .thread = thread,
                                                 .object = object,
                                                 .request = request,
                                                 .at = e->at};
    for (unsigned names = 0; names < SUSPECT_NAMES; names++)
        r->events[r->count].operations[names] =
            suspect_operation(r, e, names, thread, object, request);
    map_put(&r->last, thread, 0, (void *)(uintptr_t)++r->count);
}

static void suspect_receive(void *user, const struct response_chunk *answer)
{
    struct suspect_reader *r = user;
    struct event_info e;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &e);
    if (!answer->in->error)
        suspect_take_event(r, &e);
    event_info_free(&e);
}

static int suspect_compare(const void *left, const void *right)
{
    const struct suspect_event *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool suspect_read(const struct command *command, struct suspect_reader *r, bool failed)
{
    struct session *source = &r->subject.source;
    if (source->book.run.events > SUSPECT_EVENTS_MOST) {
        command_fail(command, "%s has %llu events; at most %u can be compared", source->name,
                     (unsigned long long)source->book.run.events, SUSPECT_EVENTS_MOST);
        return false;
    }
    command_source_label_lines(&r->subject);
    for (unsigned names = 0; names < SUSPECT_NAMES; names++)
        order_predicates_begin_run(r->predicates[names], failed);
    if (!command_source_request(command, &r->subject, REQUEST_DUMP, NULL, suspect_receive, r))
        return false;
    if (r->count)
        qsort(r->events, r->count, sizeof *r->events, suspect_compare);
    for (size_t i = 0; i < r->count; i++) {
        const struct suspect_event *e = &r->events[i];
        for (unsigned names = 0; names < SUSPECT_NAMES && !e->fulfilled; names++)
            order_predicates_add(r->predicates[names], e->operations[names], e->thread,
                                 e->request ? 0 : e->object, e->at);
    }
    return true;
}

bool suspect_run_add(const struct command *command,
                     struct order_predicates *predicates[SUSPECT_NAMES], const char *trace,
                     bool failed)
{
    struct suspect_reader r = {.predicates = predicates};
    if (!command_source_open(command, &r.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return false;
    bool read = suspect_read(command, &r, failed);
    command_source_close(&r.subject);
    map_free(&r.times);
    map_free(&r.last);
    for (unsigned names = 0; names < SUSPECT_NAMES; names++)
        map_free(&r.known[names]);
    free(r.latest_ns);
    free(r.events);
    return read;
}
