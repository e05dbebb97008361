/* A stream: one journal that is forwarded, from the chunk on that is wanted.
 *
 * It is read from its file, which may still be written or may be left by an agent that has
 * ended; in the latter case the stream ends with what that agent could not write any more: that
 * its programs hung up. */
#ifndef SERVER_FORWARDING_FORWARDED_STREAM_H
#define SERVER_FORWARDING_FORWARDED_STREAM_H

#include "server/tracefile/journal_follow.h"
#include "wire/forwarding_messages.h"

struct outgoing_stream {
    uint8_t id[FORWARD_ID_BYTES];
    char *run, *path;
    struct journal_follower *following;
    bool live; /* its journal is being written */
    bool ended; /* END was read */
    bool forwarded; /* the file says that it was acknowledged as a whole */
    uint64_t next; /* chunk that is read next */
    uint64_t skip_to; /* what is before this chunk is passed over */
    uint8_t *open; /* by session: did not hang up */
    size_t sessions, room;
    uint64_t chunks; /* of the file, once it is read to its end; UINT64_MAX before that */
    struct outgoing_mark { /* ends of batches that are under way */
        struct journal_position place;
        uint64_t bytes;
    } *marks;
    size_t mark_count, mark_room;
    struct journal_position kept; /* up to here it is acknowledged */
    uint64_t under_way; /* bytes */
};

/* Encodes the first chunk of an agent's journal. */
void encode_stream_head(struct encoder *out, const uint8_t *id, const char *run, const char *host);
/* Opens an agent's journal.  Returns NULL with the reason in *why if the file is not one, or if a
 * process writes it although it is not live. */
struct outgoing_stream *outgoing_stream_new(const char *path, bool live, const char **why);
/* Opens any journal, including a server's. */
struct outgoing_stream *outgoing_stream_of_file(const char *path, const char **why);
void outgoing_stream_free(struct outgoing_stream *stream);
/* The next chunk; false: there is none now. */
bool outgoing_stream_next(struct outgoing_stream *stream, struct forwarded_chunk *chunk);
/* Reads up to the chunk that is wanted, for some thousand chunks; true: it is there. */
bool outgoing_stream_advance(struct outgoing_stream *stream);
/* Records that all chunks before `next` are acknowledged. */
void outgoing_stream_keep(struct outgoing_stream *stream, uint64_t next);
/* Goes back to the chunk from which it must be sent again. */
void outgoing_stream_go_back(struct outgoing_stream *stream, uint64_t next);
void outgoing_stream_mark(struct outgoing_stream *stream,
                          uint64_t bytes); /* a batch up to here is under way */

#endif
