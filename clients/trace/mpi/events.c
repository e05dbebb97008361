/* The events that MPI calls leave. */
#include "clients/trace/mpi/events.h"

static const char *const names[EVENT_COUNT] = {
#define T(name) #name,
    EVENTS(T)
#undef T
};
static poet_type_t types[EVENT_COUNT];

void events_begin(void)
{
    poet_environment("mpi");
    for (int i = 0; i < EVENT_COUNT; i++)
        types[i] = poet_type(names[i], NULL);
}

poet_event_t note(enum event type, poet_line_t about, const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type], .about = about, .site = site});
}

poet_event_t note_send(enum event type, poet_line_t about, uint64_t high, uint64_t low,
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

poet_event_t note_receive(enum event type, uint64_t high, const uint64_t *low, int count, bool last,
                          const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type],
                                        .flags = POET_RECEIVE,
                                        .site = site,
                                        .high = high,
                                        .low = low,
                                        .keys = (size_t)count,
                                        .count = last});
}

poet_event_t note_meeting(enum event type, uint64_t high, uint64_t low, int members,
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

void note_waits(enum event type) { poet_waits(types[type]); }
void note_goes_on(enum event type) { poet_goes_on(types[type]); }
