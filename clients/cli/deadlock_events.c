#include "clients/cli/deadlock_events.h"

#include "clients/connection/wait_list.h"

static void deadlock_events_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(user, answer);
}

bool deadlock_events_get(const struct command *command, struct command_source *subject,
                         struct event_id **pairs, uint32_t *count)
{
    struct wait_list waits = {0};
    bool ok = command_source_request(command, subject, REQUEST_WAITS, NULL,
                                     deadlock_events_receive_waits, &waits);
    if (ok)
        *pairs = wait_list_pairs(&waits, count);
    wait_list_free(&waits);
    return ok;
}
