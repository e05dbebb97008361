/* Where chunks come from that another machine journalled: one stream of an agent, or a file of one.  In the door.
 *
 * Its chunks go into the journal of the run as if its programs had spoken to this server; their sessions get the
 * numbers that are next here.  What is known already is dropped, what comes too early is not taken. */
#ifndef SERVER_TAKING_ORIGIN_H
#define SERVER_TAKING_ORIGIN_H

#include "server/store/reached.h"
#include "server/taking/taking.h"
#include "wire/forwarded.h"

#define ORIGIN_NONE REACHED_NONE

struct origin {
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t next; /* the chunk that is wanted next: those before are in the journal */
    bool ended; /* its programs are gone, and it says so */
    uint32_t *sessions; /* here, by number there; ORIGIN_NONE: it has hung up, or is not believed */
    size_t count, room;
    size_t open; /* of them */
    char *run; /* what its run is called; NULL: how far it is need not be in the journal */
    struct reached_message message; /* where its batches come from */
};

enum origin_took {
    ORIGIN_TOOK, /* it is in the journal, or was */
    ORIGIN_EARLY, /* chunks before it are missing: they come, and then it comes again */
    ORIGIN_FULL, /* there is no room for it now */
    ORIGIN_WRONG, /* it cannot be: *why */
};

struct origin *origin_new(const uint8_t *id);
/* The same, whose marks are put into the journal of that run. */
struct origin *origin_marked(const uint8_t *id, const char *run);
/* One that is gone on with. */
struct origin *origin_resumed(const struct reached *reached);
void origin_free(struct origin *origin);
/* Takes `count` chunks, of which the first has number `first`. */
enum origin_took origin_take(struct origin *origin, struct taking *taking, uint64_t first,
                             uint32_t count, const uint8_t *raw, size_t size, const char **why);
/* A session here that is not believed any more; false: it is not from there. */
bool origin_refuse(struct origin *origin, struct taking *taking, uint32_t session);

#endif
