/* Selection of the events of a cut: those of a consistent cut that are not in an earlier one, and
 * of some lines. Without lines, an event between two others is always there with them, so that the
 * order among the events is that of their edges. */
#ifndef SERVER_CUTS_CUT_SELECTION_H
#define SERVER_CUTS_CUT_SELECTION_H

#include "server/order/causality/consistent_cut.h"
#include "server/run/run.h"

/* Events of threads near some of them, counted along each thread. */
struct cut_near {
    const struct order *order;
    uint32_t within; /* how many before and after each */
    struct cut_near_event {
        uint64_t position, ordinal; /* ordinal: among the events of its thread */
        uint32_t thread;
    } *events;
    uint32_t count;
    uint64_t *seen; /* by thread - 1: events so far, in the pass and in the copy */
    uint32_t lines;
    uint64_t at, end; /* of the pass that determines ordinals */
};

/* The selection owns what it refers to; a zeroed one has no event. */
struct cut_selection {
    struct consistent_cut *until; /* events are in it */
    struct consistent_cut *since; /* and not in this one; NULL: from the begin */
    uint8_t *lines; /* by line - 1: events on the line, and of its thread; NULL: all */
    uint32_t line_count;
    struct cut_near *near; /* only events near some of them; NULL: all */
    char *text; /* what it is, one line */
    char *keeps; /* kind of the finding that it is made for; NULL: none */
};

void cut_selection_free(struct cut_selection *selection);
/* Returns true when both cuts are known. */
bool cut_selection_step(struct cut_selection *selection, uint64_t budget);
/* The positions that may be selected. */
uint64_t cut_selection_begin(const struct cut_selection *selection);
uint64_t cut_selection_end(const struct cut_selection *selection);
/* Returns whether an event, which was read, is selected.  Must be called once for each, from the
 * begin up. */
bool cut_selection_has(struct cut_selection *selection, uint64_t position,
                       const struct order_event *event);
/* Returns whether events between others may be left out. */
bool cut_selection_has_holes(const struct cut_selection *selection);
/* Makes a selection of events near some; the positions are those of ordered events. */
struct cut_near *cut_near_new(const struct order *order, const uint64_t *positions, uint32_t count,
                              uint32_t within);

#endif
