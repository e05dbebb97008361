#define _GNU_SOURCE
#include "clients/cli/diagram.h"

#include "base/alloc.h"
#include "clients/cli/table_options.h"
#include "clients/connection/client_requests.h"
#include "wire/limits.h"
#include "wire/query_results.h"
#include "wire/request.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static uint32_t event_diagram_row(const struct event_diagram *p, uint32_t line)
{
    uint32_t i = 0;
    while (i < p->row_count && p->rows[i] != line)
        i++;
    return i;
}

/* Removes row i; if it is the first line of a group, the next line of the group becomes first. */
static void event_diagram_remove_row(struct event_diagram *p, uint32_t i)
{
    if (!p->joined[i] && i + 1 < p->row_count)
        p->joined[i + 1] = false;
    memmove(p->rows + i, p->rows + i + 1, (p->row_count - i - 1) * sizeof *p->rows);
    memmove(p->joined + i, p->joined + i + 1, (p->row_count - i - 1) * sizeof *p->joined);
    p->row_count--;
}

static void event_diagram_insert_row(struct event_diagram *p, uint32_t i, uint32_t line, bool joins)
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
static void event_diagram_add_row(struct event_diagram *p, uint32_t line)
{
    if (event_diagram_row(p, line) == p->row_count)
        event_diagram_insert_row(p, p->row_count, line, false);
}

/* Moves a line behind the last one of the group that begins with `first`; adds it if necessary. */
static void event_diagram_join_group(struct event_diagram *p, uint32_t line, uint32_t first)
{
    uint32_t at = event_diagram_row(p, line);
    if (line == first)
        return;
    if (at < p->row_count)
        event_diagram_remove_row(p, at);
    at = event_diagram_row(p, first) + 1;
    while (at < p->row_count && p->joined[at])
        at++;
    event_diagram_insert_row(p, at, line, true);
}

/* Adds the lines that a word of a list selects: a number, or a pattern on names. Returns false if
 * there are none. first: the first line of a group, 0 until it is known; NULL: not a group. */
static bool event_diagram_add_rows(struct event_diagram *p, struct command_source *subject,
                                   const char *word, uint32_t *first)
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
            event_diagram_add_row(p, i);
        if (first && !*first)
            *first = i;
        any = true;
    }
    return any;
}

static bool event_diagram_add_list(const struct command *command, struct event_diagram *p,
                                   struct command_source *subject, const char *option,
                                   const char *list, bool cluster)
{
    char *copy = xstrdup(list), *rest = copy;
    uint32_t first = 0;
    bool ok = true;
    for (char *word; ok && (word = strsep(&rest, ",")) != NULL;) {
        ok = event_diagram_add_rows(p, subject, word, cluster ? &first : NULL);
        if (!ok)
            command_fail(command, "%s: no line named \"%s\"; see poet dump", option, word);
    }
    free(copy);
    return ok;
}

/* Sets the rows: those of --lines, with a group where its first line is, else at the end. Without
 * --lines, the groups, then all other visible lines with events. */
static bool event_diagram_choose_rows(const struct command *command, struct event_diagram *p,
                                      struct command_source *subject)
{
    if (p->lines && !event_diagram_add_list(command, p, subject, "--lines", p->lines, false))
        return false;
    if (!p->cluster_count)
        return true;
    for (unsigned i = 0; i < p->cluster_count; i++)
        if (!event_diagram_add_list(command, p, subject, "--group", p->clusters[i], true))
            return false;
    const struct trace_metadata *book = &subject->source.book;
    for (uint32_t i = 1; !p->lines && i <= book->line_count; i++)
        if (metadata_line_is_visible(book, i) && metadata_line(book, i)->is.events)
            event_diagram_add_row(p, i);
    return true;
}

enum session_lines event_diagram_set_rows(const struct event_diagram *p)
{
    return p->lines || p->cluster_count || p->view ? SESSION_ALL_LINES : SESSION_NAMED_LINES;
}

