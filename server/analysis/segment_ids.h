/* Numbers of pairs of a thread and a code segment (server/timing/code_segments.h).
 *
 * Besides the recorded code segments there are three special ones for times without a recorded one.
 * Not thread-safe. */
#ifndef SERVER_ANALYSIS_SEGMENT_IDS_H
#define SERVER_ANALYSIS_SEGMENT_IDS_H

#include "base/map.h"

#include <stdint.h>

#define STEP_NOT_THERE 0u /* nothing is known of the thread: before its start or after its end */
#define STEP_STARTING UINT32_MAX /* it was created and had not started */
#define STEP_OTHERS (UINT32_MAX - 1) /* shares that were too small to be kept separately */
#define SEGMENT_IDS_RESERVED 2u /* offset of code segments, so that the special ones come first */

struct segment_id {
    uint32_t step, thread; /* the thread's trace line */
};

/* Zero-initialized: empty. */
struct segment_ids {
    struct segment_id *items; /* by code */
    uint32_t count;
    size_t room;
    struct pairs_of {
        uint32_t **pages; /* by code segment: pages of 64 numbers + 1 */
        size_t count;
    } *threads; /* by the thread's index */
    size_t thread_count, thread_room;
    struct map strangers; /* numbers of threads without an index */
};

/* Returns the number, assigned on first use. index: the thread's own small number, in one-to-one
 * relation with its line; UINT32_MAX if it has none. */
uint32_t segment_ids_get(struct segment_ids *pairs, uint32_t index, uint32_t line, uint32_t step);
void segment_ids_free(struct segment_ids *pairs); /* frees the memory; it is empty then */

#endif
