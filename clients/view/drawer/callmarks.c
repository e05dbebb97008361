#include "clients/view/drawer/callmarks.h"

#include "clients/view/parts/marked.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static const struct table_cell *scope_of(const struct shown_table *t, uint32_t row)
{
    uint32_t column = table_find(t, "scope");
    return column < t->column_count ? &table_cells(t, row)[column] : NULL;
}

static void add(struct callmarks *m, const struct table_names *names, const struct shown_table *t,
                uint32_t row)
{
    const struct table_cell *scope = scope_of(t, row);
    struct callmarks_in in = {{0}, NULL};
    if (!scope || scope->is == CELL_LINE || scope->is == CELL_NAME)
        return; /* a thread; a part of a function has no address that events tell */
    if (scope->is == CELL_PLACE) {
        in.place = scope->place;
        in.name = table_say_place(names, scope->place, "");
    } else if (scope->is == CELL_TEXT) {
        in.name = strdup(scope->text);
    }
    m->in = g_renew(struct callmarks_in, m->in, m->count + 1);
    m->in[m->count++] = in;
}

void callmarks_take(struct callmarks *m, const struct table_names *names,
                    const struct shown_table *t, int row)
{
    callmarks_free(m);
    for (int i = row; i >= 0; i--) {
        if (i < row && t->rows[i].depth >= t->rows[row].depth)
            continue;
        add(m, names, t, (uint32_t)i);
        row = i;
        if (!t->rows[i].depth)
            break;
    }
}

void callmarks_free(struct callmarks *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        free(m->in[i].name);
    g_free(m->in);
    *m = (struct callmarks){0};
}

/* ---- events ---- */

/* In another process the same function has another address. */
static bool is_place(const struct table_names *names, const struct callmarks_in *in,
                     uint32_t process, uint64_t address)
{
    if (in->place.process == process)
        return in->place.address == address;
    char *name = table_say_place(names, (struct table_place){process, address}, "");
    bool is = *name && strcmp(name, in->name) == 0;
    free(name);
    return is;
}

static bool was_in(struct view *view, const struct table_names *names,
                   const struct callmarks_in *in, const struct shown_event *e)
{
    if (!in->place.address)
        return in->name && strcmp(book_type(the_book(view), e->type), in->name) == 0;
    for (uint32_t i = 0; i < e->call_count; i++)
        if (is_place(names, in, e->process, e->calls[i]))
            return true;
    return false;
}

static bool was_in_all(struct view *view, const struct table_names *names,
                       const struct callmarks *m, const struct shown_event *e)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (!was_in(view, names, &m->in[i], e))
            return false;
    return m->count > 0;
}

void callmarks_mark(struct view *view, const struct callmarks *m)
{
    struct table_names names = {the_book(view), view->link.sites};
    const struct shown_window *w = &view->stage.window;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct ref));
    for (uint32_t i = 0; m->count && i < w->event_count + w->pending_count; i++) {
        const struct shown_event *e =
            i < w->event_count ? &w->events[i] : &w->pending[i - w->event_count];
        if (was_in_all(view, &names, m, e))
            g_array_append_val(events, e->at);
    }
    marked_add(&view->marked, (struct ref *)(void *)events->data, events->len);
    g_array_free(events, TRUE);
}

/* ---- the row of an event ---- */

static bool is_row(const struct shown_table *t, const struct table_names *names, uint32_t row,
                   struct table_place place)
{
    const struct table_cell *scope = scope_of(t, row);
    if (!scope || scope->is != CELL_PLACE)
        return false;
    if (scope->place.process == place.process)
        return scope->place.address == place.address;
    struct callmarks_in in = {scope->place, table_say_place(names, scope->place, "")};
    bool is = is_place(names, &in, place.process, place.address);
    free(in.name);
    return is;
}

int callmarks_function(const struct shown_table *t, const struct table_names *names,
                       struct table_place function)
{
    for (uint32_t i = 0; i < t->row_count; i++)
        if (is_row(t, names, i, function))
            return (int)i;
    return -1;
}

static uint32_t end_of(const struct shown_table *t, uint32_t row)
{
    uint32_t end = row + 1;
    while (end < t->row_count && t->rows[end].depth > t->rows[row].depth)
        end++;
    return end;
}

/* The row of a function among those one below `above`; -1: there is none. */
static int below(const struct shown_table *t, const struct table_names *names, int above,
                 struct table_place place)
{
    uint32_t from = above < 0 ? 0 : (uint32_t)above + 1,
             end = above < 0 ? t->row_count : end_of(t, (uint32_t)above);
    unsigned depth = above < 0 ? 0 : t->rows[above].depth + 1u;
    for (uint32_t i = from; i < end; i++)
        if (t->rows[i].depth == depth && is_row(t, names, i, place))
            return (int)i;
    return -1;
}

/* What is called while it is open goes on where it was called first. */
static int way_back(const struct shown_table *t, const struct table_names *names, int row,
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

int callmarks_row(const struct shown_table *t, const struct table_names *names,
                  const struct shown_event *e, bool deep)
{
    int row = -1;
    if (!deep)
        return e->call_count
                   ? callmarks_function(t, names, (struct table_place){e->process, e->calls[0]})
                   : -1;
    for (uint32_t i = e->call_count; i-- > 0;) {
        struct table_place place = {e->process, e->calls[i]};
        int back = way_back(t, names, row, place);
        int next = back >= 0 ? back : below(t, names, row, place);
        if (next < 0)
            return row;
        row = next;
    }
    return row;
}
