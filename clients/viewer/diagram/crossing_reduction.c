#include "clients/viewer/diagram/crossing_reduction.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"

#include <stdlib.h>
#include <string.h>

struct crossing_weight {
    uint32_t row; /* of the scene */
    double at;
};

static int crossing_reduction_compare_weight(const void *a, const void *b)
{
    double x = ((const struct crossing_weight *)a)->at, y = ((const struct crossing_weight *)b)->at;
    return x < y ? -1 : x > y;
}

/* One sweep of the barycenter method (Sugiyama, Tagawa and Toda 1981): moves each row halfway to
 * the mean place of the rows that arrows connect it with. */
static void crossing_reduction_reorder_sweep(const struct scene *s, struct crossing_weight *rows,
                                             uint32_t *place_of)
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
    qsort(rows, s->row_count, sizeof *rows, crossing_reduction_compare_weight);
    for (uint32_t i = 0; i < s->row_count; i++)
        place_of[rows[i].row] = i;
    g_free(sum);
    g_free(n);
}

static double crossing_reduction_arrow_length(const struct scene *s, const uint32_t *place_of)
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

void crossing_reduction_run(struct view *view)
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
    double least = crossing_reduction_arrow_length(s, best);
    for (int i = 0; i < 24; i++) {
        crossing_reduction_reorder_sweep(s, rows, place_of);
        double now = crossing_reduction_arrow_length(s, place_of);
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