/* ---- windows ---- */

void event_diagram_send_request(struct event_diagram *p, struct command_source *subject,
                                int32_t from, uint32_t columns, struct command_request *pending)
{
    struct window_request request = p->request;
    request.from = request.middle = from;
    request.columns = columns;
    diagram_window_send(p, subject, &request, pending);
}

/* ---- relations of the selected events ---- */

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
    event_relations_receive(user, answer);
}

/* Requests the relation of each event in the window to the selected event. */
static bool event_diagram_request_relations(const struct command *command, struct event_diagram *p,
                                            struct command_source *subject)
{
    struct event_relations relations = {&p->window, 0};
    struct encoder body = {0};
    while (p->place.color_relations && p->place.selected.line &&
           event_relations_request(&relations, p->place.selected, &body))
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
    return p->all || p->by_time || p->from.is || p->to.is || p->around.line || p->last || p->text;
}

static bool event_diagram_request_part(const struct command *command, struct event_diagram *p,
                                       struct command_source *subject)
{
    p->fold = p->fold < 0 ? p->place.fold : p->fold;
    if (!p->by_time)
        p->by_time = p->scaled = p->column_ns > 0;
    return diagram_range_request(command, p, subject);
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
    p->column_ns = p->by_time ? p->column_ns : p->place.column_ns;
    view_state_request(&p->place, &request);
    p->rows = request.rows;
    p->joined = request.joined;
    p->row_count = request.row_count;
    bool got = event_diagram_is_partial(p) ? event_diagram_request_part(command, p, subject)
                                           : diagram_window_request(command, p, subject, &request);
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

/* ---- placement of tasks on worker threads, as a table of placements ---- */

static void placement_rows_choose_range(const struct event_diagram *p,
                                        struct table_request *request)
{
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
    for (uint32_t i = 0; i < p->window.event_count; i++) {
        int64_t at_ns = p->window.events[i].time_ns;
        from_ns = at_ns < from_ns ? at_ns : from_ns;
        to_ns = at_ns > to_ns ? at_ns : to_ns;
    }
    if (p->all || from_ns > to_ns)
        return;
    request->from = (struct table_end){.is = TABLE_AT_NS, .at = from_ns};
    request->to = (struct table_end){.is = TABLE_AT_NS, .at = to_ns};
}

/* Requests it for the current window; with --all for the whole run. Returns false after
 * reporting an error: nothing is known, or the diagram is not placed by time. */
static bool placement_rows_request(const struct command *command, struct event_diagram *p,
                                   struct command_source *subject)
{
    struct table_request request = {
        .what = (char[]){"placement"}, .by = (char[]){""}, .sort = (char[]){""}};
    struct result_table table = {0};
    struct encoder body = {0};
    if (!p->column_ns)
        return command_fail(command, "--processors: requires --time; columns of the logical order "
                                     "have no time scale") == EXIT_DONE;
    placement_rows_choose_range(p, &request);
    encode_table_request(&body, &request);
    bool good = table_progress_request(command, subject, &body, &table);
    if (good && table.problem)
        good = command_fail(command, "--processors: %s", table.problem) == EXIT_DONE;
    if (good)
        worker_rows_read(&p->carriers, &table);
    result_table_free(&table);
    return good;
}

/* ---- all of it ---- */

bool event_diagram_request(const struct command *command, struct event_diagram *p,
                           struct command_source *subject)
{
    command_source_warn_updated(command, subject);
    if (p->view && !event_diagram_request_view(command, p, subject))
        return false;
    if (!p->view && (!event_diagram_choose_rows(command, p, subject) ||
                     !diagram_range_request(command, p, subject)))
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
    char *range = diagram_range_text(p);
    snprintf(p->title, sizeof p->title, "%s%s%s%s", book->run.name, range,
             !*range && (p->window.more_left || (p->window.more_right && !p->all)) ? " (part)" : "",
             folded ? ", repetitions collapsed (×N)" : "");
    free(range);
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
