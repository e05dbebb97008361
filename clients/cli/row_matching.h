/* The rows of a picture of two runs: those of the second one stand in the order of those of the
 * first that they are matched with, and are called as they are. */
#ifndef CLIENTS_CLI_ROW_MATCHING_H
#define CLIENTS_CLI_ROW_MATCHING_H

#include "clients/metadata/merged_metadata.h"
#include "clients/schedule/trace_alignment.h"

#define ROW_MATCHING_ROWS_MAX                                                                      \
    60u /* of the first run, and as many that only the second has; of more those that differ, then the first ones */

enum row_match { ROW_UNINVOLVED, ROW_INVOLVED, ROW_DIFFERS };

/* part: an enum row_match by line of `both`.  Lines of `both`, which the caller frees, count[0] of
 * the first run, then count[1] of the second; *left: so many more take part. */
uint32_t *row_matching_rows(struct merged_metadata *both, const struct trace_alignment *beside,
                            const uint8_t *part, uint32_t count[2], uint32_t *left);

#endif
