#include "clients/view/picture/rows.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/news.h"
#include "clients/view/picture/view.h"
#include "wire/limits.h"
#include "wire/placed.h"

#include <string.h>

/* ---- asking for them ---- */

static bool is_shown(const struct view *view, uint32_t line)
{
    const struct shown_window *w = &view->stage.window;
    for (uint32_t i = 0; i < w->row_count; i++) {
        if (w->rows[i].line == line)
            return true;
        for (uint32_t k = 0; k < w->rows[i].member_count; k++)
            if (w->rows[i].members[k] == line)
                return true;
    }
    return false;
}

/* Lines that nothing happened on are not worth a row. */
static bool worth(struct view *view, uint32_t line)
{
    const struct book_line *l = book_line(the_book(view), line);
    return l && book_drawn(the_book(view), line) &&
           (l->is.events || the_book(view)->run.connected || is_shown(view, line));
}

static void append(struct place *p, uint32_t line)
{
    p->rows = g_renew(struct place_row, p->rows, p->row_count + 1);
    p->rows[p->row_count++] = (struct place_row){.line = line};
}

/* Of very many lines the server knows, for all of them at once, which have something in a window. */
bool rows_by_events(const struct view *view)
{
    const struct book *book = &view->link.source.book;
    bool busy =
        view->settings.busy_rows && !view->camera.place.far && book->line_count > ROWS_AT_ONCE;
    return (book->some || busy) && view->camera.place.row_count == 0;
}

void rows_taken(struct view *view, const struct shown_window *window)
{
    if (rows_by_events(view))
        view->stage.row_total = window->row_count;
}

/* In the order in which they stand until somebody arranges them. */
uint32_t *rows_all(struct view *view, uint32_t *count)
{
    const struct book *book = the_book(view);
    uint32_t *lines = g_new(uint32_t, book->line_count + 1);
    *count = 0;
    for (uint32_t line = 1; line <= book->line_count; line++)
        if (worth(view, line))
            lines[(*count)++] = line;
    book_sort(book, lines, *count);
    return lines;
}

static void arrange(struct view *view)
{
    if (view->camera.place.row_count)
        return;
    if (rows_by_events(view)) {
        const struct shown_window *w = &view->stage.window;
        for (uint32_t i = 0; i < w->row_count; i++)
            append(&view->camera.place, w->rows[i].line);
        return;
    }
    uint32_t count, *lines = rows_all(view, &count);
    for (uint32_t i = 0; i < count; i++)
        append(&view->camera.place, lines[i]);
    g_free(lines);
}

uint32_t rows_index(const struct place *p, uint32_t line)
{
    uint32_t i = 0;
    while (i < p->row_count && p->rows[i].line != line)
        i++;
    return i;
}

/* Lines that are new come last. */
static void add_new(struct view *view)
{
    struct place *p = &view->camera.place;
    if (p->row_count == 0 || the_book(view)->some)
        return;
    for (uint32_t line = 1; line <= the_book(view)->line_count; line++)
        if (worth(view, line) && rows_index(p, line) == p->row_count)
            append(p, line);
}

static void ask_for_all(struct view *view, struct window_request *r)
{
    g_free(r->rows);
    r->rows = rows_all(view, &r->row_count);
    r->joined = g_realloc(r->joined, r->row_count + 1);
    memset(r->joined, 0, r->row_count + 1);
}

/* How many rows of the request are pinned ones, the first of them. */
static uint32_t pinned_of(const struct place *p, const struct window_request *r, uint32_t *end)
{
    uint32_t count = 0;
    for (*end = 0; *end < r->row_count; (*end)++) {
        if (!rows_is_pinned(p, r->rows[*end]))
            break;
        count += !r->joined[*end];
    }
    return count;
}

/* Of very many rows only those that are seen and as many on either side, and those that are pinned. */
static void cut(struct view *view, struct window_request *r)
{
    double page =
        camera_across_px(&view->camera) / view->camera.place.zoom / camera_row_pt(&view->camera);
    double top = view->camera.place.rise_pt / camera_row_pt(&view->camera);
    uint32_t block = ROWS_AT_ONCE / 4, first = (uint32_t)MAX(top - page, 0) / block * block;
    uint32_t most = ((uint32_t)(3 * page) / block + 2) * block, row = 0, from = 0,
             to = r->row_count, kept, pinned = pinned_of(&view->camera.place, r, &kept);
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
    view->stage.row_base = from ? first - pinned : 0;
}

void rows_for_request(struct view *view, struct window_request *r)
{
    uint32_t rows = 0;
    add_new(view);
    view->stage.row_base = 0;
    if (rows_by_events(view)) {
        r->most_rows = ROWS_AT_ONCE;
        return;
    }
    r->most_rows = LIMIT_LINES_TOLD; /* that there are more may not be known yet */
    if (r->row_count == 0 && the_book(view)->line_count > ROWS_AT_ONCE)
        ask_for_all(view, r);
    for (uint32_t i = 0; i < r->row_count; i++)
        rows += i == 0 || !r->joined[i];
    view->stage.row_total = rows;
    if (rows > ROWS_AT_ONCE)
        cut(view, r);
}

bool rows_for_density(struct view *view, struct window_request *r)
{
    const struct shown_window *w = &view->stage.window;
    rows_for_request(view, r);
    if (!rows_by_events(view))
        return true;
    r->rows = g_realloc(r->rows, (w->row_count + 1) * sizeof *r->rows);
    r->joined = g_realloc(r->joined, w->row_count + 1);
    for (r->row_count = 0; r->row_count < w->row_count; r->row_count++) {
        r->rows[r->row_count] = w->rows[r->row_count].line;
        r->joined[r->row_count] = 0;
    }
    return w->row_count > 0;
}

/* ---- changes ---- */

void rows_begin(struct view *view, const char *what)
{
    history_mark(&view->history, what);
    arrange(view);
    if (!view->camera.place.far)
        hold_keep_selected(&view->camera);
}

void rows_done(struct view *view)
{
    place_pinned_first(&view->camera.place);
    news_tell(&view->news, NEWS_ROWS);
}

bool rows_is_pinned(const struct place *p, uint32_t line)
{
    uint32_t at = rows_index(p, line);
    return at < p->row_count && p->rows[at].pinned;
}

uint32_t rows_first(const struct place *p, uint32_t i)
{
    while (i > 0 && p->rows[i].joins)
        i--;
    return i;
}

uint32_t rows_end(const struct place *p, uint32_t i)
{
    for (i++; i < p->row_count && p->rows[i].joins;)
        i++;
    return i;
}

void rows_carry(struct place *p, uint32_t first, uint32_t end, uint32_t to)
{
    uint32_t n = end - first;
    struct place_row *some = g_memdup2(p->rows + first, n * sizeof *some);
    memmove(p->rows + first, p->rows + end, (p->row_count - end) * sizeof *some);
    to = to > first ? to - n : to;
    memmove(p->rows + to + n, p->rows + to, (p->row_count - n - to) * sizeof *some);
    memcpy(p->rows + to, some, n * sizeof *some);
    g_free(some);
}
