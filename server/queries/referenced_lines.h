/* Which lines answers name.  Of a run with more than LIMIT_LINES_TOLD lines a viewer may want to be
 * told only of those: they are told before the answer that names them first. */
#ifndef SERVER_QUERIES_REFERENCED_LINES_H
#define SERVER_QUERIES_REFERENCED_LINES_H

#include "server/queries/run_notifications.h"

bool referenced_lines_is_enabled(const struct run *run,
                                 const struct viewer_knowledge *known); /* is it so, by now? */
bool referenced_lines_is_sent(const struct viewer_knowledge *known,
                              uint32_t line); /* was the line told already? */
/* How many lines there are, wherever that is news. */
void referenced_lines_send_count(struct encoder *out, const struct run *run,
                                 struct viewer_knowledge *known);

/* From `begin` to `end` lines that are noted are named in the answer that begins at byte `answer`
 * of out. */
void referenced_lines_begin(const struct run *run, const struct viewer_knowledge *known);
void referenced_lines_note(uint32_t line);
void referenced_lines_end(struct encoder *out, size_t answer, const struct run *run,
                          struct viewer_knowledge *known);
void referenced_lines_clear(struct viewer_knowledge *known); /* what was told; frees it */

#endif
