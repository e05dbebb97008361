/* Ranges of a diagram: which window of the run it shows. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/map.h"
#include "clients/cli/diagram.h"
#include "clients/metadata/event_text.h"
#include "render/scene_times.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/query_results.h"
#include "wire/request.h"

#include <stdlib.h>
#include <string.h>

#define AROUND 60
#define FOLD_ABOVE 400
#define TIME_COLUMNS 300

/* ---- whether there is one ---- */

bool diagram_range_is_set(const struct event_diagram *p)
{
    return p->from.is || p->to.is || p->around.line || p->last || p->text;
}

bool diagram_range_is_of_times(const struct event_diagram *p)
{
    return (p->from.is || p->to.is) && p->from.is != TABLE_AT_EVENT && p->to.is != TABLE_AT_EVENT;
}

char *diagram_range_text(const struct event_diagram *p)
{
    char from[48], to[48];
    time_columns_print(p->from.at, 1, from, sizeof from);
    time_columns_print(p->to.at, 1, to, sizeof to);
    return !diagram_range_is_of_times(p) ? xstrdup("")
           : !p->to.is                   ? xasprintf(", from %s", from)
                                         : xasprintf(", %s – %s", from, to);
}

#define ROWS_MOST 1000u /* if there are more, only lines with events in the window are drawn */

/* ---- windows ---- */

static void diagram_range_receive_window(void *user, const struct response_chunk *answer)
{
    struct window_info *window = user;
    if (answer->part != RESPONSE_WINDOW)
        return;
    window_info_free(window);
    decode_window(answer->in, window);
    decoder_finish(answer->in);
}

void diagram_window_send(struct event_diagram *p, struct command_source *subject,
                         struct window_request *request, struct command_request *pending)
{
    struct encoder body = {0};
    request->rows = p->rows;
    request->joined = p->joined;
    request->row_count = p->row_count;
    request->most_rows = ROWS_MOST;
    p->request = *request;
    encode_window_request(&body, request);
    command_source_send(subject, REQUEST_WINDOW, &body, diagram_range_receive_window, &p->window,
                        pending);
}

bool diagram_window_request(const struct command *command, struct event_diagram *p,
                            struct command_source *subject, struct window_request *request)
{
    struct command_request pending;
    diagram_window_send(p, subject, request, &pending);
    return command_source_request_done(command, &pending);
}

/* ---- by text ---- */

/* Keeps the first part that has a hit. */
static void diagram_range_receive_found(void *user, const struct response_chunk *answer)
{
    struct search_result *found = user;
    if (answer->part != RESPONSE_FOUND || found->hit_count)
        return;
    search_result_free(found);
    decode_search_result(answer->in, found);
    decoder_finish(answer->in);
}

/* Sets p->around to the first event with that annotation, or of that type. */
static bool diagram_range_find_text(const struct command *command, struct event_diagram *p,
                                    struct command_source *subject)
{
    const struct trace_metadata *book = &subject->source.book;
    uint32_t *types = xcalloc(book->type_count, sizeof *types);
    struct search_request request = {
        .any = true, .limit = 1, .types = types, .text = (char *)(uintptr_t)p->text};
    struct search_result found = {0};
    struct encoder body = {0};
    for (uint32_t i = 1; i <= book->type_count; i++)
        if (strcasecmp(metadata_type_name(book, i), p->text) == 0)
            types[request.type_count++] = i;
    encode_search_request(&body, &request);
    free(types);
    bool ok = command_source_request(command, subject, REQUEST_SEARCH, &body,
                                     diagram_range_receive_found, &found);
    if (ok && !found.hit_count) {
        command_fail(command, "no event with annotation or type \"%s\"", p->text);
        ok = false;
    }
    if (ok)
        p->around = found.hits[0].at;
    search_result_free(&found);
    return ok;
}

static const struct event_info *diagram_range_find_event(const struct event_diagram *p,
                                                         struct event_id at)
{
    for (uint32_t i = 0; i < p->window.event_count; i++)
        if (event_id_equal(p->window.events[i].at, at))
            return &p->window.events[i];
    return NULL;
}

