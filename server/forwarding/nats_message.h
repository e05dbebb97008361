/* Contents of a NATS JetStream stream: names, addresses, and batches as messages.
 *
 * A run has a stream, poet-RUN; a journal that is forwarded has a subject in it, poet.RUN.ID. A
 * batch is one message, or parts of it where it is larger than messages may be.  Nothing here
 * needs libnats. */
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
    char *shown; /* without credentials */
    char *host, *port;
    char *run; /* NULL none */
    bool tls;
};

/* Returns whether the text is an address. */
bool nats_is_address(const char *where);
char *nats_display_text(const char *where); /* without credentials */
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

/* Returns the number of parts, if a message has at most so many bytes; 0: impossible. */
uint32_t nats_parts(size_t packed_bytes, size_t most);
/* Encodes one part; message->batch is the whole batch. */
void encode_nats_message(struct encoder *out, const struct nats_message *message, size_t most);
bool decode_nats_message(struct decoder *in, struct nats_message *message);
/* The chunk that is wanted behind this message, if it is the last one. */
uint64_t nats_next(const struct nats_message *message);

/* Clocks of hosts are compared outside the stream: a request goes to all agents of a run, and
 * each of them responds. */
char *nats_clock_subject(const char *run); /* in no stream */
struct
    /* when the request was sent, by the requester's clock; when it arrived, and when this
     * response was sent, by the clock of a host */
    nats_answer {
    uint64_t asked, received, replied;
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
/* Returns true if message->batch is complete now; it is valid until the next call.  A part that
 * does not fit is dropped: it will be resent. */
bool nats_assemble(struct nats_assembly *assembly, struct nats_message *message);

#endif
