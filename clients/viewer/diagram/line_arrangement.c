#include "clients/viewer/diagram/line_arrangement.h"

#include "clients/connection/line_labels.h"
#include "clients/connection/view_state.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <stdlib.h>
#include <string.h>

void line_arrangement_show_all(struct view *view)
{
    row_requests_begin(view, "all");
    if (view_metadata(view)->some)
        view->viewport.place.row_count = 0; /* back to lines with events */
    for (uint32_t i = 0; i < view->viewport.place.row_count; i++)
        view->viewport.place.rows[i].hidden = false;
    row_requests_done(view);
}

static uint32_t line_arrangement_count_shown(const struct view_state *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->row_count; i++)
        n += !p->rows[i].hidden;
    return n;
}

void line_arrangement_hide(struct view *view, uint32_t line)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "hide");
    uint32_t i = row_requests_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first);
    if (line_arrangement_count_shown(p) <= end - first) {
        status_line_show(&view->status_line, "The last line cannot be hidden");
        return;
    }
    for (uint32_t k = first; k < end; k++)
        p->rows[k].hidden = true;
    row_requests_done(view);
    status_line_show(
        &view->status_line,
        "Ordering via the hidden line is still drawn (dashed); Ctrl+Shift+H shows all lines");
}

void line_arrangement_hide_pattern(struct view *view, const char *pattern)
{
    struct view_state *p = &view->viewport.place;
    uint32_t shown = 0, hidden = 0;
    row_requests_begin(view, "hide");
    for (uint32_t i = 0; i < p->row_count; i++)
        shown += !p->rows[i].hidden;
    for (uint32_t i = 0; i < p->row_count && shown > 1; i++)
        if (!p->rows[i].hidden && line_label_matches(view_metadata(view), view->server_link.sites,
                                                     p->rows[i].line, pattern)) {
            p->rows[i].hidden = true;
            shown--;
            hidden++;
        }
    status_line_show(&view->status_line, "%u lines named %s hidden; Ctrl+Shift+H shows all", hidden,
                     pattern);
    row_requests_done(view);
}

void line_arrangement_show_tied(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache, p->selected);
    if (!m || !view->scene_cache.colored) {
        status_line_show(&view->status_line, "Select an event first");
        return;
    }
    row_requests_begin(view, "only");
    bool *tied = g_new0(bool, s->row_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].event->to_selected != RELATION_CODE(ORDER_CONCURRENT))
            tied[s->marks[i].row] = true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        uint32_t at = row_requests_index(p, s->rows[i].line);
        if (at == p->row_count || tied[i])
            continue;
        for (uint32_t k = at; k < row_requests_end(p, at); k++)
            p->rows[k].hidden = true;
    }
    g_free(tied);
    row_requests_done(view);
}

void line_arrangement_move_before(struct view *view, uint32_t line, uint32_t before)
{
    struct view_state *p = &view->viewport.place;
    if (line == before)
        return;
    row_requests_begin(view, "drag");
    uint32_t i = row_requests_index(p, line),
             to = before ? row_requests_index(p, before) : p->row_count;
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first);
    to = to < p->row_count ? row_requests_first(p, to) : to;
    if (to < first || to > end)
        row_requests_move(p, first, end, to);
    row_requests_done(view);
}

void line_arrangement_move(struct view *view, uint32_t line, int by)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "shift");
    uint32_t i = row_requests_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first);
    uint32_t to = by < 0               ? (first ? row_requests_first(p, first - 1) : 0)
                  : end < p->row_count ? row_requests_end(p, end)
                                       : end;
    if (to != first && to != end)
        row_requests_move(p, first, end, to);
    row_requests_done(view);
}

void line_arrangement_toggle_pin(struct view *view, uint32_t line)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "pin");
    uint32_t i = row_requests_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first), to = 0;
    bool pins = !p->rows[first].pinned;
    while (to < p->row_count && p->rows[to].pinned)
        to++;
    for (uint32_t k = first; k < end; k++)
        p->rows[k].pinned = pins;
    if (to != first && to != end)
        row_requests_move(p, first, end, to);
    row_requests_done(view);
    status_line_show(&view->status_line, "%s %s", metadata_label(view_metadata(view), line),
                     pins ? "pinned" : "unpinned");
}

