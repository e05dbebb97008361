/* Merged metadata of two runs, for one diagram of both: the lines of the second run are numbered
 * after those of the first.
 *
 * Event types are those of the first run, matched by name, followed by those that only the second
 * run has. The descriptions belong to the original metadata, which must outlive this. */
#ifndef CLIENTS_METADATA_MERGED_METADATA_H
#define CLIENTS_METADATA_MERGED_METADATA_H

#include "clients/metadata/trace_metadata.h"

struct merged_metadata {
    struct trace_metadata book;
    const struct trace_metadata *of[2];
    uint32_t *types; /* of the second run, by code - 1 */
};

/* Both must have all their lines, with labels. */
void merged_metadata_make(struct merged_metadata *both, const struct trace_metadata *first,
                          const struct trace_metadata *second);
void merged_metadata_free(struct merged_metadata *both); /* leaves it empty */

uint32_t merged_metadata_line(const struct merged_metadata *both, unsigned run,
                              uint32_t line); /* 0 stays 0 */
struct event_id merged_metadata_event_id(const struct merged_metadata *both, unsigned run,
                                         struct event_id at);
/* Return the run of a line of `both`, and the line in that run; and the same for an event. */
unsigned merged_metadata_run(const struct merged_metadata *both, uint32_t line);
struct event_id merged_metadata_own_line(const struct merged_metadata *both, struct event_id at);
/* Converts an event of a run to its form in `both`. Hidden lines are not changed. */
void merged_metadata_event(const struct merged_metadata *both, unsigned run,
                           struct event_info *event);

#endif
