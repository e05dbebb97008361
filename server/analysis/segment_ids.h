/* Who did what, as one small number: a step (server/timing/code_segments.h) of a thread.
 *
 * Beside the steps that are recorded there are three that say what is not.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_SEGMENT_IDS_H
#define SERVER_ANALYSIS_SEGMENT_IDS_H

#include "base/map.h"

#include <stdint.h>

#define STEP_NOT_THERE 0u /* nothing is known of the thread then: before its start, after its end */
#define STEP_STARTING UINT32_MAX /* it had not begun, as is known */
#define STEP_OTHERS (UINT32_MAX - 1) /* what was too little to be kept apart */
#define SEGMENT_IDS_RESERVED 2u /* added to a step, it numbers these first */

struct segment_id {
    uint32_t step, thread; /* the thread's line */
};

/* Zero-initialised: there are none. */
struct segment_ids {
    struct segment_id *items; /* by code */
    uint32_t count;
    size_t room;
    struct pairs_of {
        uint32_t **pages; /* of 64 codes + 1, by step */
        size_t count;
    } *threads; /* by the thread's index */
    size_t thread_count, thread_room;
    struct map strangers; /* of threads without an index */
};

/* The code, made on first use.  index: the thread's own small number, which goes with its line;
 * UINT32_MAX: none. */
uint32_t segment_ids_get(struct segment_ids *pairs, uint32_t index, uint32_t line, uint32_t step);
void segment_ids_free(struct segment_ids *pairs); /* empties it */

#endif
