/* Which lines answers name.  Of a run with more than LIMIT_LINES_TOLD lines a viewer may want to be told
 * only of those: they are told before the answer that names them first. */
#ifndef SERVER_ANSWER_NAMED_H
#define SERVER_ANSWER_NAMED_H

#include "server/answer/answer.h"

bool named_only(const struct run *run, const struct known *known); /* is it so, by now? */
bool named_told(const struct known *known, uint32_t line); /* was the line told already? */
/* How many lines there are, wherever that is news. */
void named_count(struct out *out, const struct run *run, struct known *known);

/* From `begin` to `end` lines that are noted are named in the answer that begins at byte `answer` of out. */
void named_begin(const struct run *run, const struct known *known);
void named_note(uint32_t line);
void named_end(struct out *out, size_t answer, const struct run *run, struct known *known);
void named_forget(struct known *known); /* what was told; frees it */

#endif
