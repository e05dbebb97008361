/* Decodes the begins and ends of threads' calls for a session. */
#include "server/decode/declarations.h"

bool program_session_decode_calls(struct program_session *session, uint32_t code,
                                  const uint8_t *body, size_t size, const char **error)
{
    session->run->entries.events = order_count(session->run->order);
    bool good =
        call_entries_append(&session->run->entries, session->number, code, body, size, error);
    session->run->generation++;
    return good;
}
