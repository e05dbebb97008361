#include "server/decode/conflict_records.h"

#include "server/decode/declarations.h"
#include "server/run/conflicts.h"
#include "wire/program_messages.h"

uint32_t conflict_records_missing_line(const struct program_session *session, struct decoder in)
{
    struct conflict_message m;
    bool good = decode_conflict(&in, &m); /* a bad one is refused later */
    const uint32_t codes[] = {m.last,       m.thread,    m.then_last,       m.lock,
                              m.outer_lock, m.then_lock, m.then_outer_lock, m.owner};
    for (size_t i = 0; good && i < sizeof codes / sizeof *codes; i++)
        if (codes[i] && !program_session_line(session, codes[i]))
            return codes[i];
    return 0;
}

bool conflict_records_decode(struct program_session *session, struct decoder *in, uint32_t thread)
{
    struct conflict_message m;
    if (!decode_conflict(in, &m))
        return false;
    if ((m.flags | m.then_flags) & ~ACCESS_FLAGS || m.memory >= MEMORY_KINDS || !m.bytes ||
        !((m.flags | m.then_flags) & ACCESS_WRITE)) {
        decoder_fail(in, "invalid accesses of memory");
        return false;
    }
#define LINE(code) program_session_line(session, code)
    struct conflict c = {.process = session->process,
                         .accesses = {{.thread = LINE(m.thread),
                                       .after = {LINE(m.last), m.number},
                                       .address = m.site,
                                       .flags = m.flags,
                                       .locks = {LINE(m.lock), LINE(m.outer_lock)}},
                                      {.thread = LINE(thread),
                                       .after = {LINE(m.then_last), m.then_number},
                                       .address = m.then_site,
                                       .flags = m.then_flags,
                                       .locks = {LINE(m.then_lock), LINE(m.then_outer_lock)}}},
                         .address = m.address,
                         .bytes = m.bytes,
                         .memory = m.memory,
                         .owner = LINE(m.owner),
                         .block = m.block,
                         .block_bytes = m.block_bytes,
                         .block_site = m.block_site,
                         .callers = {m.caller_1, m.caller_2, m.caller_3, m.caller_4}};
#undef LINE
    for (int i = 0; i < 2; i++)
        if (!c.accesses[i].thread || !c.accesses[i].after.line)
            decoder_fail(in, "a thread that was not announced accesses memory");
    if (!in->error)
        conflicts_add(session->run, &c);
    return !in->error;
}

bool conflict_records_decode_unexamined(struct program_session *session, struct decoder *in)
{
    struct unexamined_message message;
    if (!decode_unexamined(in, &message))
        return false;
    if (message.why >= UNEXAMINED_KINDS)
        decoder_fail(in, "unknown reason");
    else
        conflicts_note_unexamined(session->run, session->process, message.why, message.count);
    return !in->error;
}
