/* Which lines are shown, in which order, and which of them as one row. */
#include "clients/view/view.h"

#include "wire/limits.h"

#include <fnmatch.h>
#include <stdlib.h>
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
    p->rows[p->row_count++] = (struct place_row){line, false, false};
}

bool rows_by_events(const struct view *view)
{
    return view->link.source.book.some && view->place.row_count == 0;
}

void rows_taken(struct view *view, const struct shown_window *window)
{
    if (rows_by_events(view))
        view->stage.row_total = window->row_count;
}

/* In the order in which they stand until somebody arranges them. */
static uint32_t *all_worth(struct view *view, uint32_t *count)
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

/* Until it is arranged, a place has no rows of its own. */
static void arrange(struct view *view)
{
    if (view->place.row_count)
        return;
    if (rows_by_events(view)) {
        const struct shown_window *w = &view->stage.window;
        for (uint32_t i = 0; i < w->row_count; i++)
            append(&view->place, w->rows[i].line);
        return;
    }
    uint32_t count, *lines = all_worth(view, &count);
    for (uint32_t i = 0; i < count; i++)
        append(&view->place, lines[i]);
    g_free(lines);
}

static uint32_t index_of(const struct place *p, uint32_t line)
{
    uint32_t i = 0;
    while (i < p->row_count && p->rows[i].line != line)
        i++;
    return i;
}

/* Lines that are new come last. */
static void add_new(struct view *view)
{
    struct place *p = &view->place;
    if (p->row_count == 0 || the_book(view)->some)
        return;
    for (uint32_t line = 1; line <= the_book(view)->line_count; line++)
        if (worth(view, line) && index_of(p, line) == p->row_count)
            append(p, line);
}

static void ask_for_all(struct view *view, struct window_request *r)
{
    g_free(r->rows);
    r->rows = all_worth(view, &r->row_count);
    r->joined = g_realloc(r->joined, r->row_count + 1);
    memset(r->joined, 0, r->row_count + 1);
}

/* Of very many rows only those that are seen and as many on either side. */
static void cut(struct view *view, struct window_request *r)
{
    double page = stage_across_px(view) / view->place.zoom / stage_row_pt(view);
    double top = view->place.rise_pt / stage_row_pt(view);
    uint32_t block = ROWS_AT_ONCE / 4, first = (uint32_t)MAX(top - page, 0) / block * block;
    uint32_t most = ((uint32_t)(3 * page) / block + 2) * block, row = 0, from = 0, to = r->row_count;
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
    memmove(r->rows, r->rows + from, (to - from) * sizeof *r->rows);
    memmove(r->joined, r->joined + from, to - from);
    r->row_count = to - from;
    view->stage.row_base = from ? first : 0;
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

static void begin(struct view *view, const char *what)
{
    history_mark(view, what);
    arrange(view);
    if (!view->place.far)
        motion_keep_selected(view);
}

static void done(struct view *view)
{
    link_window(view);
    map_ask(view);
}

/* First of the rows that are one with i, and the one behind the last. */
static uint32_t first_of(const struct place *p, uint32_t i)
{
    while (i > 0 && p->rows[i].joins)
        i--;
    return i;
}

static uint32_t end_of(const struct place *p, uint32_t i)
{
    for (i++; i < p->row_count && p->rows[i].joins;)
        i++;
    return i;
}

void rows_all(struct view *view)
{
    begin(view, "all");
    if (the_book(view)->some)
        view->place.row_count = 0; /* those that have events, again */
    for (uint32_t i = 0; i < view->place.row_count; i++)
        view->place.rows[i].hidden = false;
    done(view);
}

static uint32_t count_shown(const struct place *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->row_count; i++)
        n += !p->rows[i].hidden;
    return n;
}

void rows_hide(struct view *view, uint32_t line)
{
    struct place *p = &view->place;
    begin(view, "hide");
    uint32_t i = index_of(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = first_of(p, i), end = end_of(p, first);
    if (count_shown(p) <= end - first) {
        window_say(view, "The last line stays");
        return;
    }
    for (uint32_t k = first; k < end; k++)
        p->rows[k].hidden = true;
    done(view);
    window_say(view, "Order through the hidden line stays drawn; Ctrl+Shift+H shows all lines");
}

/* Only lines that the selected event is tied to, in the picture. */
void rows_only(struct view *view)
{
    struct place *p = &view->place;
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(view, p->selected);
    if (!m || !view->stage.coloured) {
        window_say(view, "Select an event first");
        return;
    }
    begin(view, "only");
    bool *tied = g_new0(bool, s->row_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].event->stands != 1 + ORDER_CONCURRENT)
            tied[s->marks[i].row] = true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        uint32_t at = index_of(p, s->rows[i].line);
        if (at == p->row_count || tied[i])
            continue;
        for (uint32_t k = at; k < end_of(p, at); k++)
            p->rows[k].hidden = true;
    }
    g_free(tied);
    done(view);
}

