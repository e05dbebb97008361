/* Decodes the kernel's context switches of a program's threads for a session. */
#include "server/decode/declarations.h"
#include "server/run/cpu_placement.h"
#include "wire/context_switches.h"

#include <limits.h>
#include <stdlib.h>

static void read_one(const struct program_session *session, struct decoder *in,
                     struct decoder *cpus, uint64_t *at_ns)
{
    uint64_t code = decode_varint(in), rest = decode_varint(in);
    uint64_t cpu = decode_varint(cpus);
    uint32_t line = code <= UINT32_MAX ? program_session_line(session, (uint32_t)code) : 0;
    *at_ns += rest >> 2;
    if (line && !in->error)
        cpu_placement_switched(session->run, line, rest & 3,
                               cpu && cpu <= UINT16_MAX ? (unsigned)cpu - 1 : UINT_MAX,
                               (int64_t)(*at_ns - session->run->clock.start_ns));
}

/* What follows the switches: why there are none, and the processors of each. */
struct switch_backlog {
    char *why; /* the caller's to free */
    struct decoder cpus;
};

static struct switch_backlog read_behind(struct decoder in, uint32_t count, const char **error)
{
    for (uint32_t i = 0; i < 2 * count; i++)
        decode_varint(&in);
    struct switch_backlog behind = {.why = decode_string(&in, LIMIT_TEXT_BYTES), .cpus = in};
    for (uint32_t i = 0; i < count; i++)
        decode_varint(&in);
    decoder_finish(&in);
    *error = in.error;
    return behind;
}

bool program_session_decode_switches(struct program_session *session, const uint8_t *body,
                                     size_t size, const char **error)
{
    struct decoder in = decoder_init(body, size);
    uint64_t lost = decode_u64(&in), at_ns = decode_u64(&in);
    uint32_t count = decode_count(&in, CONTEXT_SWITCH_RECORD_BYTES);
    if (session->stale)
        return true; /* it is known */
    *error = in.error;
    struct switch_backlog behind = {.why = NULL};
    if (!in.error)
        behind = read_behind(in, count, error);
    bool good = !*error;
    if (good && lost)
        cpu_placement_lost(session->run, lost);
    for (uint32_t i = 0; i < count && good; i++)
        read_one(session, &in, &behind.cpus, &at_ns);
    if (good && *behind.why)
        cpu_placement_unavailable(session->run, behind.why);
    free(behind.why);
    if (good)
        run_fact(session->run, (struct chunk){.kind = CHUNK_SWITCHES,
                                              .session = session->number,
                                              .data = body,
                                              .size = (uint32_t)size});
    return good;
}
