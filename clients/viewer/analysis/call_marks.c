/* The function of a row of a call table in the diagram: its events are marked, its share is
 * highlighted; and conversely the row of a call table in which an event was made. */
#include "clients/viewer/analysis/calls_tab.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/highlights.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static const struct table_cell *scope_of(const struct result_table *t, uint32_t row)
{
    uint32_t column = result_table_find_column(t, "function");
    return column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
}

static void call_marks_append_function(struct call_marks *m, const struct table_names *names,
                                       const struct result_table *t, uint32_t row)
{
    const struct table_cell *scope = scope_of(t, row);
    struct call_marks_function in = {{0}, NULL};
    if (!scope || scope->is == CELL_LINE || scope->is == CELL_NAME)
        return; /* a thread, or part of a function: events have no address for it */
    if (scope->is == CELL_PLACE) {
        in.place = scope->place;
        in.name = result_table_place_text(names, scope->place, "");
    } else if (scope->is == CELL_TEXT) {
        in.name = strdup(scope->text);
    }
    m->in = g_renew(struct call_marks_function, m->in, m->count + 1);
    m->in[m->count++] = in;
}

void call_marks_set_row(struct call_marks *m, const struct table_names *names,
                        const struct result_table *t, int row)
{
    call_marks_free(m);
    for (int i = row; i >= 0; i--) {
        if (i < row && t->rows[i].depth >= t->rows[row].depth)
            continue;
        call_marks_append_function(m, names, t, (uint32_t)i);
        row = i;
        if (!t->rows[i].depth)
            break;
    }
}

void call_marks_free(struct call_marks *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        free(m->in[i].name);
    g_free(m->in);
    *m = (struct call_marks){0};
}

/* ---- events ---- */

/* Compares names if the processes differ, since addresses differ then, too. */
static bool is_place(const struct table_names *names, const struct call_marks_function *in,
                     uint32_t process, uint64_t address)
{
    if (in->place.process == process)
        return in->place.address == address;
    char *name = result_table_place_text(names, (struct table_place){process, address}, "");
    bool is = *name && strcmp(name, in->name) == 0;
    free(name);
    return is;
}

static bool was_in(struct view *view, const struct table_names *names,
                   const struct call_marks_function *in, const struct event_info *e)
{
    if (!in->place.address)
        return in->name && strcmp(metadata_type_name(view_metadata(view), e->type), in->name) == 0;
    for (uint32_t i = 0; i < e->call_count; i++)
        if (is_place(names, in, e->process, e->calls[i]))
            return true;
    return false;
}

static bool was_in_all(struct view *view, const struct table_names *names,
                       const struct call_marks *m, const struct event_info *e)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (!was_in(view, names, &m->in[i], e))
            return false;
    return m->count > 0;
}

void call_marks_mark(struct view *view, const struct call_marks *m)
{
    struct table_names names = {view_metadata(view), view->server_link.sites};
    const struct window_info *w = &view->scene_cache.window;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct event_id));
    for (uint32_t i = 0; m->count && i < w->event_count + w->pending_count; i++) {
        const struct event_info *e =
            i < w->event_count ? &w->events[i] : &w->pending[i - w->event_count];
        if (was_in_all(view, &names, m, e))
            g_array_append_val(events, e->at);
    }
    highlights_add(&view->highlights, (struct event_id *)(void *)events->data, events->len);
    g_array_free(events, TRUE);
}

/* ---- the row of an event ---- */

static bool is_row(const struct result_table *t, const struct table_names *names, uint32_t row,
                   struct table_place place)
{
    const struct table_cell *scope = scope_of(t, row);
    if (!scope || scope->is != CELL_PLACE)
        return false;
    if (scope->place.process == place.process)
        return scope->place.address == place.address;
    struct call_marks_function in = {scope->place,
                                     result_table_place_text(names, scope->place, "")};
    bool is = is_place(names, &in, place.process, place.address);
    free(in.name);
    return is;
}

