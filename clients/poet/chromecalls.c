#include "clients/poet/chromecalls.h"

#include "clients/poet/tables.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE "50000" /* calls of one question */
#define TRACK (1u << 30) /* numbers of their tracks are above those of lines */

struct writing {
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

/* ---- what is written ---- */

static struct json_object *object(const struct writing *w, const char *kind, const char *name,
                                  uint32_t line)
{
    struct json_object *o = w->list->object(w->list->format, kind, name, line);
    json_object_object_add(o, "tid", json_object_new_uint64(TRACK + line));
    return o;
}

static void put_told(const struct writing *w, const char *what, uint32_t line, const char *key,
                     struct json_object *value)
{
    struct json_object *o = object(w, "M", what, line), *args = json_object_new_object();
    json_object_object_add(args, key, value);
    json_object_object_add(o, "args", args);
    w->list->put(w->list->format, o);
}

static void name_track(const struct writing *w, uint32_t line)
{
    const struct book *book = &w->list->format->subject->source.book;
    char *name = memory_printed("%s: calls", book_label(book, line));
    put_told(w, "thread_name", line, "name", json_object_new_string(name));
    put_told(w, "thread_sort_index", line, "sort_index", json_object_new_uint64(line));
    free(name);
}

static void put_at(const struct writing *w, struct json_object *o, int64_t at_ns)
{
    w->list->time(o, "ts", at_ns);
    w->list->put(w->list->format, o);
}

static void put_lost(const struct writing *w, uint32_t line, int64_t at_ns, const char *what)
{
    struct json_object *o = object(w, "i", what, line);
    json_object_object_add(o, "s", json_object_new_string("t"));
    put_at(w, o, at_ns);
}

static void put_row(struct writing *w, const struct shown_table *t, const struct table_cell *cells)
{
    struct subject *subject = w->list->format->subject;
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t line = cells[w->thread].line;
    const char *is = cells[w->is].is == CELL_TEXT ? cells[w->is].text : "open";
    if (cells[w->thread].is != CELL_LINE || !line || line > w->line_count || *is == 'o')
        return; /* what was open when this part began is written */
    struct calls_line *l = &w->lines[line - 1];
    if (!l->named)
        name_track(w, line);
    l->named = true;
    int64_t at_ns = cells[w->at].number > l->now_ns ? cells[w->at].number : l->now_ns;
    l->now_ns = at_ns;
    w->last_ns = at_ns > w->last_ns ? at_ns : w->last_ns;
    char *name = table_say(&names, &t->columns[w->scope], &cells[w->scope]);
    if (strcmp(is, "lost") == 0) {
        put_lost(w, line, at_ns, name);
    } else if (strcmp(is, "entry") == 0) {
        put_at(w, object(w, "B", name, line), at_ns);
        l->open++;
    } else if (l->open) {
        put_at(w, object(w, "E", NULL, line), at_ns);
        l->open--;
    }
    free(name);
}

/* What is open at the end. */
static void close_all(const struct writing *w, int64_t end_ns)
{
    int64_t at_ns = end_ns > w->last_ns ? end_ns : w->last_ns;
    for (uint32_t line = 1; line <= w->line_count; line++)
        for (uint32_t i = 0; i < w->lines[line - 1].open; i++) {
            struct json_object *o = object(w, "E", NULL, line), *args = json_object_new_object();
            json_object_object_add(args, "incomplete", json_object_new_boolean(true));
            json_object_object_add(o, "args", args);
            put_at(w, o, at_ns);
        }
}

/* ---- part by part ---- */

/* When the next part begins, as a note says; false: there is none. */
static bool goes_on(const struct shown_table *t, int64_t *from_ns)
{
    for (uint32_t i = 0; i < t->note_count; i++) {
        const char *said = strstr(t->notes[i], "go on with --from ");
        long long ns;
        if (said && sscanf(said, "go on with --from %lldns", &ns) == 1 && ns > *from_ns) {
            *from_ns = ns;
            return true;
        }
    }
    return false;
}

static bool has_columns(struct writing *w, const struct shown_table *t)
{
    w->scope = table_find(t, "scope");
    w->is = table_find(t, "is");
    w->at = table_find(t, "at_ns");
    w->thread = table_find(t, "thread");
    return w->scope < t->column_count && w->is < t->column_count && w->at < t->column_count &&
           w->thread < t->column_count;
}

/* False: with a complaint. */
static bool take_part(struct writing *w, struct tables *tables, bool *more)
{
    char most[] = "most", count[] = AT_ONCE;
    struct table_option options[] = {{most, count}, {0}};
    struct tables_section section = {.what = "entries", .options = options};
    struct shown_table t = {0};
    int64_t from_ns = tables->from.is == TABLE_AT_NS ? tables->from.at : INT64_MIN;
    bool good = tables_ask(tables, &section, w->list->format->subject, &t) == EXIT_DONE;
    bool known = good && has_columns(w, &t);
    for (uint32_t i = 0; known && i < t.row_count; i++)
        put_row(w, &t, table_cells(&t, i));
    *more = known && goes_on(&t, &from_ns);
    if (*more)
        tables->from = (struct table_end){.is = TABLE_AT_NS, .at = from_ns};
    shown_table_free(&t);
    return good;
}

bool chromecalls_write(const struct chrome_list *list, int64_t end_ns)
{
    struct tables tables = {.command = list->format->command};
    uint32_t count = list->format->subject->source.book.line_count;
    struct writing w = {.list = list,
                        .line_count = count,
                        .lines = memory_zeroed(count + 1, sizeof *w.lines),
                        .last_ns = INT64_MIN};
    bool more = true, good = true;
    while (good && more)
        good = take_part(&w, &tables, &more);
    close_all(&w, end_ns);
    free(w.lines);
    return good;
}
