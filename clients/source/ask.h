/* Questions to a server, and their answers as they come. */
#ifndef CLIENTS_SOURCE_ASK_H
#define CLIENTS_SOURCE_ASK_H

#include "wire/ask.h"
#include "wire/endpoint.h"

#include <stdbool.h>

struct source; /* see source.h */

bool source_send(struct source *source, struct out *out); /* frees out */

/* A part of the answer to a question of user's.  A callback that cannot read it fails answer->in. */
typedef void source_take(void *user, const struct answer *answer);

/* Asks; frees body, NULL: there is none.  Each part of the answer goes to `take`; the one that says `last`
 * is the end of it.  Where there is no answer that part is PART_REFUSAL: a string, why.  Returns the
 * question's id, 0 if the connection is over. */
uint32_t source_ask(struct source *source, enum ask what, struct out *body, source_take *take,
                    void *user);
/* Nothing more of it is told, if it is still under way. */
void source_cancel(struct source *source, uint32_t id);
/* The same for all, without telling the server: it was another run that they were about. */
void source_forget(struct source *source);
bool source_asks(const struct source *source, uint32_t id); /* is it under way? */
bool source_busy(const struct source *source); /* is any? */

/* Waits until it is answered; other answers go to whom they belong.  False with a line in error: the
 * connection is over, or the server has refused to answer. */
bool source_wait(struct source *source, uint32_t id, struct error *error);
/* Next message that is not a table; tables go into the book.  Result: 1 a message, 0 none yet (only when not
 * blocking), -1 the connection is over, with a line in error.  An ANSWER is for source_answered, which
 * returns false, with a line in error, if it is damaged: what comes behind it cannot be trusted. */
int source_next(struct source *source, bool blocking, unsigned *type, struct in *in,
                struct error *error);
bool source_answered(struct source *source, struct in *in, struct error *error);

#endif
