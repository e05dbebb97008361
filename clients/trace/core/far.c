/* Streams of bytes that go from one machine to another: whose ends they are, and which of their bytes no event wrote. */
#include "clients/trace/core/link.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/poet.h"
#include "clients/trace/replay/part.h"
#include "wire/event.h"
#include "wire/told.h"

#include <errno.h>

_Static_assert(POET_STREAM_CLOSINGS == STREAM_CLOSINGS, "as programs and servers count them");

/* In a run that is repeated: as it was. */
int poet_far(void) { return replays_far || (server_far && !replays_near); }

static int tell(struct thread *t, unsigned type, const struct out *body)
{
    int saved = errno;
    bool told = !body->failed && tell_control(t, type, body);
    errno = saved;
    return told;
}

int poet_stream_end(uint64_t stream, poet_stream_end_t end, const poet_place_t *here,
                    const poet_place_t *there)
{
    struct thread *t = thread_recording();
    uint8_t bytes[64];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_told_far(&body, &(struct told_far){.stream = stream,
                                           .writes = (uint8_t)end,
                                           .here_high = here->high,
                                           .here_low = here->low,
                                           .here_port = here->port,
                                           .there_high = there->high,
                                           .there_low = there->low,
                                           .there_port = there->port});
    return t && tell(t, MESSAGE_FAR, &body);
}

int poet_stream_hole(uint64_t stream, uint64_t first, uint64_t end, int doubt)
{
    struct thread *t = thread_recording();
    uint8_t bytes[32];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_told_hole(&body,
                  &(struct told_hole){stream, first, end, doubt ? UNSEEN_STREAM : UNSEEN_NONE});
    return t && tell(t, MESSAGE_HOLE, &body);
}
