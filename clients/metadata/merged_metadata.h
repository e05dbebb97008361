/* Two runs in one book, for a picture of both: the lines of the second one are numbered behind
 * those of the first.
 *
 * Event types are those of the first, by name, and what only the second has behind them.  What both
 * are drawn by is that of the books, which must outlive this. */
#ifndef CLIENTS_METADATA_MERGED_METADATA_H
#define CLIENTS_METADATA_MERGED_METADATA_H

#include "clients/metadata/trace_metadata.h"

struct merged_metadata {
    struct trace_metadata book;
    const struct trace_metadata *of[2];
    uint32_t *types; /* of the second one, by code - 1 */
};

/* Both books have all their lines, with labels. */
void merged_metadata_make(struct merged_metadata *both, const struct trace_metadata *first,
                          const struct trace_metadata *second);
void merged_metadata_free(struct merged_metadata *both); /* empties it */

uint32_t merged_metadata_line(const struct merged_metadata *both, unsigned run,
                              uint32_t line); /* 0 stays 0 */
struct event_id merged_metadata_event_id(const struct merged_metadata *both, unsigned run,
                                         struct event_id at);
/* Which run a line of `both` is of, and which line of that; likewise an event. */
unsigned merged_metadata_run(const struct merged_metadata *both, uint32_t line);
struct event_id merged_metadata_own_line(const struct merged_metadata *both, struct event_id at);
/* An event as it is in its run: from then on as it is in `both`.  Hidden lines stay what they
 * are. */
void merged_metadata_event(const struct merged_metadata *both, unsigned run,
                           struct event_info *event);

#endif
