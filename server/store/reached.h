/* How far the streams of agents are in a journal: what a server that goes on with the file must know of them.
 *
 * A mark lies before each batch, and is written together with it; of those that a state knows the news have what they came to.
 * docs/tracefile.md, kind 97. */
#ifndef SERVER_STORE_REACHED_H
#define SERVER_STORE_REACHED_H

#include "wire/forwarded.h"

#define REACHED_NONE UINT32_MAX /* a session that has hung up, or is not believed */

/* Where a message of NATS JetStream lies: of which stream, and before which one all is in the journal. */
struct reached_message {
    uint64_t next; /* 0: it did not come from there */
    int64_t stream_ns; /* when the stream was made */
};

struct reached_mark {
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t next; /* the chunk that is wanted next, once the batch is there */
    uint64_t bytes; /* of the journal, behind the mark, that are the batch */
    struct reached_message message;
    bool ended;
    char *run; /* the caller's */
    uint32_t from; /* the first session there whose number is told */
    uint32_t *sessions; /* their numbers here; the caller's */
    uint32_t count;
};

void put_reached(struct out *out, const struct reached_mark *mark);
bool reached_get(struct in *in, struct reached_mark *mark); /* free it in any case */
void reached_mark_free(struct reached_mark *mark);

struct reached {
    uint8_t id[FORWARD_ID_BYTES];
    char *run;
    uint64_t next;
    struct reached_message message;
    bool ended, unsaved;
    uint32_t *sessions; /* here, by number there; REACHED_NONE */
    size_t count, room;
};

/* Zero-initialised: none. */
struct reached_list {
    struct reached *items;
    size_t count, room;
};

bool reached_take(struct reached_list *list, const uint8_t *data, size_t size); /* a mark's */
void reached_hung_up(struct reached_list *list, uint32_t session); /* of that number here */
struct reached_list reached_copied(const struct reached_list *list);
void reached_free(struct reached_list *list);
/* Tells all that has changed since, in bodies of marks without a batch. */
void reached_save(struct reached_list *list, void (*save)(void *context, const struct out *body),
                  void *context);

#endif
