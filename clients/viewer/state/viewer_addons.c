#include "clients/viewer/state/viewer_addons.h"

#include <glib.h>

/* Returns the row of an addon; NULL: it was not added, or is removed. */
static struct viewer_addon_state *viewer_addons_find_row(const struct viewer_addons *addons,
                                                         const struct viewer_addon *addon)
{
    for (size_t i = 0; i < addons->count; i++)
        if (addons->states[i].addon == addon)
            return &addons->states[i];
    return NULL;
}

void *viewer_addons_find(const struct viewer_addons *addons, const struct viewer_addon *addon)
{
    const struct viewer_addon_state *row = viewer_addons_find_row(addons, addon);
    return row ? row->state : NULL;
}

void *viewer_addons_add(struct viewer_addons *addons, const struct viewer_addon *addon)
{
    g_assert(!viewer_addons_find_row(addons, addon));
    struct viewer_addon_state row = {addon, g_malloc0(addon->bytes)};
    addons->states = g_renew(struct viewer_addon_state, addons->states, addons->count + 1);
    addons->states[addons->count] = row;
    addons->count++;
    return row.state;
}

void viewer_addons_remove(struct viewer_addons *addons, const struct viewer_addon *addon)
{
    struct viewer_addon_state *row = viewer_addons_find_row(addons, addon);
    if (!row)
        return;
    g_free(row->state);
    addons->count--;
    /* the order of rows means nothing: the last one fills the gap */
    *row = addons->states[addons->count];
}
