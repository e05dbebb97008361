#include "clients/source/stands.h"

#include "memory/memory.h"
#include "wire/limits.h"
#include "wire/placed.h"

bool stands_ask(const struct stands *stands, struct ref about, struct out *body)
{
    const struct shown_window *w = stands->window;
    if (stands->at >= w->event_count)
        return false;
    struct stands_request request = {.about = about};
    uint32_t left = w->event_count - stands->at;
    request.count = left < LIMIT_STANDS ? left : LIMIT_STANDS;
    request.positions = memory_zeroed(request.count, sizeof *request.positions);
    for (uint32_t i = 0; i < request.count; i++)
        request.positions[i] = w->events[stands->at + i].position;
    put_stands_request(body, &request);
    stands_request_free(&request);
    return true;
}

void stands_take(struct stands *stands, const struct answer *answer)
{
    struct shown_window *w = stands->window;
    if (answer->part == PART_REFUSAL) /* nothing will be known */
        stands->at = w->event_count;
    if (answer->part != PART_STANDS)
        return;
    uint32_t n = get_count(answer->in, 1);
    if (!n || n > w->event_count - stands->at)
        in_fail(answer->in, "tells of other events than were asked about");
    for (uint32_t i = 0; i < n && !answer->in->error; i++)
        w->events[stands->at++].stands = get_u8(answer->in);
}
