/* The information that a run which is a cut has of itself: of which run it is, and what was left
 * out. Attached to the run. Not thread-safe. */
#ifndef SERVER_CUTS_CUT_INFO_H
#define SERVER_CUTS_CUT_INFO_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

struct run;

struct cut_info {
    char *source; /* name of the run that it was cut out of */
    char *selection; /* which events it has, one line */
    bool prefix; /* it has all that happened before each of its events */
    char *keeps; /* kind of the finding that it was made for; "": none */
    uint64_t kept, left_out; /* events; on hidden lines they do not count */
    uint32_t threads_left_out; /* threads of which it has no event */
    struct map
        continuing; /* threads, by line, with events that were left out after their last one */
    uint32_t *types; /* of the run, by code - 1 of the cut; for cut_reader.c */
    uint32_t type_count;
    bool whole; /* LEFT_OUT was read */
};

/* Returns the information of a run that is a cut, or NULL. */
const struct cut_info *cut_info_of(const struct run *run);
/* Returns it, made if the run has none. */
struct cut_info *cut_info_make(struct run *run);
/* Returns whether a thread of a cut continued after its last event here, so that it does not
 * wait. */
bool cut_info_continues(const struct run *run, uint32_t thread);
/* Returns one line about a run that is a cut, or NULL; the caller frees it. */
char *cut_info_text(const struct run *run);

#endif
