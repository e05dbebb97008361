/* The events of MPI calls. */
#include "clients/libpoet/mpi/mpi_events.h"

#include <mpi.h>

static const char *const names[EVENT_COUNT] = {
#define T(name) #name,
    EVENTS(T)
#undef T
};
static poet_type_t types[EVENT_COUNT];

void mpi_events_begin(void)
{
    poet_environment("mpi");
    for (int i = 0; i < EVENT_COUNT; i++)
        types[i] = poet_type(names[i], NULL);
}

poet_event_t event_record(enum mpi_event type, poet_line_t about, const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type], .about = about, .site = site});
}

poet_event_t event_record_send(enum mpi_event type, poet_line_t about, uint64_t high, uint64_t low,
                               int receives, const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type],
                                        .about = about,
                                        .flags = POET_SEND,
                                        .site = site,
                                        .high = high,
                                        .low = &low,
                                        .keys = 1,
                                        .count = (uint32_t)receives});
}

poet_event_t event_record_receive(enum mpi_event type, uint64_t high, const uint64_t *low,
                                  int count, bool last, const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type],
                                        .flags = POET_RECEIVE,
                                        .site = site,
                                        .high = high,
                                        .low = low,
                                        .keys = (size_t)count,
                                        .count = last});
}

poet_event_t mpi_event_record_received(enum mpi_event type, poet_line_t about,
                                       const uint64_t key[2], uint32_t asked, int source,
                                       bool together, const void *site)
{
    return poet_record(
        &(poet_record_t){.type = types[type],
                         .about = key ? 0 : about,
                         .flags = (key ? POET_RECEIVE : 0) | (together ? POET_TOGETHER : 0),
                         .site = site,
                         .high = key ? key[0] : 0,
                         .low = key ? &key[1] : NULL,
                         .keys = key ? 1 : 0,
                         .count = key && type == EVENT_receive,
                         .asked = asked,
                         .got = (uint32_t)source});
}

int mpi_event_request_source(enum mpi_event type, int from, uint32_t *asked)
{
    return (int)poet_replay_begin_nondeterministic(from == MPI_ANY_SOURCE ? types[type] : 0, asked,
                                                   (uint32_t)from);
}

int mpi_event_replay_next(enum mpi_event type) { return poet_replay_next_is(types[type], -1); }

uint32_t mpi_event_replay_choice(enum mpi_event type, int *got, bool *together)
{
    uint32_t is = 0;
    int with_next = 0;
    uint32_t asked = poet_replay_result(types[type], &is, &with_next);
    if (asked)
        *got = (int)is;
    *together = with_next;
    return asked;
}

poet_event_t event_record_group(enum mpi_event type, uint64_t high, uint64_t low, int members,
                                const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type],
                                        .flags = POET_MEET,
                                        .site = site,
                                        .high = high,
                                        .low = &low,
                                        .keys = 1,
                                        .count = (uint32_t)members});
}

void mpi_event_wait_begin(enum mpi_event type) { poet_wait_begin(types[type]); }
void mpi_event_wait_end(enum mpi_event type) { poet_wait_done(types[type]); }