static bool line_arrangement_is_among(uint32_t line, const uint32_t *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (lines[i] == line)
            return true;
    return false;
}

void line_arrangement_keep_lines(struct view *view, const uint32_t *lines, uint32_t count)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "only");
    for (uint32_t first = 0, end; first < p->row_count; first = end) {
        end = row_requests_end(p, first);
        bool keeps = p->rows[first].pinned;
        for (uint32_t k = first; k < end; k++)
            keeps |= line_arrangement_is_among(p->rows[k].line, lines, count);
        for (uint32_t k = first; k < end && !keeps; k++)
            p->rows[k].hidden = true;
    }
    row_requests_done(view);
}

/* ---- few crossings of arrows ---- */

struct crossing_weight {
    uint32_t row; /* of the scene */
    double at;
};

static int crossing_compare_weights(const void *a, const void *b)
{
    double x = ((const struct crossing_weight *)a)->at, y = ((const struct crossing_weight *)b)->at;
    return x < y ? -1 : x > y;
}

/* One sweep of the barycenter method (Sugiyama, Tagawa and Toda 1981): moves each row halfway to
 * the mean place of the rows that arrows connect it with. */
static void crossing_sweep(const struct scene *s, struct crossing_weight *rows, uint32_t *place_of)
{
    double *sum = g_new0(double, s->row_count), *n = g_new0(double, s->row_count);
    for (uint32_t i = 0; i < s->link_count; i++) {
        const struct scene_link *l = &s->links[i];
        int a = (int)((l->y0_pt - s->top_pt) / s->row_pt),
            b = (int)((l->y1_pt - s->top_pt) / s->row_pt);
        if (l->kind == ARROW_STUB || a < 0 || b < 0 || a >= (int)s->row_count ||
            b >= (int)s->row_count)
            continue;
        sum[a] += place_of[b];
        sum[b] += place_of[a];
        n[a]++;
        n[b]++;
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        rows[i] =
            (struct crossing_weight){i, n[i] > 0 ? (sum[i] / n[i] + place_of[i]) / 2 : place_of[i]};
    qsort(rows, s->row_count, sizeof *rows, crossing_compare_weights);
    for (uint32_t i = 0; i < s->row_count; i++)
        place_of[rows[i].row] = i;
    g_free(sum);
    g_free(n);
}

static double crossing_arrow_length(const struct scene *s, const uint32_t *place_of)
{
    double length = 0;
    for (uint32_t i = 0; i < s->link_count; i++) {
        const struct scene_link *l = &s->links[i];
        int a = (int)((l->y0_pt - s->top_pt) / s->row_pt),
            b = (int)((l->y1_pt - s->top_pt) / s->row_pt);
        if (l->kind != ARROW_STUB && a >= 0 && b >= 0 && a < (int)s->row_count &&
            b < (int)s->row_count)
            length += abs((int)place_of[a] - (int)place_of[b]);
    }
    return length;
}

void line_arrangement_reduce_crossings(struct view *view)
{
    const struct scene *s = view->scene_cache.scene;
    struct view_state *p = &view->viewport.place;
    if (!s || s->row_count < 3 || view->viewport.place.overview)
        return;
    row_requests_begin(view, "order");
    struct crossing_weight *rows = g_new(struct crossing_weight, s->row_count);
    uint32_t *place_of = g_new(uint32_t, s->row_count), *best = g_new(uint32_t, s->row_count);
    for (uint32_t i = 0; i < s->row_count; i++)
        best[i] = place_of[i] = i;
    double least = crossing_arrow_length(s, best);
    for (int i = 0; i < 24; i++) {
        crossing_sweep(s, rows, place_of);
        double now = crossing_arrow_length(s, place_of);
        if (now < least) {
            least = now;
            memcpy(best, place_of, s->row_count * sizeof *best);
        }
    }
    uint32_t to = 0;
    for (uint32_t at = 0; at < s->row_count; at++)
        for (uint32_t i = 0; i < s->row_count; i++)
            if (best[i] == at) {
                uint32_t from = row_requests_index(p, s->rows[i].line),
                         end = row_requests_end(p, from);
                if (from >= to && from < p->row_count) {
                    row_requests_move(p, from, end, to);
                    to += end - from;
                }
            }
    g_free(rows);
    g_free(place_of);
    g_free(best);
    row_requests_done(view);
}

/* ---- groups ---- */

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
