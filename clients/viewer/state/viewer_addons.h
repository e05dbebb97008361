/* Addons of the viewer: private states of its files, in a table with a row for each.
 *
 * A file that needs a state of its own declares a `static const struct viewer_addon`, adds the
 * state when it first needs it, and finds it by that constant. No other file can reach it, and
 * struct view names none of them. A state stays until its file removes it; the view, and what is
 * left in its table, live as long as the process. */
#ifndef CLIENTS_VIEWER_STATE_VIEWER_ADDONS_H
#define CLIENTS_VIEWER_STATE_VIEWER_ADDONS_H

#include <stddef.h>

/* A kind of addon: its address identifies it. */
struct viewer_addon {
    const char *name; /* for debuggers */
    size_t bytes;
};

struct viewer_addons {
    struct viewer_addon_state {
        const struct viewer_addon *addon;
        void *state;
    } *states;
    size_t count;
};

/* Returns the state; NULL: not added yet. */
void *viewer_addons_find(const struct viewer_addons *addons, const struct viewer_addon *addon);
/* Adds a zeroed state, which must not be there yet, and returns it. */
void *viewer_addons_add(struct viewer_addons *addons, const struct viewer_addon *addon);
/* Frees the state, if there is one. */
void viewer_addons_remove(struct viewer_addons *addons, const struct viewer_addon *addon);

#endif
