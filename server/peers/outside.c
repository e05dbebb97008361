#include "server/peers/outside.h"

#include "server/peers/server.h"
#include "server/run/metered.h"
#include "server/taking/taking.h"
#include "wire/text.h"
#include "wire/told.h"

#include <stdlib.h>
#include <time.h>

static bool journal(const struct peer *peer, enum message kind, const struct out *body)
{
    taker_enter(peer->server->taker);
    bool fits = journal_put(peer->run->taking,
                            &(struct chunk){.kind = (uint16_t)kind,
                                            .session = METERED_NOBODY,
                                            .data = body->data,
                                            .size = (uint32_t)body->size},
                            1, false);
    taker_leave(peer->server->taker);
    return fits;
}

/* How many there are already. */
static uint32_t count(const struct run *run)
{
    uint32_t n = 0;
    for (size_t i = 0; i < metered_names(run); i++)
        n += metered_name_at(run, i)->session == METERED_NOBODY;
    return n;
}

/* Named at once, so that the next one finds it, and in the journal; 0: there are too many, or there is no room. */
static uint32_t code_of(const struct peer *peer, char *name, char *unit)
{
    uint32_t code = metered_code(peer->run, name);
    if (code || count(peer->run) >= METER_SAMPLED_MOST)
        return code;
    struct metered_name told = {.session = METERED_NOBODY,
                                .code = METER_SAMPLED_CODES + count(peer->run),
                                .kind = METER_SAMPLED,
                                .name = name,
                                .unit = unit};
    struct out body = {0};
    put_told_meter(&body, &(struct told_meter){told.code, told.kind, text_of(name), text_of(unit)});
    bool fits = !body.failed && journal(peer, MESSAGE_METER, &body);
    out_free(&body);
    if (fits)
        metered_tell(peer->run, &told);
    return fits ? told.code : 0;
}

static void tell(const struct peer *peer, uint32_t code, int64_t value)
{
    struct timespec now;
    struct out body = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    put_u64(&body, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    put_u32(&body, 1);
    put_u32(&body, code);
    put_u64(&body, (uint64_t)value);
    if (!body.failed)
        journal(peer, MESSAGE_CELLS, &body);
    out_free(&body);
}

void outside_number(struct peer *peer, struct in *in)
{
    char *name = get_name(in, TOLD_LABEL_BYTES - 1), *unit = get_name(in, TOLD_LABEL_BYTES - 1);
    int64_t value = (int64_t)get_u64(in);
    if (in_done(in) && *name && peer->run && peer->run->live && peer->run->taking &&
        peer->run->connected) {
        uint32_t code = code_of(peer, name, unit);
        if (code)
            tell(peer, code, value);
    }
    free(name);
    free(unit);
}
