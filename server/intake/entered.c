/* When calls of threads began and ended, as a session is told of it. */
#include "server/intake/announce.h"

bool session_entries(struct session *session, uint32_t code, const uint8_t *body, size_t size,
                     const char **error)
{
    session->run->entries.events = order_count(session->run->order);
    bool good = entries_take(&session->run->entries, session->number, code, body, size, error);
    session->run->generation++;
    return good;
}
