#define _GNU_SOURCE
#include "clients/cli/diagram.h"

#include "clients/cli/placement_rows.h"
#include "clients/connection/relation_query.h"
#include "clients/connection/view_file.h"
#include "base/alloc.h"
#include "render/time_columns.h"
#include "wire/request_body.h"
#include "wire/query_results.h"
#include "wire/limits.h"
#include "wire/layout_results.h"
#include "wire/event_id.h"

#include <stdlib.h>
#include <string.h>

#define AROUND 60
#define FOLD_ABOVE 400
#define TIME_COLUMNS 300
#define COLUMNS_UNASKED 4000 /* requested by default; far more than fit on the default pages */

static uint32_t row_of(const struct event_diagram *p, uint32_t line)
{
    uint32_t i = 0;
    while (i < p->row_count && p->rows[i] != line)
        i++;
    return i;
}

/* Removes row i; if it is the first line of a group, the next line of the group becomes first. */
static void remove_row(struct event_diagram *p, uint32_t i)
{
    if (!p->joined[i] && i + 1 < p->row_count)
        p->joined[i + 1] = false;
    memmove(p->rows + i, p->rows + i + 1, (p->row_count - i - 1) * sizeof *p->rows);
    memmove(p->joined + i, p->joined + i + 1, (p->row_count - i - 1) * sizeof *p->joined);
    p->row_count--;
}

static void insert_row(struct event_diagram *p, uint32_t i, uint32_t line, bool joins)
{
    p->rows = xreallocarray(p->rows, p->row_count + 1, sizeof *p->rows);
    p->joined = xreallocarray(p->joined, p->row_count + 1, sizeof *p->joined);
    memmove(p->rows + i + 1, p->rows + i, (p->row_count - i) * sizeof *p->rows);
    memmove(p->joined + i + 1, p->joined + i, (p->row_count - i) * sizeof *p->joined);
    p->rows[i] = line;
    p->joined[i] = joins;
    p->row_count++;
}

/* Adds a line in a row of its own, if it has none. */
static void add_row(struct event_diagram *p, uint32_t line)
{
    if (row_of(p, line) == p->row_count)
        insert_row(p, p->row_count, line, false);
}

/* Moves a line behind the last one of the group that begins with `first`; adds it if necessary. */
static void event_diagram_join_group(struct event_diagram *p, uint32_t line, uint32_t first)
{
    uint32_t at = row_of(p, line);
    if (line == first)
        return;
    if (at < p->row_count)
        remove_row(p, at);
    at = row_of(p, first) + 1;
    while (at < p->row_count && p->joined[at])
        at++;
    insert_row(p, at, line, true);
}

/* Adds the lines that a word of a list selects: a number, or a pattern on names. Returns false if
 * there are none. first: the first line of a group, 0 until it is known; NULL: not a group. */
static bool add_rows(struct event_diagram *p, struct command_source *subject, const char *word,
                     uint32_t *first)
{
    const struct trace_metadata *book = &subject->source.book;
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    bool any = false, exact = *word && !*end;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        if (exact ? i != number
                  : !metadata_line_is_visible(book, i) ||
                        !line_label_matches(book, subject->sites, i, word))
            continue;
        if (first && *first)
            event_diagram_join_group(p, i, *first);
        else
            add_row(p, i);
        if (first && !*first)
            *first = i;
        any = true;
    }
    return any;
}

static bool add_list(const struct command *command, struct event_diagram *p,
                     struct command_source *subject, const char *option, const char *list,
                     bool cluster)
{
    char *copy = xstrdup(list), *rest = copy;
    uint32_t first = 0;
    bool ok = true;
    for (char *word; ok && (word = strsep(&rest, ",")) != NULL;) {
        ok = add_rows(p, subject, word, cluster ? &first : NULL);
        if (!ok)
            command_fail(command, "%s: no line named \"%s\"; see poet dump", option, word);
    }
    free(copy);
    return ok;
}

