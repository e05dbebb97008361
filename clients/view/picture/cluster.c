#include "clients/view/picture/cluster.h"

#include "clients/book/book.h"
#include "clients/source/label.h"
#include "clients/source/place.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/rows.h"
#include "clients/view/picture/view.h"

#include <string.h>

void cluster_join(struct view *view, uint32_t line)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "join");
    uint32_t i = rows_index(p, line);
    if (i < p->row_count && rows_first(p, i) > 0)
        p->rows[rows_first(p, i)].joins = true;
    rows_done(view);
}

bool cluster_has(const struct view *view, uint32_t line)
{
    const struct place *p = &view->camera.place;
    uint32_t i = rows_index(p, line);
    return i < p->row_count && rows_end(p, rows_first(p, i)) > rows_first(p, i) + 1;
}

void cluster_split(struct view *view, uint32_t line)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "split");
    uint32_t i = rows_index(p, line);
    if (i < p->row_count)
        for (uint32_t first = rows_first(p, i), k = first, end = rows_end(p, first); k < end; k++)
            p->rows[k].joins = false;
    rows_done(view);
}

/* ---- by a rule ---- */

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
static bool alike(struct view *view, enum cluster_rule rule, uint32_t a, uint32_t b)
{
    const struct book *book = the_book(view);
    const struct book_line *x = book_line(book, a), *y = book_line(book, b);
    if (!x || !y)
        return false;
    if (rule == CLUSTER_BY_PROCESS)
        return x->is.process == y->is.process;
    if (rule == CLUSTER_BY_DESCRIPTION)
        return described(view, a) && described(view, a) == described(view, b);
    if (strcmp(x->is.kind, y->is.kind) != 0)
        return false;
    if (rule == CLUSTER_BY_KIND)
        return true;
    char *name = g_strdup(label_name(book, view->link.sites, a));
    const char *other = label_name(book, view->link.sites, b);
    bool same = stem(name) == stem(other) && strncmp(name, other, stem(name)) == 0;
    g_free(name);
    return same;
}

void cluster_by(struct view *view, enum cluster_rule rule)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "cluster");
    for (uint32_t i = 0; i < p->row_count; i++)
        p->rows[i].joins = false;
    uint32_t clusters = 0;
    for (uint32_t i = 0; i < p->row_count; i++) {
        uint32_t end = i + 1;
        for (uint32_t k = end; k < p->row_count; k++) {
            if (p->rows[k].hidden || p->rows[i].hidden ||
                !alike(view, rule, p->rows[i].line, p->rows[k].line))
                continue;
            rows_carry(p, k, k + 1, end);
            p->rows[end++].joins = true;
        }
        clusters += end > i + 1;
        i = end - 1;
    }
    if (!clusters)
        status_say(&view->status, "There are no lines that belong together by this rule");
    rows_done(view);
}

/* All lines whose names match become one row, where the first of them stands. */
void cluster_by_pattern(struct view *view, const char *pattern)
{
    struct place *p = &view->camera.place;
    uint32_t first = UINT32_MAX, end = 0;
    rows_begin(view, "cluster");
    for (uint32_t i = 0; i < p->row_count; i++) {
        if (p->rows[i].hidden ||
            !label_is_called(the_book(view), view->link.sites, p->rows[i].line, pattern))
            continue;
        if (first == UINT32_MAX) {
            first = i;
            end = i + 1;
            p->rows[i].joins = false;
            continue;
        }
        rows_carry(p, i, i + 1, end);
        p->rows[end++].joins = true;
    }
    if (first == UINT32_MAX || end == first + 1)
        status_say(&view->status,
                   first == UINT32_MAX ? "No line is called %s" : "Only one line is called %s",
                   pattern);
    else if (end < p->row_count)
        p->rows[end].joins = false;
    rows_done(view);
}

void cluster_default(struct view *view)
{
    const struct book *book = the_book(view);
    if (book->some)
        return; /* not all are known */
    GHashTable *members = g_hash_table_new(NULL, NULL);
    bool any = false;
    for (uint32_t line = 1; line <= book->line_count; line++) {
        const struct target_cluster *cluster =
            book_drawn(book, line) ? described(view, line) : NULL;
        any |= cluster && !g_hash_table_add(members, (gpointer)(uintptr_t)cluster);
    }
    g_hash_table_destroy(members);
    if (any && view->camera.place.row_count == 0)
        cluster_by(view, CLUSTER_BY_DESCRIPTION);
}
