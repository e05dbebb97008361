/* Timeout of waiting for the other end of a stream between hosts: no peer reports that no program
 * of the run has it.
 *
 * Agents' chunks normally arrive after a few milliseconds, or some hundred if a queue is long; a
 * lost packet or a restored link delays TCP by a second or a few.  Pending events are not drawn,
 * so a longer timeout would make the user of a live diagram wait. */
#include "server/connections/stream_timeout.h"

#include "server/decode/remote_ends.h"
#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/journal/capture.h"

#define TIMEOUT_NS 5000000000u

/* Writes the timeout to the journal, so that a later reader gets the same order. */
static bool stream_timeout_write_journal(struct server *server, struct run *run, uint64_t stream)
{
    struct encoder out = {0};
    remote_end_encode_alone(&out, stream);
    capture_lock(server->taker);
    bool noted = !out.failed && journal_append(run_journal_capture(run),
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
        if (!run->status.live || !run_journal_capture(run) || run->status.finished ||
            capture_is_ahead(run_journal_capture(run)))
            continue;
        while (order_stream_late(run->order, now, TIMEOUT_NS, &stream) &&
               stream_timeout_write_journal(server, run, stream))
            ;
    }
}