/* Sets the rows: those of --lines, with a group where its first line is, else at the end. Without
 * --lines, the groups, then all other visible lines with events. */
static bool choose_rows(const struct command *command, struct event_diagram *p,
                        struct command_source *subject)
{
    if (p->lines && !add_list(command, p, subject, "--lines", p->lines, false))
        return false;
    if (!p->cluster_count)
        return true;
    for (unsigned i = 0; i < p->cluster_count; i++)
        if (!add_list(command, p, subject, "--group", p->clusters[i], true))
            return false;
    const struct trace_metadata *book = &subject->source.book;
    for (uint32_t i = 1; !p->lines && i <= book->line_count; i++)
        if (metadata_line_is_visible(book, i) && metadata_line(book, i)->is.events)
            add_row(p, i);
    return true;
}

#define ROWS_MOST 1000u /* if there are more, only lines with events in the window are drawn */

enum session_lines event_diagram_set_rows(const struct event_diagram *p)
{
    return p->lines || p->cluster_count || p->view ? SESSION_ALL_LINES : SESSION_NAMED_LINES;
}

/* Formats a number with spaces between groups of three digits: 4 999 940. */
static const char *event_diagram_format_thousands(char *s, size_t size, uint64_t n)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t at = 0;
    for (int i = 0; i < count && at + 2 < size; i++) {
        if (i && (count - i) % 3 == 0)
            s[at++] = ' ';
        s[at++] = digits[i];
    }
    s[at] = 0;
    return s;
}

/* Formats how many lines have no row, and why. */
static void event_diagram_note_lines(const struct event_diagram *p, char *text, size_t size)
{
    uint64_t idle = p->window.idle_lines, left = p->window.left_lines;
    char a[40], b[40];
    int n = 0;
    *text = 0;
    if (idle)
        n = snprintf(text, size, "%s lines without events in this range are hidden",
                     event_diagram_format_thousands(a, sizeof a, idle));
    if (left && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "%s%s more lines omitted (too many)", idle ? "; " : "",
                 event_diagram_format_thousands(b, sizeof b, left));
}

void event_diagram_note(const struct event_diagram *p, char *text, size_t size)
{
    uint64_t discarded = p->window.discarded;
    char lines[EVENT_DIAGRAM_NOTE_BYTES], a[40];
    event_diagram_note_lines(p, lines, sizeof lines);
    if (discarded)
        snprintf(text, size, "%s oldest event%s discarded (ring-buffer mode: --keep)%s%s",
                 event_diagram_format_thousands(a, sizeof a, discarded),
                 discarded == 1 ? " was" : "s were", *lines ? "; " : "", lines);
    else
        snprintf(text, size, "%s", lines);
}

bool event_diagram_has_range(const struct event_diagram *p)
{
    return p->view || p->from.line || p->to.line || p->around.line || p->last || p->text;
}

static void event_diagram_receive_window(void *user, const struct response_chunk *answer)
{
    struct window_info *window = user;
    if (answer->part != RESPONSE_WINDOW)
        return;
    window_info_free(window);
    decode_window(answer->in, window);
    decoder_finish(answer->in);
}

static void event_diagram_send_window_request(struct event_diagram *p,
                                              struct command_source *subject,
                                              struct window_request *request,
                                              struct command_request *pending)
{
    struct encoder body = {0};
    request->rows = p->rows;
    request->joined = p->joined;
    request->row_count = p->row_count;
    request->most_rows = ROWS_MOST;
    p->request = *request;
    encode_window_request(&body, request);
    command_source_send(subject, REQUEST_WINDOW, &body, event_diagram_receive_window, &p->window,
                        pending);
}

static bool event_diagram_request_window(const struct command *command, struct event_diagram *p,
                                         struct command_source *subject,
                                         struct window_request *request)
{
    struct command_request pending;
    event_diagram_send_window_request(p, subject, request, &pending);
    return command_source_request_done(command, &pending);
}

