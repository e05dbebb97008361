/* What goes into the journal, and what is said of a disk that is full.  In the door. */
#ifndef SERVER_TAKING_JOURNAL_H
#define SERVER_TAKING_JOURNAL_H

#include "server/taking/taking.h"

/* Notes, and says once, whether bytes fit; `fits`. */
bool written(struct taking *taking, bool fits, uint64_t bytes);
bool is_described(const struct taking *taking,
                  const char *name); /* the journal has that environment */
void note_described(struct taking *taking, const char *name); /* from now on */
/* journal_describe, with the text that an agent has for it where there is none here. */
bool journal_describe_told(struct taking *taking, const char *name, const char *text);
/* journal_describe for each environment that slots name; false: there is no room for it.  any: only tells whether there
 * is one that the journal does not have. */
bool journal_describe_all(struct taking *taking, const struct slot *slots, size_t count, bool *any);

#endif
