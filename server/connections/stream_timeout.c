/* How long a server waits for the other end of a stream between machines: that nobody of the run
 * has it is not told by anybody.
 *
 * What agents tell is here a few milliseconds later where all is well, and some hundred where a
 * queue is long; a lost packet or a link that comes back costs TCP a second or a few.  Who waits
 * meanwhile is not drawn: somebody who looks on should not have to wait longer. */
#include "server/connections/stream_timeout.h"

#include "server/decode/remote_ends.h"
#include "server/connections/event_server.h"
#include "server/journal/capture.h"

#define PATIENCE_NS 5000000000u

/* It is noted in the journal, so that whoever reads that gets the same order. */
static bool stream_timeout_write_journal(struct server *server, struct run *run, uint64_t stream)
{
    struct encoder out = {0};
    remote_end_encode_alone(&out, stream);
    capture_lock(server->taker);
    bool noted = !out.failed && journal_append(run->taking,
                                               &(struct chunk){.kind = CHUNK_ALONE,
                                                               .data = out.data,
                                                               .size = (uint32_t)out.size},
                                               1, false);
    capture_unlock(server->taker);
    server->behind |= noted;
    encoder_free(&out);
    return noted;
}

void stream_timeout_check(struct server *server)
{
    uint64_t now = loop_clock_ns(), stream;
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (!run->live || !run->taking || run->finished || capture_is_ahead(run->taking))
            continue;
        while (order_stream_late(run->order, now, PATIENCE_NS, &stream) &&
               stream_timeout_write_journal(server, run, stream))
            ;
    }
}
