#include "clients/viewer/diagram/line_groups.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/line_labels.h"
#include "clients/connection/view_state.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"

#include <string.h>

void line_groups_join(struct view *view, uint32_t line)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "join");
    uint32_t i = row_requests_index(p, line);
    if (i < p->row_count && row_requests_first(p, i) > 0)
        p->rows[row_requests_first(p, i)].joins = true;
    row_requests_done(view);
}

bool line_groups_contains(const struct view *view, uint32_t line)
{
    const struct view_state *p = &view->viewport.place;
    uint32_t i = row_requests_index(p, line);
    return i < p->row_count &&
           row_requests_end(p, row_requests_first(p, i)) > row_requests_first(p, i) + 1;
}

void line_groups_split(struct view *view, uint32_t line)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "split");
    uint32_t i = row_requests_index(p, line);
    if (i < p->row_count)
        for (uint32_t first = row_requests_first(p, i), k = first, end = row_requests_end(p, first);
             k < end; k++)
            p->rows[k].joins = false;
    row_requests_done(view);
}

/* ---- grouping by rules ---- */

/* Returns the length of "worker" in "worker 3", "worker-12", "worker[7]", "worker#2". */
static size_t line_groups_name_stem_length(const char *name)
{
    size_t n = strlen(name);
    while (n && strchr("0123456789#[]()-_ .", name[n - 1]))
        n--;
    return n ? n : strlen(name);
}

static const struct target_line_group *line_groups_described_group(struct view *view, uint32_t line)
{
    return metadata_line_group(view_metadata(view), line,
                               line_label_text(view_metadata(view), view->server_link.sites, line));
}

/* Returns whether the rule puts two lines into one group. */
static bool line_groups_same_group(struct view *view, enum line_group_rule rule, uint32_t a,
                                   uint32_t b)
{
    const struct trace_metadata *book = view_metadata(view);
    const struct line_metadata *x = metadata_line(book, a), *y = metadata_line(book, b);
    if (!x || !y)
        return false;
    if (rule == GROUP_BY_PROCESS)
        return x->is.process == y->is.process;
    if (rule == GROUP_BY_DESCRIPTION)
        return line_groups_described_group(view, a) &&
               line_groups_described_group(view, a) == line_groups_described_group(view, b);
    if (strcmp(x->is.kind, y->is.kind) != 0)
        return false;
    if (rule == GROUP_BY_KIND)
        return true;
    char *name = g_strdup(line_label_text(book, view->server_link.sites, a));
    const char *other = line_label_text(book, view->server_link.sites, b);
    bool same = line_groups_name_stem_length(name) == line_groups_name_stem_length(other) &&
                strncmp(name, other, line_groups_name_stem_length(name)) == 0;
    g_free(name);
    return same;
}

void line_groups_by(struct view *view, enum line_group_rule rule)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "cluster");
    for (uint32_t i = 0; i < p->row_count; i++)
        p->rows[i].joins = false;
    uint32_t clusters = 0;
    for (uint32_t i = 0; i < p->row_count; i++) {
        uint32_t end = i + 1;
        for (uint32_t k = end; k < p->row_count; k++) {
            if (p->rows[k].hidden || p->rows[i].hidden ||
                !line_groups_same_group(view, rule, p->rows[i].line, p->rows[k].line))
                continue;
            row_requests_move(p, k, k + 1, end);
            p->rows[end++].joins = true;
        }
        clusters += end > i + 1;
        i = end - 1;
    }
    if (!clusters)
        status_line_show(&view->status_line, "No lines to group by this rule");
    row_requests_done(view);
}

/* Joins all lines whose names match into one row, at the first of them. */
void line_groups_by_pattern(struct view *view, const char *pattern)
{
    struct view_state *p = &view->viewport.place;
    uint32_t first = UINT32_MAX, end = 0;
    row_requests_begin(view, "cluster");
    for (uint32_t i = 0; i < p->row_count; i++) {
        if (p->rows[i].hidden || !line_label_matches(view_metadata(view), view->server_link.sites,
                                                     p->rows[i].line, pattern))
            continue;
        if (first == UINT32_MAX) {
            first = i;
            end = i + 1;
            p->rows[i].joins = false;
            continue;
        }
        row_requests_move(p, i, i + 1, end);
        p->rows[end++].joins = true;
    }
    if (first == UINT32_MAX || end == first + 1)
        status_line_show(&view->status_line,
                         first == UINT32_MAX ? "No line named %s" : "Only one line named %s",
                         pattern);
    else if (end < p->row_count)
        p->rows[end].joins = false;
    row_requests_done(view);
}

void line_groups_use_default(struct view *view)
{
    const struct trace_metadata *book = view_metadata(view);
    if (book->some)
        return; /* not all lines are known */
    GHashTable *members = g_hash_table_new(NULL, NULL);
    bool any = false;
    for (uint32_t line = 1; line <= book->line_count; line++) {
        const struct target_line_group *cluster =
            metadata_line_is_visible(book, line) ? line_groups_described_group(view, line) : NULL;
        any |= cluster && !g_hash_table_add(members, (gpointer)(uintptr_t)cluster);
    }
    g_hash_table_destroy(members);
    if (any && view->viewport.place.row_count == 0)
        line_groups_by(view, GROUP_BY_DESCRIPTION);
}