void event_diagram_send_request(struct event_diagram *p, struct command_source *subject,
                                int32_t from, uint32_t columns, struct command_request *pending)
{
    struct window_request request = p->request;
    request.from = request.middle = from;
    request.columns = columns;
    event_diagram_send_window_request(p, subject, &request, pending);
}

/* Keeps the first part that has a hit. */
static void event_diagram_receive_found(void *user, const struct response_chunk *answer)
{
    struct search_result *found = user;
    if (answer->part != RESPONSE_FOUND || found->hit_count)
        return;
    search_result_free(found);
    decode_search_result(answer->in, found);
    decoder_finish(answer->in);
}

/* Sets p->around to the first event with that annotation, or of that type. */
static bool event_diagram_find_text(const struct command *command, struct event_diagram *p,
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
                                     event_diagram_receive_found, &found);
    if (ok && !found.hit_count) {
        command_fail(command, "no event with annotation or type \"%s\"", p->text);
        ok = false;
    }
    if (ok)
        p->around = found.hits[0].at;
    search_result_free(&found);
    return ok;
}

static const struct event_info *find_event(const struct event_diagram *p, struct event_id at)
{
    for (uint32_t i = 0; i < p->window.event_count; i++)
        if (event_id_equal(p->window.events[i].at, at))
            return &p->window.events[i];
    return NULL;
}

/* Removes the events to the right of a column. */
static void event_diagram_trim_right(struct event_diagram *p, int32_t column)
{
    struct window_info *w = &p->window;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        if (w->events[i].column <= column)
            w->events[kept++] = w->events[i];
        else
            event_info_free(&w->events[i]);
    w->more_right |= kept < w->event_count;
    w->event_count = kept;
    w->last = w->last > column ? column : w->last;
}

/* Cuts the window to the columns up to that of `to`. */
static bool event_diagram_cut_at(const struct command *command, struct event_diagram *p,
                                 struct window_request *request, struct command_source *subject)
{
    const struct event_info *e = find_event(p, p->to);
    if (!e) {
        char s[48];
        event_id_print(s, sizeof s, p->to);
        command_fail(command, "--to %s: no such event, or before the start of the range", s);
        return false;
    }
    if (p->by_time) {
        event_diagram_trim_right(p, e->column);
        return true;
    }
    int32_t columns = e->column - request->from + 1;
    request->columns = columns > 0 ? (uint32_t)columns : 1;
    return event_diagram_request_window(command, p, subject, request);
}

static void event_diagram_receive_duration(void *user, const struct response_chunk *answer)
{
    uint64_t *duration = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *duration = stat.duration_ns > 0 ? (uint64_t)stat.duration_ns : 1;
    stat_info_free(&stat);
}

/* Turns the request into one with columns of equal duration: p->column_ns, by default such that
 * the whole run has about TIME_COLUMNS columns. */
static bool event_diagram_scale_by_time(const struct command *command, struct event_diagram *p,
                                        struct command_source *subject,
                                        struct window_request *request)
{
    uint64_t duration = 1;
    if (!p->column_ns && !command_source_request(command, subject, REQUEST_STAT, NULL,
                                                 event_diagram_receive_duration, &duration))
        return false;
    if (!p->column_ns)
        p->column_ns = (uint64_t)time_columns_round((int64_t)(duration / TIME_COLUMNS) + 1);
    request->column_ns = p->column_ns;
    if (request->anchor == ANCHOR_START) {
        request->anchor = ANCHOR_TIME;
        request->time_ns = INT64_MIN;
    }
    p->fold = 0;
    request->fold = false;
    return true;
}

/* Requests the columns around an event, the last ones, those from an event on, or the whole run;
 * in the latter two cases again, with repeats collapsed, if they span FOLD_ABOVE columns. */
