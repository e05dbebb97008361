#include "clients/cli/chrome_calls.h"

#include "clients/cli/table_options.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE "50000" /* maximum number of entries and returns per request */
#define TRACK (1u << 30) /* added to a line for its track of calls: above the tracks of lines */

struct chrome_calls_writer {
    const struct chrome_list *list;
    struct calls_line {
        bool named;
        uint32_t open;
        int64_t now_ns;
    } *lines; /* by line - 1 */
    uint32_t line_count;
    uint32_t scope, is, at, thread; /* columns */
    int64_t last_ns;
};

/* ---- writing calls ---- */

static struct json_object *chrome_calls_make_object(const struct chrome_calls_writer *w,
                                                    const char *kind, const char *name,
                                                    uint32_t line)
{
    struct json_object *o = w->list->object(w->list->format, kind, name, line);
    json_object_object_add(o, "tid", json_object_new_uint64(TRACK + line));
    return o;
}

static void chrome_calls_write_metadata(const struct chrome_calls_writer *w, const char *what,
                                        uint32_t line, const char *key, struct json_object *value)
{
    struct json_object *o = chrome_calls_make_object(w, "M", what, line),
                       *args = json_object_new_object();
    json_object_object_add(args, key, value);
    json_object_object_add(o, "args", args);
    w->list->put(w->list->format, o);
}

static void chrome_calls_name_track(const struct chrome_calls_writer *w, uint32_t line)
{
    const struct trace_metadata *book = &w->list->format->subject->source.book;
    char *name = xasprintf("%s: calls", metadata_label(book, line));
    chrome_calls_write_metadata(w, "thread_name", line, "name", json_object_new_string(name));
    chrome_calls_write_metadata(w, "thread_sort_index", line, "sort_index",
                                json_object_new_uint64(line));
    free(name);
}

static void chrome_calls_append_at(const struct chrome_calls_writer *w, struct json_object *o,
                                   int64_t at_ns)
{
    w->list->time(o, "ts", at_ns);
    w->list->put(w->list->format, o);
}

static void chrome_calls_append_lost(const struct chrome_calls_writer *w, uint32_t line,
                                     int64_t at_ns, const char *what)
{
    struct json_object *o = chrome_calls_make_object(w, "i", what, line);
    json_object_object_add(o, "s", json_object_new_string("t"));
    chrome_calls_append_at(w, o, at_ns);
}

static void chrome_calls_append_row(struct chrome_calls_writer *w, const struct result_table *t,
                                    const struct table_cell *cells)
{
    struct command_source *subject = w->list->format->subject;
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t line = cells[w->thread].line;
    const char *is = cells[w->is].is == CELL_TEXT ? cells[w->is].text : "open";
    if (cells[w->thread].is != CELL_LINE || !line || line > w->line_count || *is == 'o')
        return; /* "open": it began in an earlier part, and was written then */
    struct calls_line *l = &w->lines[line - 1];
    if (!l->named)
        chrome_calls_name_track(w, line);
    l->named = true;
    int64_t at_ns = cells[w->at].number > l->now_ns ? cells[w->at].number : l->now_ns;
    l->now_ns = at_ns;
    w->last_ns = at_ns > w->last_ns ? at_ns : w->last_ns;
    char *name = result_table_cell_text(&names, &t->columns[w->scope], &cells[w->scope]);
    if (strcmp(is, "lost") == 0) {
        chrome_calls_append_lost(w, line, at_ns, name);
    } else if (strcmp(is, "entry") == 0) {
        chrome_calls_append_at(w, chrome_calls_make_object(w, "B", name, line), at_ns);
        l->open++;
    } else if (l->open) {
        chrome_calls_append_at(w, chrome_calls_make_object(w, "E", NULL, line), at_ns);
        l->open--;
    }
    free(name);
}

/* Ends the calls that are open at the end. */
static void chrome_calls_close(const struct chrome_calls_writer *w, int64_t end_ns)
{
    int64_t at_ns = end_ns > w->last_ns ? end_ns : w->last_ns;
    for (uint32_t line = 1; line <= w->line_count; line++)
        for (uint32_t i = 0; i < w->lines[line - 1].open; i++) {
            struct json_object *o = chrome_calls_make_object(w, "E", NULL, line),
                               *args = json_object_new_object();
            json_object_object_add(args, "incomplete", json_object_new_boolean(true));
            json_object_object_add(o, "args", args);
            chrome_calls_append_at(w, o, at_ns);
        }
}

/* ---- requests ---- */

/* Sets *from_ns to the start of the next part, which a note of the table names; returns false if
 * there is none. */
static bool chrome_calls_next_part(const struct result_table *t, int64_t *from_ns)
{
    for (uint32_t i = 0; i < t->note_count; i++) {
        const char *text = strstr(t->notes[i], "continue with --from ");
        long long ns;
        if (text && sscanf(text, "continue with --from %lldns", &ns) == 1 && ns > *from_ns) {
            *from_ns = ns;
            return true;
        }
    }
    return false;
}

static bool has_columns(struct chrome_calls_writer *w, const struct result_table *t)
{
    w->scope = result_table_find_column(t, "function");
    w->is = result_table_find_column(t, "kind");
    w->at = result_table_find_column(t, "start_ns");
    w->thread = result_table_find_column(t, "thread");
    return w->scope < t->column_count && w->is < t->column_count && w->at < t->column_count &&
           w->thread < t->column_count;
}

/* Returns false after reporting an error. */
static bool chrome_calls_receive_part(struct chrome_calls_writer *w, struct table_settings *tables,
                                      bool *more)
{
    char most[] = "most", count[] = AT_ONCE;
    struct table_option options[] = {{most, count}, {0}};
    struct table_section section = {.what = "entries", .options = options};
    struct result_table t = {0};
    int64_t from_ns = tables->from.is == TABLE_AT_NS ? tables->from.at : INT64_MIN;
    bool good = table_request_run(tables, &section, w->list->format->subject, &t) == EXIT_DONE;
    bool known = good && has_columns(w, &t);
    for (uint32_t i = 0; known && i < t.row_count; i++)
        chrome_calls_append_row(w, &t, result_table_cells(&t, i));
    *more = known && chrome_calls_next_part(&t, &from_ns);
    if (*more)
        tables->from = (struct table_end){.is = TABLE_AT_NS, .at = from_ns};
    result_table_free(&t);
    return good;
}

bool chrome_calls_write(const struct chrome_list *list, int64_t end_ns)
{
    struct table_settings tables = {.command = list->format->command};
    uint32_t count = list->format->subject->source.book.line_count;
    struct chrome_calls_writer w = {.list = list,
                                    .line_count = count,
                                    .lines = xcalloc(count + 1, sizeof *w.lines),
                                    .last_ns = INT64_MIN};
    bool more = true, good = true;
    while (good && more)
        good = chrome_calls_receive_part(&w, &tables, &more);
    chrome_calls_close(&w, end_ns);
    free(w.lines);
    return good;
}
