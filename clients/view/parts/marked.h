/* What a row of a table is about, marked in the picture: events, as hits of a search are, and lines by their names. */
#ifndef CLIENTS_VIEW_PARTS_MARKED_H
#define CLIENTS_VIEW_PARTS_MARKED_H

#include "wire/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: nothing is marked. */
struct marked {
    struct ref *events; /* sorted by line and number, each once */
    uint32_t event_count;
    uint32_t *lines;
    uint32_t line_count;
};

/* Copies; events at line 0 are none.  Whoever marks tells NEWS_HITS. */
void marked_set(struct marked *marked, const struct ref *events, uint32_t event_count,
                const uint32_t *lines, uint32_t line_count);
void marked_add(struct marked *marked, const struct ref *events, uint32_t count);
bool marked_line(const struct marked *marked, uint32_t line);
void marked_clear(struct marked *marked);

#endif
