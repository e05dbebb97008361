/* Writes the journal and reports a full disk.  Must hold the capture lock. */
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
/* Calls journal_write_description for each environment that the slots name; returns false if
 * there is no room. any: only determines whether there is one that the journal does not have. */
bool journal_write_descriptions(struct capture *taking, const struct ring_slot *slots, size_t count,
                                bool *any);

#endif
