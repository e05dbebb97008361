#include "clients/viewer/diagram/row_requests.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/viewport.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows of a request ---- */

static bool is_shown(const struct view *view, uint32_t line)
{
    const struct window_info *w = &view->scene_cache.window;
    for (uint32_t i = 0; i < w->row_count; i++) {
        if (w->rows[i].line == line)
            return true;
        for (uint32_t k = 0; k < w->rows[i].member_count; k++)
            if (w->rows[i].members[k] == line)
                return true;
    }
    return false;
}

/* Returns whether a line has a row by default; without events only in a live run, or if it already
 * has one. */
static bool row_requests_line_has_row(struct view *view, uint32_t line)
{
    const struct line_metadata *l = metadata_line(view_metadata(view), line);
    return l && metadata_line_is_visible(view_metadata(view), line) &&
           (l->is.events || view_metadata(view)->run.connected || is_shown(view, line));
}

static void row_requests_append_row(struct view_state *p, uint32_t line)
{
    p->rows = g_renew(struct view_state_row, p->rows, p->row_count + 1);
    p->rows[p->row_count++] = (struct view_state_row){.line = line};
}

/* Of very many lines, the server finds those with events in a window for all of them at once. */
bool row_requests_by_events(const struct view *view)
{
    const struct trace_metadata *book = &view->server_link.source.book;
    bool busy = view->viewer_settings.busy_rows && !view->viewport.place.overview &&
                book->line_count > ROWS_AT_ONCE;
    return (book->some || busy) && view->viewport.place.row_count == 0;
}

void row_requests_on_window(struct view *view, const struct window_info *window)
{
    if (row_requests_by_events(view))
        view->scene_cache.row_total = window->row_count;
}

uint32_t *row_requests_all(struct view *view, uint32_t *count)
{
    const struct trace_metadata *book = view_metadata(view);
    uint32_t *lines = g_new(uint32_t, book->line_count + 1);
    *count = 0;
    for (uint32_t line = 1; line <= book->line_count; line++)
        if (row_requests_line_has_row(view, line))
            lines[(*count)++] = line;
    metadata_sort_lines(book, lines, *count);
    return lines;
}

static void row_requests_init_place_rows(struct view *view)
{
    if (view->viewport.place.row_count)
        return;
    if (row_requests_by_events(view)) {
        const struct window_info *w = &view->scene_cache.window;
        for (uint32_t i = 0; i < w->row_count; i++)
            row_requests_append_row(&view->viewport.place, w->rows[i].line);
        return;
    }
    uint32_t count, *lines = row_requests_all(view, &count);
    for (uint32_t i = 0; i < count; i++)
        row_requests_append_row(&view->viewport.place, lines[i]);
    g_free(lines);
}

uint32_t row_requests_index(const struct view_state *p, uint32_t line)
{
    uint32_t i = 0;
    while (i < p->row_count && p->rows[i].line != line)
        i++;
    return i;
}

/* Appends lines that have appeared since the rows were arranged. */
static void add_new(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    if (p->row_count == 0 || view_metadata(view)->some)
        return;
    for (uint32_t line = 1; line <= view_metadata(view)->line_count; line++)
        if (row_requests_line_has_row(view, line) && row_requests_index(p, line) == p->row_count)
            row_requests_append_row(p, line);
}

static void row_requests_request_all(struct view *view, struct window_request *r)
{
    g_free(r->rows);
    r->rows = row_requests_all(view, &r->row_count);
    r->joined = g_realloc(r->joined, r->row_count + 1);
    memset(r->joined, 0, r->row_count + 1);
}

/* Counts the pinned rows, with which the request begins; end: the index after their lines. */
static uint32_t pinned_of(const struct view_state *p, const struct window_request *r, uint32_t *end)
{
    uint32_t count = 0;
    for (*end = 0; *end < r->row_count; (*end)++) {
        if (!row_requests_is_pinned(p, r->rows[*end]))
            break;
        count += !r->joined[*end];
    }
    return count;
}