static bool event_diagram_request_range(const struct command *command, struct event_diagram *p,
                                        struct command_source *subject)
{
    struct window_request request = {.anchor = ANCHOR_START,
                                     .columns = p->to.line ? LIMIT_COLUMNS : COLUMNS_UNASKED,
                                     .fold = p->fold == 1};
    if (p->around.line) {
        request = (struct window_request){
            .anchor = ANCHOR_EVENT, .event = p->around, .from = -AROUND / 2, .columns = AROUND};
    } else if (p->last) {
        request = (struct window_request){
            .anchor = ANCHOR_END, .from = -(int32_t)p->last, .columns = p->last};
    } else if (p->from.line) {
        request.anchor = ANCHOR_EVENT;
        request.event = p->from;
    }
    if (p->by_time && !event_diagram_scale_by_time(command, p, subject, &request))
        return false;
    if (!event_diagram_request_window(command, p, subject, &request))
        return false;
    if (p->to.line && !event_diagram_cut_at(command, p, &request, subject))
        return false;
    bool whole = !p->around.line && !p->last && p->fold < 0;
    if (whole && p->window.event_count && p->window.last - p->window.first >= FOLD_ABOVE) {
        p->fold = 1;
        request.fold = true;
        return event_diagram_request_window(command, p, subject, &request);
    }
    return true;
}

static bool event_diagram_check_exists(const struct command *command,
                                       struct command_source *subject, struct event_id at)
{
    struct error error;
    if (!at.line || command_source_has_event(subject, at, &error))
        return true;
    command_fail(command, "%s", error.text);
    return false;
}

static void event_diagram_receive_chain(void *user, const struct response_chunk *answer)
{
    struct event_diagram *p = user;
    if (answer->part != RESPONSE_CHAIN)
        return;
    decode_u8(answer->in);
    uint32_t n = decode_count(answer->in, 12);
    p->chain = xreallocarray(p->chain, n, sizeof *p->chain);
    for (p->chain_count = 0; p->chain_count < n; p->chain_count++)
        p->chain[p->chain_count] = decode_event_id(answer->in);
}

/* Requests the causal chain between the two selected events of a view, whichever is first. */
static bool event_diagram_request_chain(const struct command *command, struct event_diagram *p,
                                        struct command_source *subject)
{
    struct event_id ends[2] = {p->place.selected, p->place.second};
    for (int from = 0; from < 2 && ends[0].line && ends[1].line && !p->chain_count; from++) {
        struct encoder body = {0};
        encode_event_id(&body, ends[from]);
        encode_event_id(&body, ends[!from]);
        if (!command_source_request(command, subject, REQUEST_CAUSAL_CHAIN, &body,
                                    event_diagram_receive_chain, p))
            return false;
    }
    return true;
}

static void event_diagram_receive_relations(void *user, const struct response_chunk *answer)
{
    relation_query_receive(user, answer);
}

/* Requests the relation of each event in the window to the selected event. */
static bool event_diagram_request_relations(const struct command *command, struct event_diagram *p,
                                            struct command_source *subject)
{
    struct event_relations relations = {&p->window, 0};
    struct encoder body = {0};
    while (p->place.color_relations && p->place.selected.line &&
           relation_query_send(&relations, p->place.selected, &body))
        if (!command_source_request(command, subject, REQUEST_RELATIONS, &body,
                                    event_diagram_receive_relations, &relations))
            return false;
    return true;
}

bool event_diagram_columns(const struct command *command, struct event_diagram *p,
                           struct command_source *subject, int32_t from, uint32_t columns)
{
    struct command_request pending;
    event_diagram_send_request(p, subject, from, columns, &pending);
    return command_source_request_done(command, &pending) &&
           event_diagram_request_relations(command, p, subject);
}

/* Returns whether the options request another part of the run than the saved view shows; then only
 * its rows and its style are used. */
static bool event_diagram_is_partial(const struct event_diagram *p)
{
    return p->all || p->from.line || p->to.line || p->around.line || p->last || p->text;
}

