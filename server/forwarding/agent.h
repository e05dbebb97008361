/* An agent: forwards the journals of its server to another server, which orders them; the agent
 * orders nothing.
 *
 * A journal is kept until the destination has reported that the run has ended and all of it was
 * received, even if the agent is killed meanwhile; then it is removed, unless it is to be kept. */
#ifndef SERVER_FORWARDING_AGENT_H
#define SERVER_FORWARDING_AGENT_H

#include "server/forwarding/destination.h"
#include "server/eventloop/event_loop.h"

struct agent;

/* Forwards to a destination what is left in the directory, and what comes.  keep: files stay.
 * Returns NULL with the reason in *error. */
struct agent *agent_new(struct ev_loop *loop, const char *where, const char *directory, bool keep,
                        struct error *error);
void agent_free(struct agent *agent);
const char *agent_where(const struct agent *agent);
/* The first chunk of a journal that is to be forwarded. */
void agent_head(struct encoder *out, const char *run);
void agent_begin(struct agent *agent, const char *path); /* that chunk is in it */
void agent_end(struct agent *agent, const char *path); /* it is complete */
/* Sends what the destination has room for; returns true if nothing is left for now. */
bool agent_step(struct agent *agent, struct loop_share share);
bool agent_is_done(
    const struct agent *agent); /* nothing is left to be forwarded, or acknowledged */
bool agent_is_disconnected(const struct agent *agent); /* its destination */
/* Return whether the destination has answered yet, and its present error: "", or one line. */
bool agent_is_known(const struct agent *agent);
const char *agent_error(const struct agent *agent);
void agent_disconnect(const struct agent *agent); /* says what is left, and where */

#endif
