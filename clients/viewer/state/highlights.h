/* Highlights in the diagram for the selected row of a table: events, marked like search hits, and
 * lines, marked at their names. */
#ifndef CLIENTS_VIEWER_STATE_HIGHLIGHTS_H
#define CLIENTS_VIEWER_STATE_HIGHLIGHTS_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: no highlights. */
struct highlights {
    struct event_id *events; /* sorted by line and number, without duplicates */
    uint32_t event_count;
    uint32_t *lines;
    uint32_t line_count;
};

/* Copies the arrays; ignores events at line 0. The caller sends NOTIFY_HITS. */
void highlights_set(struct highlights *marked, const struct event_id *events, uint32_t event_count,
                    const uint32_t *lines, uint32_t line_count);
void highlights_add(struct highlights *marked, const struct event_id *events, uint32_t count);
bool highlights_has_line(const struct highlights *marked, uint32_t line);
void highlights_clear(struct highlights *marked);

#endif