/* Limits very many rows to the pinned ones, the visible ones and a page on either side. */
static void row_requests_limit_rows(struct view *view, struct window_request *r)
{
    double page = viewport_across_px(&view->viewport) / view->viewport.place.zoom /
                  viewport_row_pt(&view->viewport);
    double top = view->viewport.place.rise_pt / viewport_row_pt(&view->viewport);
    uint32_t block = ROWS_AT_ONCE / 4, first = (uint32_t)MAX(top - page, 0) / block * block;
    uint32_t most = ((uint32_t)(3 * page) / block + 2) * block, row = 0, from = 0,
             to = r->row_count, kept, pinned = pinned_of(&view->viewport.place, r, &kept);
    if (first <= pinned)
        first = kept = pinned = 0;
    for (uint32_t i = 0; i < r->row_count; i++) {
        row += i > 0 && !r->joined[i];
        if (row < first)
            from = i + 1;
        if (row >= first + most) {
            to = i;
            break;
        }
    }
    if (from >= to)
        from = 0;
    if (from < kept)
        kept = pinned = 0;
    memmove(r->rows + kept, r->rows + from, (to - from) * sizeof *r->rows);
    memmove(r->joined + kept, r->joined + from, to - from);
    r->row_count = kept + to - from;
    view->scene_cache.row_base = from ? first - pinned : 0;
}

void row_requests_for_request(struct view *view, struct window_request *r)
{
    uint32_t rows = 0;
    add_new(view);
    view->scene_cache.row_base = 0;
    if (row_requests_by_events(view)) {
        r->most_rows = ROWS_AT_ONCE;
        return;
    }
    r->most_rows = LIMIT_LINES_SENT; /* more lines may exist than are known */
    if (r->row_count == 0 && view_metadata(view)->line_count > ROWS_AT_ONCE)
        row_requests_request_all(view, r);
    for (uint32_t i = 0; i < r->row_count; i++)
        rows += i == 0 || !r->joined[i];
    if (rows || !view->viewport.place.overview) /* in the overview, the bands know */
        view->scene_cache.row_total = rows;
    if (rows > ROWS_AT_ONCE)
        row_requests_limit_rows(view, r);
}

bool row_requests_for_density(struct view *view, struct window_request *r)
{
    const struct window_info *w = &view->scene_cache.window;
    view_state_request(&view->viewport.place, r);
    row_requests_for_request(view, r);
    if (!row_requests_by_events(view))
        return true;
    r->rows = g_realloc(r->rows, (w->row_count + 1) * sizeof *r->rows);
    r->joined = g_realloc(r->joined, w->row_count + 1);
    for (r->row_count = 0; r->row_count < w->row_count; r->row_count++) {
        r->rows[r->row_count] = w->rows[r->row_count].line;
        r->joined[r->row_count] = 0;
    }
    if (w->row_count)
        return true;
    free(r->rows);
    free(r->joined);
    return false;
}

/* ---- changes ---- */

void row_requests_begin(struct view *view, const char *what)
{
    history_mark(&view->history, what);
    row_requests_init_place_rows(view);
    if (!view->viewport.place.overview)
        scroll_anchor_keep_selected(&view->viewport);
}

void row_requests_done(struct view *view)
{
    view_state_pinned_first(&view->viewport.place);
    notifier_emit(&view->notifier, NOTIFY_ROWS);
}

bool row_requests_is_pinned(const struct view_state *p, uint32_t line)
{
    uint32_t at = row_requests_index(p, line);
    return at < p->row_count && p->rows[at].pinned;
}

uint32_t row_requests_first(const struct view_state *p, uint32_t i)
{
    while (i > 0 && p->rows[i].joins)
        i--;
    return i;
}

uint32_t row_requests_end(const struct view_state *p, uint32_t i)
{
    for (i++; i < p->row_count && p->rows[i].joins;)
        i++;
    return i;
}

void row_requests_move(struct view_state *p, uint32_t first, uint32_t end, uint32_t to)
{
    uint32_t n = end - first;
    struct view_state_row *some = g_memdup2(p->rows + first, n * sizeof *some);
    memmove(p->rows + first, p->rows + end, (p->row_count - end) * sizeof *some);
    to = to > first ? to - n : to;
    memmove(p->rows + to + n, p->rows + to, (p->row_count - n - to) * sizeof *some);
    memcpy(p->rows + to, some, n * sizeof *some);
    g_free(some);
}
