/* Questions about pairs of events, from ORDER and WHY messages, answered in steps so that nothing waits
 * for a long one. */
#ifndef SERVER_QUESTION_H
#define SERVER_QUESTION_H

#include "server/run.h"
#include "wire/message.h"

struct question;

/* Takes the pairs out of the message; type is MESSAGE_ORDER or MESSAGE_WHY. */
struct question *question_new(const struct run *run, unsigned type, struct in *in);
bool question_step(struct question *question, uint64_t budget); /* true when it is done */
void question_put(struct question *question, struct out *out); /* appends the answer, whole messages */
void question_free(struct question *question);

#endif