int call_marks_find_function_row(const struct result_table *t, const struct table_names *names,
                                 struct table_place function)
{
    int found = -1;
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (!is_row(t, names, i, function))
            continue;
        if (!t->rows[i].depth)
            return (int)i;
        found = found < 0 ? (int)i : found;
    }
    return found;
}

static uint32_t end_of(const struct result_table *t, uint32_t row)
{
    uint32_t end = row + 1;
    while (end < t->row_count && t->rows[end].depth > t->rows[row].depth)
        end++;
    return end;
}

/* Returns the row of a function that is one level below the row `above`; -1: none. */
static int call_marks_find_row_below(const struct result_table *t, const struct table_names *names,
                                     int above, struct table_place place)
{
    uint32_t from = above < 0 ? 0 : (uint32_t)above + 1,
             end = above < 0 ? t->row_count : end_of(t, (uint32_t)above);
    unsigned depth = above < 0 ? 0 : t->rows[above].depth + 1u;
    for (uint32_t i = from; i < end; i++)
        if (t->rows[i].depth == depth && is_row(t, names, i, place))
            return (int)i;
    return -1;
}

/* A recursive call continues in the context where the function was called first. */
static int call_marks_find_caller_path(const struct result_table *t,
                                       const struct table_names *names, int row,
                                       struct table_place place)
{
    for (int i = row, depth = row < 0 ? -1 : t->rows[row].depth; i >= 0 && depth >= 0; i--)
        if (t->rows[i].depth == depth) {
            if (is_row(t, names, (uint32_t)i, place))
                return i;
            depth--;
        }
    return -1;
}

int call_marks_find_row(const struct result_table *t, const struct table_names *names,
                        const struct event_info *e, bool deep)
{
    int row = -1;
    if (!deep)
        return e->call_count ? call_marks_find_function_row(
                                   t, names, (struct table_place){e->process, e->calls[0]})
                             : -1;
    for (uint32_t i = e->call_count; i-- > 0;) {
        struct table_place place = {e->process, e->calls[i]};
        int back = call_marks_find_caller_path(t, names, row, place);
        int next = back >= 0 ? back : call_marks_find_row_below(t, names, row, place);
        if (next < 0)
            return row;
        row = next;
    }
    return row;
}

/* ---- highlights ---- */

/* Appends an option for a scope. Returns false if there are no times for it. */
static bool call_highlight_append_scope(GString *lit, const struct table_cell *scope)
{
    if (scope->is == CELL_LINE)
        g_string_append_printf(lit, "\nline %u", scope->line);
    else if ((scope->is == CELL_PLACE || scope->is == CELL_NAME) && scope->place.address)
        g_string_append_printf(lit, "\nfunction %x:%llx", scope->place.process,
                               (unsigned long long)scope->place.address);
    else if (scope->is == CELL_TEXT && *scope->text != '(')
        g_string_append_printf(lit, "\ntype %s", scope->text);
    else
        return false;
    return true;
}

char *call_highlight_of_row(const struct table_names *names, const struct result_table *t, int row)
{
    uint32_t column = result_table_find_column(t, "function");
    if (row < 0 || row >= (int)t->row_count || column == t->column_count)
        return NULL;
    char *name = result_table_cell_text(names, &t->columns[column],
                                        &result_table_cells(t, (uint32_t)row)[column]);
    GString *lit = g_string_new(name);
    bool good = result_table_cells(t, (uint32_t)row)[column].is != CELL_LINE;
    free(name);
    for (int i = row; i >= 0 && good; i--) {
        if (i < row && t->rows[i].depth >= t->rows[row].depth)
            continue;
        good = call_highlight_append_scope(lit, &result_table_cells(t, (uint32_t)i)[column]);
        row = i;
        if (!t->rows[i].depth)
            break;
    }
    return g_string_free(lit, !good);
}
