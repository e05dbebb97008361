/* What lies in a stream of NATS JetStream, and what it is called: names, addresses, and batches as
 * messages.
 *
 * A run has a stream, poet-RUN; a journal that is forwarded has a subject in it, poet.RUN.ID.  A
 * batch is one message, or parts of it where it is larger than messages may be.  Nothing here needs
 * libnats. */
#ifndef SERVER_FORWARDING_NATS_MESSAGE_H
#define SERVER_FORWARDING_NATS_MESSAGE_H

#include "wire/endpoint.h"
#include "wire/forwarding_messages.h"

#define NATS_MESSAGE_VERSION 1u
#define NATS_HEAD_BYTES 53u /* of each message */
#define NATS_PARTS_MAX 65536u
#define NATS_HOST_BYTES 256u

struct nats_address { /* nats://[USER[:PASSWORD]@]HOST[:PORT][#RUN], or tls:// */
    char *url; /* as libnats wants it */
    char *shown; /* without who we are */
    char *host, *port;
    char *run; /* NULL none */
    bool tls;
};

/* Whether it is one at all. */
bool nats_is_address(const char *where);
char *nats_display_text(const char *where); /* without who we are */
bool nats_address_parse(struct nats_address *read, const char *where, struct error *error);
void nats_address_free(struct nats_address *where);

/* Letters, digits and - as they are, each other byte as _XX; of nothing, _.  No two names become
 * one. */
char *nats_name(const char *run);
char *nats_stream(const char *run);
char *nats_subject(const char *run, const uint8_t *id); /* id NULL: of all */

struct nats_message {
    uint8_t id[FORWARD_ID_BYTES];
    bool ends; /* its journal does, with this batch */
    uint32_t part, parts;
    struct forwarded_batch batch; /* packed: of this part */
};

/* How many parts, if a message has at most so many bytes; 0: that cannot be. */
uint32_t nats_parts(size_t packed_bytes, size_t most);
/* One of them.  message->batch is the whole one. */
void encode_nats_message(struct encoder *out, const struct nats_message *message, size_t most);
bool decode_nats_message(struct decoder *in, struct nats_message *message);
/* The chunk that is wanted behind this message, if it is the last one. */
uint64_t nats_next(const struct nats_message *message);

/* What hosts' clocks say is asked beside the stream: a question goes to all agents of a run, and
 * each of them answers. */
char *nats_clock_subject(const char *run); /* in no stream */
struct
    /* when the question went, by the clock of who asks; when it was there, and when this went, by
     * that of a host */
    nats_answer {
    uint64_t asked, heard, said;
    char *host; /* readable; the caller's */
};
void encode_nats_request(struct encoder *out, uint64_t asked);
bool decode_nats_request(struct decoder *in, uint64_t *asked);
void encode_nats_response(struct encoder *out, const struct nats_answer *answer);
bool decode_nats_response(struct decoder *in, struct nats_answer *answer);

/* Parts become batches again. */
struct nats_assembly {
    uint64_t first;
    uint32_t count, raw, part, parts;
    struct encoder packed;
};
/* True: message->batch is whole now, good until the next call.  What fits to nothing is dropped: it
 * comes again. */
bool nats_assemble(struct nats_assembly *assembly, struct nats_message *message);

#endif
