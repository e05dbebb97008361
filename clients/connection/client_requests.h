/* Questions to a server, and their answers as they come. */
#ifndef CLIENTS_CONNECTION_CLIENT_REQUESTS_H
#define CLIENTS_CONNECTION_CLIENT_REQUESTS_H

#include "wire/request.h"
#include "wire/endpoint.h"

#include <stdbool.h>

struct session; /* see session.h */

bool session_send_message(struct session *source, struct encoder *out); /* frees out */

/* A part of the answer to a question of user's.  A callback that cannot read it fails
 * answer->in. */
typedef void source_take(void *user, const struct response_chunk *answer);

/* Asks; frees body, NULL: there is none.  Each part of the answer goes to `take`; the one that says
 * `last` is the end of it.  Where there is no answer that part is RESPONSE_ERROR: a string, why.
 * Returns the question's id, 0 if the connection is over. */
uint32_t session_send(struct session *source, enum request_type what, struct encoder *body,
                      source_take *take, void *user);
/* Nothing more of it is told, if it is still under way. */
void session_cancel_request(struct session *source, uint32_t id);
/* The same for all, without telling the server: it was another run that they were about. */
void session_forget_request(struct session *source);
bool session_request_is_open(const struct session *source, uint32_t id); /* is it under way? */
bool session_is_busy(const struct session *source); /* is any? */

/* Waits until it is answered; other answers go to whom they belong.  False with a line in error:
 * the connection is over, or the server has refused to answer. */
bool session_wait(struct session *source, uint32_t id, struct error *error);
/* Next message that is not a table; tables go into the book.  Result: 1 a message, 0 none yet (only
 * when not blocking), -1 the connection is over, with a line in error.  An ANSWER is for
 * session_request_done, which returns false, with a line in error, if it is damaged: what comes
 * behind it cannot be trusted. */
int session_receive(struct session *source, bool blocking, unsigned *type, struct decoder *in,
                    struct error *error);
bool session_request_done(struct session *source, struct decoder *in, struct error *error);

#endif
