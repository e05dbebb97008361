/* Positions of agents' streams in a journal, which a server needs to resume the file.  A mark lies
 * before each batch, and is written together with it; for the marks that a checkpoint covers, the
 * NEWS hold the resulting positions. docs/tracefile.md, kind 97. */
#ifndef SERVER_TRACEFILE_AGENT_POSITIONS_H
#define SERVER_TRACEFILE_AGENT_POSITIONS_H

#include "wire/forwarding_messages.h"

#define AGENT_POSITION_NONE UINT32_MAX /* a session that has hung up, or that is not accepted */

/* The position in a stream of NATS JetStream: all messages before `next` are in the journal. */
struct agent_position_message {
    uint64_t next; /* 0: the stream did not come from NATS */
    int64_t stream_ns; /* when the stream was made */
};

struct agent_position_mark {
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t next; /* number of the chunk that is expected after the batch */
    uint64_t bytes; /* length of the batch in the journal, after the mark */
    struct agent_position_message message;
    bool ended;
    char *run; /* owned by the caller */
    uint32_t from; /* the first session of the agent with a given number */
    uint32_t *sessions; /* their numbers in this run; owned by the caller */
    uint32_t count;
};

void agent_position_encode(struct encoder *out, const struct agent_position_mark *mark);
bool agent_position_decode(struct decoder *in,
                           struct agent_position_mark *mark); /* free it in any case */
void agent_position_mark_free(struct agent_position_mark *mark);

struct agent_position {
    uint8_t id[FORWARD_ID_BYTES];
    char *run;
    uint64_t next;
    struct agent_position_message message;
    bool ended, unsaved;
    uint32_t *sessions; /* numbers in this run by the agent's number, or AGENT_POSITION_NONE */
    size_t count, room;
};

/* A zero-initialized list is empty. */
struct agent_positions {
    struct agent_position *items;
    size_t count, room;
};

bool agent_position_apply(struct agent_positions *list, const uint8_t *data,
                          size_t size); /* a mark's */
void agent_position_note_hangup(struct agent_positions *list,
                                uint32_t session); /* of that number here */
struct agent_positions agent_positions_copy(const struct agent_positions *list);
void agent_positions_free(struct agent_positions *list);
/* Passes all positions that changed since the last call, as bodies of marks without a batch. */
void agent_positions_save(struct agent_positions *list,
                          void (*save)(void *context, const struct encoder *body), void *context);

#endif
