/* Two events of a run that is repeated, of which the other one is to come first: the script ends
 * before them, and who was first is held until the other has been there. */
#ifndef CLIENTS_CLI_SWAP_EVENTS_H
#define CLIENTS_CLI_SWAP_EVENTS_H

#include "clients/metadata/trace_metadata.h"
#include "base/bitset.h"
#include "wire/trace_view.h"
#include "wire/schedule_control.h"

struct swap_events {
    struct event_id events[2]; /* as they are named; line 0: none are */
    struct swap_occurrence { /* the first of them in the trace, and the other */
        struct event_id at;
        uint32_t thread, type, process;
        uint64_t site;
        uint32_t times; /* so often the thread came there since the first one began */
        bool known;
    } first, other;
    unsigned first_named; /* 1 + its index */
    bool begun; /* the first one has */
    /* the other, if its thread begins after the first one in the trace */
    struct swap_occurrence late;
    struct bitset after; /* lines whose next event is after the first one */
    struct swap_occurrence *last; /* of each thread, by line: what it did last */
    size_t room;
    struct swap_occurrence *since; /* what was done since the first one began */
    size_t count, since_room;
};

/* "LINE:NUMBER" twice. */
bool swap_events_read(struct swap_events *flip, const char *a, const char *b);
/* Once through the trace in its order: finds where the first one begins, as where its thread asks
 * for what it gets. */
void swap_events_find(struct swap_events *flip, const struct event_info *event);
/* And once more: does the event belong to what is repeated? */
bool swap_events_filter(struct swap_events *flip, const struct event_info *event);
/* False: *why says why not. */
bool swap_events_hold_points(const struct swap_events *flip, const struct trace_metadata *book,
                             struct schedule_control *head, const char **why);
void swap_events_free(struct swap_events *flip);

#endif
