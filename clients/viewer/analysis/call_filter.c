#include "clients/viewer/analysis/call_filter.h"

#include "clients/viewer/state/table_model.h"
#include "clients/viewer/diagram/viewer.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

void call_filter_set_range(struct call_filter_range *range, struct view *view,
                           struct table_request *r)
{
    const struct view_state *place = &view->viewport.place;
    const struct event_info *one = scene_cache_find_event(&view->scene_cache, place->selected),
                            *other = place->second.line
                                         ? scene_cache_find_event(&view->scene_cache, place->second)
                                         : NULL;
    *range = (struct call_filter_range){place->selected, place->second};
    if (!one || !other || one->time_ns == other->time_ns)
        return;
    bool turned = other->time_ns < one->time_ns;
    r->from = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? other->at : one->at};
    r->to = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? one->at : other->at};
    table_model_set_option(r, "coarse", "1");
}

bool call_filter_range_has_changed(const struct call_filter_range *range, const struct view *view)
{
    const struct view_state *place = &view->viewport.place;
    return !event_id_equal(range->second, place->second) ||
           (place->second.line && !event_id_equal(range->selected, place->selected));
}

static bool call_filter_name_contains(const struct table_names *names, const struct result_table *t,
                                      uint32_t row, uint32_t scope, const char *text)
{
    char *name =
             result_table_cell_text(names, &t->columns[scope], &result_table_cells(t, row)[scope]),
         *folded = g_utf8_casefold(name, -1);
    bool contains = strstr(folded, text) != NULL;
    g_free(folded);
    free(name);
    return contains;
}

bool *call_filter_rows(const struct result_table *t, const struct table_names *names,
                       const char *text)
{
    uint32_t scope = result_table_find_column(t, "function"), above[UINT8_MAX + 1] = {0};
    if (!*text || scope == t->column_count)
        return NULL;
    bool *kept = g_new0(bool, t->row_count + 1);
    char *folded = g_utf8_casefold(text, -1);
    int inside = -1; /* depth of the matching row that this one is below; -1: none */
    for (uint32_t i = 0; i < t->row_count; i++) {
        int depth = t->rows[i].depth;
        bool matches = call_filter_name_contains(names, t, i, scope, folded);
        above[depth] = i;
        if (inside < 0 || depth <= inside)
            inside = matches ? depth : -1;
        kept[i] = inside >= 0;
        for (int d = 0; matches && d < depth; d++)
            kept[above[d]] = true;
    }
    g_free(folded);
    return kept;
}