/* Moves the rows first .. end - 1 to before `to`. */
static void carry(struct place *p, uint32_t first, uint32_t end, uint32_t to)
{
    uint32_t n = end - first;
    struct place_row *some = g_memdup2(p->rows + first, n * sizeof *some);
    memmove(p->rows + first, p->rows + end, (p->row_count - end) * sizeof *some);
    to = to > first ? to - n : to;
    memmove(p->rows + to + n, p->rows + to, (p->row_count - n - to) * sizeof *some);
    memcpy(p->rows + to, some, n * sizeof *some);
    g_free(some);
}

void rows_drop(struct view *view, uint32_t line, uint32_t before)
{
    struct place *p = &view->place;
    if (line == before)
        return;
    begin(view, "drag");
    uint32_t i = index_of(p, line), to = before ? index_of(p, before) : p->row_count;
    if (i == p->row_count)
        return;
    uint32_t first = first_of(p, i), end = end_of(p, first);
    to = to < p->row_count ? first_of(p, to) : to;
    if (to < first || to > end)
        carry(p, first, end, to);
    done(view);
}

void rows_shift(struct view *view, uint32_t line, int by)
{
    struct place *p = &view->place;
    begin(view, "shift");
    uint32_t i = index_of(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = first_of(p, i), end = end_of(p, first);
    uint32_t to = by < 0 ? (first ? first_of(p, first - 1) : 0) : end < p->row_count ? end_of(p, end) : end;
    if (to != first && to != end)
        carry(p, first, end, to);
    done(view);
}

/* ---- clusters ---- */

void rows_join(struct view *view, uint32_t line)
{
    struct place *p = &view->place;
    begin(view, "join");
    uint32_t i = index_of(p, line);
    if (i < p->row_count && first_of(p, i) > 0)
        p->rows[first_of(p, i)].joins = true;
    done(view);
}

bool rows_joined(const struct view *view, uint32_t line)
{
    const struct place *p = &view->place;
    uint32_t i = index_of(p, line);
    return i < p->row_count && end_of(p, first_of(p, i)) > first_of(p, i) + 1;
}

void rows_split(struct view *view, uint32_t line)
{
    struct place *p = &view->place;
    begin(view, "split");
    uint32_t i = index_of(p, line);
    if (i < p->row_count)
        for (uint32_t first = first_of(p, i), k = first, end = end_of(p, first); k < end; k++)
            p->rows[k].joins = false;
    done(view);
}

/* "worker" of "worker 3", "worker-12", "worker[7]", "worker#2" */
static size_t stem(const char *name)
{
    size_t n = strlen(name);
    while (n && strchr("0123456789#[]()-_ .", name[n - 1]))
        n--;
    return n ? n : strlen(name);
}

static const struct target_cluster *described(struct view *view, uint32_t line)
{
    return book_cluster(the_book(view), line, label_name(the_book(view), view->link.sites, line));
}

/* Do two lines belong to one cluster? */
static bool alike(struct view *view, enum rows_rule rule, uint32_t a, uint32_t b)
{
    const struct book *book = the_book(view);
    const struct book_line *x = book_line(book, a), *y = book_line(book, b);
    if (!x || !y)
        return false;
    if (rule == ROWS_BY_PROCESS)
        return x->is.process == y->is.process;
    if (rule == ROWS_BY_DESCRIPTION)
        return described(view, a) && described(view, a) == described(view, b);
    if (strcmp(x->is.kind, y->is.kind) != 0)
        return false;
    if (rule == ROWS_BY_KIND)
        return true;
    char *name = g_strdup(label_name(book, view->link.sites, a));
    const char *other = label_name(book, view->link.sites, b);
    bool same = stem(name) == stem(other) && strncmp(name, other, stem(name)) == 0;
    g_free(name);
    return same;
}

void rows_cluster(struct view *view, enum rows_rule rule)
{
    struct place *p = &view->place;
    begin(view, "cluster");
    for (uint32_t i = 0; i < p->row_count; i++)
        p->rows[i].joins = false;
    uint32_t clusters = 0;
    for (uint32_t i = 0; i < p->row_count; i++) {
        uint32_t end = i + 1;
        for (uint32_t k = end; k < p->row_count; k++) {
            if (p->rows[k].hidden || p->rows[i].hidden ||
                !alike(view, rule, p->rows[i].line, p->rows[k].line))
                continue;
            carry(p, k, k + 1, end);
            p->rows[end++].joins = true;
        }
        clusters += end > i + 1;
        i = end - 1;
    }
    if (!clusters)
        window_say(view, "There are no lines that belong together by this rule");
    done(view);
}

/* All lines whose names match become one row, where the first of them stands. */
void rows_cluster_pattern(struct view *view, const char *pattern)
{
    struct place *p = &view->place;
    uint32_t first = UINT32_MAX, end = 0;
    begin(view, "cluster");
    for (uint32_t i = 0; i < p->row_count; i++) {
        if (p->rows[i].hidden || fnmatch(pattern, label_name(the_book(view), view->link.sites, p->rows[i].line), 0) != 0)
            continue;
        if (first == UINT32_MAX) {
            first = i;
            end = i + 1;
            p->rows[i].joins = false;
            continue;
        }
        carry(p, i, i + 1, end);
        p->rows[end++].joins = true;
    }
    if (first == UINT32_MAX || end == first + 1)
        window_say(view, first == UINT32_MAX ? "No line is called %s" : "Only one line is called %s", pattern);
    else if (end < p->row_count)
        p->rows[end].joins = false;
    done(view);
}

void rows_hide_pattern(struct view *view, const char *pattern)
{
    struct place *p = &view->place;
    uint32_t shown = 0, hidden = 0;
    begin(view, "hide");
    for (uint32_t i = 0; i < p->row_count; i++)
        shown += !p->rows[i].hidden;
    for (uint32_t i = 0; i < p->row_count && shown > 1; i++)
        if (!p->rows[i].hidden &&
            fnmatch(pattern, label_name(the_book(view), view->link.sites, p->rows[i].line), 0) == 0) {
            p->rows[i].hidden = true;
            shown--;
            hidden++;
        }
    window_say(view, "%u lines called %s are hidden; Ctrl+Shift+H shows all", hidden, pattern);
    done(view);
}

void rows_default(struct view *view)
{
    const struct book *book = the_book(view);
    if (book->some)
        return; /* not all are known */
    GHashTable *members = g_hash_table_new(NULL, NULL);
    bool any = false;
    for (uint32_t line = 1; line <= book->line_count; line++) {
        const struct target_cluster *cluster = book_drawn(book, line) ? described(view, line) : NULL;
        any |= cluster && !g_hash_table_add(members, (gpointer)(uintptr_t)cluster);
    }
    g_hash_table_destroy(members);
    if (any && view->place.row_count == 0)
        rows_cluster(view, ROWS_BY_DESCRIPTION);
}

/* ---- least crossing ---- */

struct weight {
    uint32_t row; /* of the scene */
    double at;
};

static int by_weight(const void *a, const void *b)
{
    double x = ((const struct weight *)a)->at, y = ((const struct weight *)b)->at;
    return x < y ? -1 : x > y;
}

/* Sweeps of the barycentre (Sugiyama, Tagawa and Toda 1981): each row goes to the mean place of those that
 * it exchanges arrows with in the picture. */
static void sweep(const struct scene *s, struct weight *rows, uint32_t *place_of)
{
    double *sum = g_new0(double, s->row_count), *n = g_new0(double, s->row_count);
    for (uint32_t i = 0; i < s->link_count; i++) {
        const struct scene_link *l = &s->links[i];
        int a = (int)((l->y0_pt - s->top_pt) / s->row_pt), b = (int)((l->y1_pt - s->top_pt) / s->row_pt);
        if (l->kind == ARROW_STUB || a < 0 || b < 0 || a >= (int)s->row_count || b >= (int)s->row_count)
            continue;
        sum[a] += place_of[b];
        sum[b] += place_of[a];
        n[a]++;
        n[b]++;
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        rows[i] = (struct weight){i, n[i] > 0 ? (sum[i] / n[i] + place_of[i]) / 2 : place_of[i]};
    qsort(rows, s->row_count, sizeof *rows, by_weight);
    for (uint32_t i = 0; i < s->row_count; i++)
        place_of[rows[i].row] = i;
    g_free(sum);
    g_free(n);
}

static double crossing(const struct scene *s, const uint32_t *place_of)
{
    double length = 0;
    for (uint32_t i = 0; i < s->link_count; i++) {
        const struct scene_link *l = &s->links[i];
        int a = (int)((l->y0_pt - s->top_pt) / s->row_pt), b = (int)((l->y1_pt - s->top_pt) / s->row_pt);
        if (l->kind != ARROW_STUB && a >= 0 && b >= 0 && a < (int)s->row_count && b < (int)s->row_count)
            length += abs((int)place_of[a] - (int)place_of[b]);
    }
    return length;
}

void rows_least_crossing(struct view *view)
{
    const struct scene *s = view->stage.scene;
    struct place *p = &view->place;
    if (!s || s->row_count < 3 || view->place.far)
        return;
    begin(view, "order");
    struct weight *rows = g_new(struct weight, s->row_count);
    uint32_t *place_of = g_new(uint32_t, s->row_count), *best = g_new(uint32_t, s->row_count);
    for (uint32_t i = 0; i < s->row_count; i++)
        best[i] = place_of[i] = i;
    double least = crossing(s, best);
    for (int i = 0; i < 24; i++) {
        sweep(s, rows, place_of);
        double now = crossing(s, place_of);
        if (now < least) {
            least = now;
            memcpy(best, place_of, s->row_count * sizeof *best);
        }
    }
    uint32_t to = 0;
    for (uint32_t at = 0; at < s->row_count; at++)
        for (uint32_t i = 0; i < s->row_count; i++)
            if (best[i] == at) {
                uint32_t from = index_of(p, s->rows[i].line), end = end_of(p, from);
                if (from >= to && from < p->row_count) {
                    carry(p, from, end, to);
                    to += end - from;
                }
            }
    g_free(rows);
    g_free(place_of);
    g_free(best);
    done(view);
}
