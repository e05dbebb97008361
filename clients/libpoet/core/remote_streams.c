/* Byte streams between machines: their ends, and bytes that no event wrote. */
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/program_messages.h"

#include <errno.h>

_Static_assert(POET_STREAM_CLOSINGS == STREAM_CLOSINGS, "as programs and servers count them");

/* In a replayed run: as recorded. */
int poet_is_distributed(void)
{
    return replay_with_remote || (server_allows_remote && !replay_without_remote);
}

static int remote_stream_send(struct traced_thread *t, unsigned type, const struct encoder *body)
{
    int saved = errno;
    bool sent = !body->failed && message_queue_send(t, type, body);
    errno = saved;
    return sent;
}

int poet_stream_end(uint64_t stream, poet_stream_end_t end, const poet_place_t *here,
                    const poet_place_t *there)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[64];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    encode_remote_stream(&body, &(struct remote_stream_message){.stream = stream,
                                                                .writes = (uint8_t)end,
                                                                .here_high = here->high,
                                                                .here_low = here->low,
                                                                .here_port = here->port,
                                                                .there_high = there->high,
                                                                .there_low = there->low,
                                                                .there_port = there->port});
    return t && remote_stream_send(t, MESSAGE_REMOTE_STREAM, &body);
}

int poet_stream_gap(uint64_t stream, uint64_t first, uint64_t end, int doubt)
{
    struct traced_thread *t = thread_recording();
    uint8_t bytes[32];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    encode_stream_gap(&body, &(struct stream_gap_message){stream, first, end,
                                                          doubt ? UNTRACED_STREAM : UNTRACED_NONE});
    return t && remote_stream_send(t, MESSAGE_STREAM_GAP, &body);
}
