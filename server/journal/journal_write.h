/* What goes into the journal, and what is said of a disk that is full.  In the door. */
#ifndef SERVER_JOURNAL_JOURNAL_WRITE_H
#define SERVER_JOURNAL_JOURNAL_WRITE_H

#include "server/journal/capture.h"

/* Notes, and says once, whether bytes fit; `fits`. */
bool journal_check_written(struct capture *taking, bool fits, uint64_t bytes);
bool journal_is_described(const struct capture *taking,
                          const char *name); /* the journal has that environment */
void journal_note_described(struct capture *taking, const char *name); /* from now on */
/* journal_write_description, with the text that an agent has for it where there is none here. */
bool journal_write_given_description(struct capture *taking, const char *name, const char *text);
/* journal_write_description for each environment that slots name; false: there is no room for it.
 * any: only tells whether there is one that the journal does not have. */
bool journal_write_descriptions(struct capture *taking, const struct ring_slot *slots, size_t count,
                                bool *any);

#endif
