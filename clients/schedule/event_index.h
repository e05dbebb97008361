/* What was done in a run, event by event, for trace_alignment.h: by line and by thread, with the
 * points that several are. */
#ifndef CLIENTS_SCHEDULE_EVENT_INDEX_H
#define CLIENTS_SCHEDULE_EVENT_INDEX_H

#include "wire/trace_view.h"

#include <stdbool.h>
#include <stddef.h>

#define EVENT_INDEX_NONE UINT32_MAX

struct event_record {
    struct event_id at;
    uint32_t thread, about; /* lines; about 0: none */
    uint32_t act; /* the how-manieth of its thread, from 0 on */
    const char *type;
    uint8_t relation;
    uint64_t group;
    struct event_id *refs; /* its partners, then what else is before it */
    uint32_t partner_count, ref_count;
    uint32_t ring; /* the next deed of the same point */
    uint32_t other; /* that it is equal to, EVENT_INDEX_NONE */
    int32_t column;
};

struct event_index_row { /* by line */
    uint32_t *own, *acts; /* deeds on it; of the thread that it is */
    uint32_t own_count, act_count;
    const char *name; /* of a stranger */
    const char *label; /* of what is no thread; NULL: not known */
    uint32_t match; /* 0: none */
};

struct event_index {
    struct event_record *items;
    uint32_t count;
    struct event_index_row *rows;
    size_t room;
};

void event_index_free(struct event_index *deeds); /* empties it */
/* In the order of the log.  False: what came before it on its line is missing, or it is not
 * ordered. */
bool event_index_add(struct event_index *deeds, const struct event_info *event, const char *type);
struct event_index_row *event_index_row(struct event_index *deeds, uint32_t line);
/* Once, behind all of them: ties those that are one point. */
void event_index_link_groups(struct event_index *deeds);

uint32_t event_index_find(const struct event_index *deeds, struct event_id at);
bool event_index_same_point(const struct event_index *deeds, uint32_t i, uint32_t k);
/* Which of its references are before an event: of a send the partners are behind it, of a point
 * they are in it. */
uint32_t event_index_first_before(const struct event_record *deed);

#endif
