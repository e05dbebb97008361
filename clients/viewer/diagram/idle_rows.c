#include "clients/viewer/diagram/idle_rows.h"

#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"
#include "wire/layout_results.h"

#include <stdlib.h>

static void find_used(const struct scene *s, bool *used)
{
    for (uint32_t i = 0; i < s->mark_count; i++)
        used[s->marks[i].row] = true;
    for (uint32_t i = 0; i < s->segment_count; i++)
        used[s->segments[i].row] |= s->segments[i].style != STYLE_NONE;
    for (uint32_t i = 0; i < s->gap_count; i++)
        used[s->gaps[i].row] = true;
}

static uint32_t keep_used(struct window_info *w, const bool *used)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->row_count; i++) {
        if (used[i]) {
            w->rows[kept++] = w->rows[i];
            continue;
        }
        free(w->rows[i].members);
        free(w->rows[i].lefts);
    }
    return kept;
}

/* Keeps all of very many rows, since these are requested in parts. */
bool idle_rows_remove(struct view *view)
{
    struct scene_cache *stage = &view->scene_cache;
    struct window_info *w = &stage->window;
    const struct scene *s = stage->scene;
    if (!view->viewer_settings.busy_rows || !s || s->row_count != w->row_count || stage->row_base ||
        stage->row_total > w->row_count)
        return false;
    bool *used = g_new0(bool, w->row_count + 1);
    find_used(s, used);
    for (uint32_t i = 0; i < w->row_count; i++)
        used[i] |= row_requests_is_pinned(&view->viewport.place, w->rows[i].line);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->row_count; i++)
        kept += used[i];
    bool drops = kept > 0 && kept < w->row_count;
    if (drops)
        w->row_count = stage->row_total = keep_used(w, used);
    g_free(used);
    return drops;
}
