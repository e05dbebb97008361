/* Rows of a diagram of two runs: those of the second run are in the order of the matching ones of
 * the first, and have the same names. */
#ifndef CLIENTS_CLI_ROW_MATCHING_H
#define CLIENTS_CLI_ROW_MATCHING_H

#include "clients/metadata/merged_metadata.h"
#include "clients/schedule/trace_alignment.h"

/* Rows of the first run, and as many that only the second has; if there are more, those that differ
 * come before the first ones. */
#define ROW_MATCHING_ROWS_MAX 60u

enum row_match { ROW_UNINVOLVED, ROW_INVOLVED, ROW_DIFFERS };

/* part: an enum row_match by line of `both`. Returns lines of `both`, which the caller frees:
 * count[0] of the first run, then count[1] of the second; *left: number of further lines with
 * differences. */
uint32_t *row_matching_rows(struct merged_metadata *both, const struct trace_alignment *beside,
                            const uint8_t *part, uint32_t count[2], uint32_t *left);

#endif
