/* A source of chunks that another host journalled: a stream of an agent, or an agent's file.  Must
 * hold the capture lock.
 *
 * The chunks go into the journal of the run as if its programs were connected to this server;
 * their sessions get the next free numbers.  Duplicate chunks are dropped; chunks that come too
 * early are refused. */
#ifndef SERVER_JOURNAL_FORWARDED_SOURCE_H
#define SERVER_JOURNAL_FORWARDED_SOURCE_H

#include "server/tracefile/agent_positions.h"
#include "server/journal/capture.h"
#include "wire/forwarding_messages.h"

#define FORWARDED_SOURCE_NONE AGENT_POSITION_NONE

struct forwarded_source {
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t next; /* the chunk that is wanted next: those before are in the journal */
    bool ended; /* its programs are gone, and it says so */
    bool holds; /* no other program of the run is here: the last hang-up is held back */
    /* here, by number there; FORWARDED_SOURCE_NONE: it has hung up, or is not believed */
    uint32_t *sessions;
    size_t count, room;
    size_t open; /* of them */
    char *run; /* what its run is called; NULL: how far it is need not be in the journal */
    struct agent_position_message message; /* where its batches come from */
};

enum receive_result {
    RECEIVE_DONE, /* it is in the journal, or was */
    RECEIVE_EARLY, /* chunks before it are missing: they come, and then it comes again */
    RECEIVE_FULL, /* there is no room for it now */
    RECEIVE_INVALID, /* it cannot be: *why */
};

struct forwarded_source *forwarded_source_new(const uint8_t *id);
/* Like forwarded_source_new(), for a source with marks that are written to the journal of that run.
 */
struct forwarded_source *forwarded_source_marked(const uint8_t *id, const char *run);
/* Returns a source that is resumed at a position. */
struct forwarded_source *forwarded_source_resumed(const struct agent_position *reached);
void forwarded_source_free(struct forwarded_source *origin);
/* Takes `count` chunks, of which the first has number `first`. */
enum receive_result forwarded_source_receive(struct forwarded_source *origin,
                                             struct capture *taking, uint64_t first, uint32_t count,
                                             const uint8_t *raw, size_t size, const char **why);
/* Holds back the hang-ups that the journal lacks of a source that has ended: the server that held
 * them back before was killed. */
void forwarded_source_end(struct forwarded_source *origin, struct capture *taking);
/* A session here that is not believed any more; false: it is not from there. */
bool forwarded_source_reject(struct forwarded_source *origin, struct capture *taking,
                             uint32_t session);

#endif