/* Adds the messages to an event that is right of the window now, from events left of it. */
static void diagram_range_add_crossings(struct window_info *w, const struct map *inside,
                                        const struct event_info *e)
{
    bool receives = e->relation == RELATION_RECEIVE && !e->partner_lost;
    for (uint32_t i = 0; i < e->partner_count && receives; i++) {
        struct event_id from = e->partners[i];
        if (map_get(inside, from.line, from.number))
            continue;
        w->crossings = xreallocarray(w->crossings, w->crossing_count + 1, sizeof *w->crossings);
        w->crossings[w->crossing_count++] = (struct crossing_info){from, e->at};
    }
}

/* Returns whether an event is in the range, by its right end: one with this column. */
static bool diagram_range_has_event(const struct event_diagram *p, const struct event_info *e,
                                    int32_t column)
{
    bool by_time = p->by_time && p->to.is == TABLE_AT_NS;
    return e->column <= column && !(by_time && e->time_ns >= p->to.at);
}

/* Removes the events to the right of a column. */
static void diagram_range_trim(struct event_diagram *p, int32_t column)
{
    struct window_info *w = &p->window;
    struct map inside = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        map_put(&inside, w->events[i].at.line, w->events[i].at.number, w);
    for (uint32_t i = 0; i < w->event_count; i++)
        if (diagram_range_has_event(p, &w->events[i], column)) {
            w->events[kept++] = w->events[i];
        } else {
            diagram_range_add_crossings(w, &inside, &w->events[i]);
            event_info_free(&w->events[i]);
        }
    map_free(&inside);
    w->more_right |= kept < w->event_count;
    w->event_count = kept;
    w->last = w->last > column ? column : w->last;
}

/* Returns the last event before the time at which the range ends; NULL if there is none. */
static const struct event_info *diagram_range_last_before(const struct event_diagram *p)
{
    const struct event_info *last = NULL;
    int64_t from_ns = p->from.is == TABLE_AT_NS ? p->from.at : INT64_MIN;
    for (uint32_t i = 0; i < p->window.event_count; i++) {
        const struct event_info *e = &p->window.events[i];
        if (e->time_ns < p->to.at && e->time_ns >= from_ns && (!last || e->column > last->column))
            last = e;
    }
    return last;
}

/* Reports that there is no event before the end of the range. */
static bool diagram_range_fail_at_end(const struct command *command, const struct event_diagram *p)
{
    char s[48], from[48] = "the start of the run";
    if (p->to.is == TABLE_AT_NS) {
        time_columns_print(p->to.at, 1, s, sizeof s);
        if (p->from.is == TABLE_AT_NS)
            time_columns_print(p->from.at, 1, from, sizeof from);
        else if (p->from.is)
            event_id_print(from, sizeof from, p->from.event);
        command_fail(command, "no event between %s and %s", from, s);
    } else {
        event_id_print(s, sizeof s, p->to.event);
        command_fail(command, "--to %s: no such event, or before the start of the range", s);
    }
    return false;
}

/* Cuts the window to the columns up to the end of the range. */
static bool diagram_range_cut(const struct command *command, struct event_diagram *p,
                              struct window_request *request, struct command_source *subject)
{
    const struct event_info *e = p->to.is == TABLE_AT_NS ? diagram_range_last_before(p)
                                                         : diagram_range_find_event(p, p->to.event);
    if (!e && p->may_be_empty)
        diagram_range_trim(p, INT32_MIN);
    if (!e)
        return p->may_be_empty || diagram_range_fail_at_end(command, p);
    if (p->by_time) {
        diagram_range_trim(p, e->column);
        return true;
    }
    int32_t columns = e->column - request->from + 1;
    request->columns = columns > 0 ? (uint32_t)columns : 1;
    return diagram_window_request(command, p, subject, request);
}

