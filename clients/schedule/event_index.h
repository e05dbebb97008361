/* Index of the events of a run, for trace_alignment.h: by line and by thread, with their
 * synchronization points. */
#ifndef CLIENTS_SCHEDULE_EVENT_INDEX_H
#define CLIENTS_SCHEDULE_EVENT_INDEX_H

#include "wire/trace_view.h"

#include <stdbool.h>
#include <stddef.h>

#define EVENT_INDEX_NONE UINT32_MAX

struct event_record {
    struct event_id at;
    uint32_t thread, about; /* lines; about 0: none */
    uint32_t act; /* index among the events of its thread, from 0 */
    const char *type;
    uint8_t relation;
    uint64_t group;
    struct event_id *refs; /* its partners, then its other predecessors */
    uint32_t partner_count, ref_count;
    uint32_t ring; /* the next event of the same synchronization point */
    uint32_t other; /* the equal event of the other run, or EVENT_INDEX_NONE */
    int32_t column;
};

struct event_index_row { /* by line */
    uint32_t *own, *acts; /* events on it; events of the thread, if it is one */
    uint32_t own_count, act_count;
    const char *name; /* of a thread without a known creator */
    const char *label; /* of other lines; NULL: unknown */
    uint32_t match; /* 0: none */
};

struct event_index {
    struct event_record *items;
    uint32_t count;
    struct event_index_row *rows;
    size_t room;
};

void event_index_free(struct event_index *index); /* leaves it empty */
/* Adds an event, in the order of the log. Returns false if a predecessor on its line is missing, or
 * it is not ordered. */
bool event_index_add(struct event_index *index, const struct event_info *event, const char *type);
struct event_index_row *event_index_row(struct event_index *index, uint32_t line);
/* Call once, after all events: links those of one synchronization point. */
void event_index_link_groups(struct event_index *index);

uint32_t event_index_find(const struct event_index *index, struct event_id at);
bool event_index_same_point(const struct event_index *index, uint32_t i, uint32_t k);
/* Returns the index of its first reference that is a predecessor: the partners of a send are
 * successors, those of a synchronization point are simultaneous. */
uint32_t event_index_first_before(const struct event_record *record);

#endif