static bool event_diagram_request_part(const struct command *command, struct event_diagram *p,
                                       struct command_source *subject)
{
    p->fold = p->fold < 0 ? p->place.fold : p->fold;
    p->by_time = p->scaled = p->column_ns > 0;
    return event_diagram_check_exists(command, subject, p->from) &&
           event_diagram_check_exists(command, subject, p->to) &&
           event_diagram_check_exists(command, subject, p->around) &&
           (!p->text || event_diagram_find_text(command, p, subject)) &&
           event_diagram_request_range(command, p, subject);
}

/* Requests the window of a saved view. A view of another run only has rows: the whole run is shown
 * with them. */
static bool event_diagram_request_view(const struct command *command, struct event_diagram *p,
                                       struct command_source *subject)
{
    struct error error;
    struct window_request request;
    if (!view_file_read(&p->place, &p->look, &subject->source.book, subject->sites, p->view,
                        &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    bool elsewhere = !p->place.columns;
    if (elsewhere)
        p->place.columns = COLUMNS_UNASKED;
    line_labels_reassign(&subject->source.book, subject->sites, &subject->known, p->look.labels);
    p->no_legend |= !p->look.legend;
    p->no_order_arrows |= p->look.no_order;
    p->column_ns = p->place.column_ns;
    view_state_request(&p->place, &request);
    p->rows = request.rows;
    p->joined = request.joined;
    p->row_count = request.row_count;
    bool got = event_diagram_is_partial(p)
                   ? event_diagram_request_part(command, p, subject)
                   : event_diagram_request_window(command, p, subject, &request);
    return got && event_diagram_request_relations(command, p, subject) &&
           event_diagram_request_chain(command, p, subject);
}

/* Reads the notes. If they are unreadable, reports it; the diagram is drawn without them. */
static void event_diagram_read_notes(const struct command *command, struct event_diagram *p,
                                     const struct command_source *subject)
{
    struct error error;
    if (p->no_notes)
        return;
    if (!note_file_open(&p->notes, &subject->source, &error))
        fprintf(stderr, "poet %s: %s\n", command->name, error.text);
    p->noted = xcalloc(p->notes.count, sizeof *p->noted);
    for (uint32_t i = 0; i < p->notes.count; i++)
        p->noted[i] = (struct scene_noted){p->notes.items[i].at, p->notes.items[i].text};
}

bool event_diagram_request(const struct command *command, struct event_diagram *p,
                           struct command_source *subject)
{
    command_source_warn_updated(command, subject);
    if (p->view && !event_diagram_request_view(command, p, subject))
        return false;
    if (!p->view && (!choose_rows(command, p, subject) ||
                     !event_diagram_check_exists(command, subject, p->from) ||
                     !event_diagram_check_exists(command, subject, p->to) ||
                     !event_diagram_check_exists(command, subject, p->around) ||
                     (p->text && !event_diagram_find_text(command, p, subject)) ||
                     !event_diagram_request_range(command, p, subject)))
        return false;
    if (p->processors && !placement_rows_request(command, p, subject))
        return false;
    event_diagram_read_notes(command, p, subject);
    if (!command_source_deadlock_events(command, subject, &p->stuck, &p->stuck_count))
        return false;
    const struct trace_metadata *book = &subject->source.book;
    bool folded = false;
    for (uint32_t i = 0; i < p->window.event_count; i++)
        folded |= p->window.events[i].fold > 0;
    snprintf(p->title, sizeof p->title, "%s%s%s", book->run.name,
             p->window.more_left || (p->window.more_right && !p->all) ? " (part)" : "",
             folded ? ", repetitions collapsed (×N)" : "");
    return true;
}

void event_diagram_free(struct event_diagram *p)
{
    window_info_free(&p->window);
    free(p->rows);
    free(p->joined);
    view_state_free(&p->place);
    note_file_free(&p->notes);
    free(p->noted);
    free(p->chain);
    free(p->stuck);
    worker_rows_free(&p->carriers);
}