static void diagram_range_receive_duration(void *user, const struct response_chunk *answer)
{
    int64_t *duration = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *duration = stat.duration_ns > 0 ? stat.duration_ns : 1;
    stat_info_free(&stat);
}

/* Sets the duration that is drawn: that of the run, or from one time to another. */
static bool diagram_range_measure(const struct command *command, struct event_diagram *p,
                                  struct command_source *subject)
{
    int64_t from_ns = p->from.is == TABLE_AT_NS ? p->from.at : 0, to_ns = p->to.at;
    if (p->to.is != TABLE_AT_NS && !command_source_request(command, subject, REQUEST_STAT, NULL,
                                                           diagram_range_receive_duration, &to_ns))
        return false;
    p->duration_ns = to_ns > from_ns ? to_ns - from_ns : 1;
    return true;
}

/* Turns the request into one with columns of equal duration: p->column_ns, by default such that
 * the range has about TIME_COLUMNS columns. */
static bool diagram_range_scale(const struct command *command, struct event_diagram *p,
                                struct command_source *subject, struct window_request *request)
{
    if (!p->column_ns && !diagram_range_measure(command, p, subject))
        return false;
    if (!p->column_ns)
        p->column_ns = (uint64_t)time_columns_round(p->duration_ns / TIME_COLUMNS + 1);
    request->column_ns = p->column_ns;
    if (request->anchor == ANCHOR_START) {
        request->anchor = ANCHOR_TIME;
        request->time_ns = INT64_MIN;
    }
    p->fold = 0;
    request->fold = false;
    return true;
}

/* Returns the request for the columns around an event, the last ones, those from an event or a time
 * on, or the whole run. */
static struct window_request diagram_range_first_request(const struct event_diagram *p)
{
    struct window_request request = {.anchor = ANCHOR_START,
                                     .columns = p->to.is ? LIMIT_COLUMNS : COLUMNS_UNASKED,
                                     .fold = p->fold == 1};
    if (p->around.line)
        return (struct window_request){
            .anchor = ANCHOR_EVENT, .event = p->around, .from = -AROUND / 2, .columns = AROUND};
    if (p->last)
        return (struct window_request){
            .anchor = ANCHOR_END, .from = -(int32_t)p->last, .columns = p->last};
    if (p->from.is) {
        request.anchor = p->from.is == TABLE_AT_NS ? ANCHOR_TIME : ANCHOR_EVENT;
        request.event = p->from.event;
        request.time_ns = p->from.at;
    }
    return request;
}

/* Requests the window of the range; again, with repeats collapsed, if it extends to the end of the
 * run and spans FOLD_ABOVE columns. */
static bool diagram_range_request_window(const struct command *command, struct event_diagram *p,
                                         struct command_source *subject)
{
    struct window_request request = diagram_range_first_request(p);
    if (p->by_time && !diagram_range_scale(command, p, subject, &request))
        return false;
    if (!diagram_window_request(command, p, subject, &request))
        return false;
    if (p->to.is && !diagram_range_cut(command, p, &request, subject))
        return false;
    bool whole = !p->around.line && !p->last && !p->to.is && p->fold < 0;
    if (whole && p->window.event_count && p->window.last - p->window.first >= FOLD_ABOVE) {
        p->fold = 1;
        request.fold = true;
        return diagram_window_request(command, p, subject, &request);
    }
    return true;
}

static bool diagram_range_event_exists(const struct command *command,
                                       struct command_source *subject, struct event_id at)
{
    struct error error;
    if (!at.line || command_source_has_event(subject, at, &error))
        return true;
    command_fail(command, "%s", error.text);
    return false;
}

bool diagram_range_request(const struct command *command, struct event_diagram *p,
                           struct command_source *subject)
{
    return diagram_range_event_exists(command, subject, p->from.event) &&
           diagram_range_event_exists(command, subject, p->to.event) &&
           diagram_range_event_exists(command, subject, p->around) &&
           (!p->text || diagram_range_find_text(command, p, subject)) &&
           diagram_range_request_window(command, p, subject);
}
