/* Swapping two events of a replayed run: the schedule ends before them, and the thread that was
 * first is held until the other one has passed. */
#ifndef CLIENTS_CLI_SWAP_EVENTS_H
#define CLIENTS_CLI_SWAP_EVENTS_H

#include "clients/metadata/trace_metadata.h"
#include "base/bitset.h"
#include "wire/trace_view.h"
#include "wire/schedule_control.h"

#define SWAP_OPERATION_TYPES 16u

struct swap_events {
    struct event_id events[2]; /* as named by the user; line 0: none */
    struct swap_occurrence { /* the first of them in the trace, and the other */
        struct event_id at;
        uint32_t thread, type, process;
        uint64_t site;
        uint32_t times; /* how often the thread came there since the first one began */
        bool known;
    } first, other;
    unsigned first_named; /* 1 + its index */
    bool begun; /* the first one has begun */
    /* the other, if its thread begins after the first one in the trace */
    struct swap_occurrence late;
    struct bitset after; /* lines on which the next event is after the first one */
    struct swap_operation { /* events of a thread at one call site */
        struct swap_occurrence begin;
        struct event_id last;
        uint32_t types[SWAP_OPERATION_TYPES]; /* of its events, each once */
        unsigned type_count;
    } *last; /* for each thread, by line: its last operation */
    size_t room;
    struct swap_occurrence *since; /* occurrences since the first one began */
    size_t count, since_room;
};

/* Parses "LINE:NUMBER" twice. */
bool swap_events_read(struct swap_events *flip, const char *a, const char *b);
/* First pass through the trace in its order: finds where the first event begins, such as its lock
 * request. */
void swap_events_find(struct swap_events *flip, const struct event_info *event);
/* Second pass: returns whether the event is part of the replay. */
bool swap_events_filter(struct swap_events *flip, const struct event_info *event);
/* Returns false with the reason in *why. */
bool swap_events_hold_points(const struct swap_events *flip, const struct trace_metadata *book,
                             struct schedule_control *head, const char **why);
void swap_events_free(struct swap_events *flip);

#endif
