/* Addon set of a run: state that modules attach to it, each in a slot of its own.
 *
 * The module that owns a slot attaches its state, with the function that frees it, when it first
 * needs it, and reads it through an accessor of its own; the run only frees it.  A zero-initialized
 * set is empty.  Access takes constant time.  Not thread-safe. */
#ifndef SERVER_RUN_RUN_ADDONS_H
#define SERVER_RUN_RUN_ADDONS_H

#include <stddef.h>

/* The slots, in the order in which run_addons_free() frees their states. */
enum run_addon_slot {
    RUN_ADDON_CAPTURE, /* captured and undelivered chunks of a live run (run_journal.h) */
    RUN_ADDON_CHECKPOINT_WRITER,
    RUN_ADDON_CLOCK_SYNC,
    RUN_ADDON_CLOCK_EXCHANGES,
    RUN_ADDON_UNORDERED_EVENTS,
    RUN_ADDON_STATE_TIMELINES,
    RUN_ADDON_INTERVALS, /* and the two that are computed from them (queries/interval_cache.h) */
    RUN_ADDON_ATTRIBUTION,
    RUN_ADDON_PATH_BASELINE,
    RUN_ADDON_CALL_SITES,
    RUN_ADDON_OS_METRICS,
    RUN_ADDON_ACTIVITY,
    RUN_ADDON_HEAP_TOTALS,
    RUN_ADDON_INPUTS,
    RUN_ADDON_PROGRAM_METRICS,
    RUN_ADDON_CPU_STATES,
    RUN_ADDON_AWAITS,
    RUN_ADDON_INHERITED_HOLDS,
    RUN_ADDON_CUT, /* of which run it is a part (server/cuts/cut_info.h) */
    RUN_ADDON_CONFLICTS,
    RUN_ADDON_SLOTS
};

struct run_addon {
    void *state; /* NULL: nothing is attached */
    void (*free)(void *state); /* never receives NULL */
};

struct run_addons {
    struct run_addon slots[RUN_ADDON_SLOTS];
};

/* Returns the state in a slot, or NULL. */
static inline void *run_addon(const struct run_addons *addons, enum run_addon_slot slot)
{
    return addons->slots[slot].state;
}

/* Attaches a state, and frees the one that the slot had. */
void run_addon_attach(struct run_addons *addons, enum run_addon_slot slot, struct run_addon addon);
/* Returns the state in a slot; attaches `size` zero bytes, to be freed by that function, if it has
 * none. */
void *run_addon_make(struct run_addons *addons, enum run_addon_slot slot, size_t size,
                     void (*free)(void *state));
/* Empties a slot; returns its state, which the caller then owns, or NULL. */
void *run_addon_detach(struct run_addons *addons, enum run_addon_slot slot);
/* Exchanges the contents of a slot and of *addon. */
void run_addon_swap(struct run_addons *addons, enum run_addon_slot slot, struct run_addon *addon);
void run_addon_free(struct run_addon *addon); /* frees its state, if any */
void run_addons_free(struct run_addons *addons);

#endif
