/* The events of OpenMP. */
#include "clients/libpoet/openmp/omp_events.h"

#include "clients/libpoet/key_mixing.h"

#include <stdatomic.h>

static const char *const names[EVENT_COUNT] = {
#define T(name) #name,
    EVENTS(T)
#undef T
};

poet_type_t event_type(enum omp_event event)
{
    static _Atomic poet_type_t types[EVENT_COUNT];
    static _Atomic bool described;
    poet_type_t type = atomic_load_explicit(&types[event], memory_order_relaxed);
    if (type || !omp_event_key_high())
        return type;
    if (!atomic_exchange(&described, true))
        poet_environment("omp");
    type = poet_type(names[event], NULL);
    atomic_store_explicit(&types[event], type, memory_order_relaxed);
    return type;
}

uint64_t omp_event_key_high(void)
{
    uint64_t identity[2];
    poet_line_t here = poet_current_line();
    if (!here || !poet_identity(here, identity))
        return 0;
    return key_mix(identity[0], 0x706d6f2e74656f70u) | 1;
}

static poet_event_t omp_event_write(poet_record_t r, enum omp_event type)
{
    r.type = event_type(type);
    return r.type ? poet_record(&r) : (poet_event_t){0};
}

bool event_record(enum omp_event type, poet_line_t about, unsigned doubt, const void *site)
{
    return omp_event_write((poet_record_t){.about = about, .flags = doubt, .site = site}, type)
        .line;
}

poet_event_t omp_event_record_sent(enum omp_event type, poet_line_t about, uint64_t low,
                                   const void *site)
{
    return omp_event_write((poet_record_t){.about = about,
                                           .flags = POET_SEND,
                                           .site = site,
                                           .high = omp_event_key_high(),
                                           .low = &low,
                                           .keys = 1},
                           type);
}

bool event_record_send(enum omp_event type, poet_line_t about, uint64_t low, const void *site)
{
    return omp_event_record_sent(type, about, low, site).line;
}

bool event_record_receive(enum omp_event type, poet_line_t about, const uint64_t *low, size_t count,
                          unsigned doubt, const void *site)
{
    bool recorded = count || event_record(type, about, doubt, site);
    for (size_t at = 0; at < count; at += KEYS_MOST)
        recorded = omp_event_write(
                       (poet_record_t){.about = about,
                                       .flags = POET_RECEIVE | doubt,
                                       .site = site,
                                       .high = omp_event_key_high(),
                                       .low = low + at,
                                       .keys = count - at < KEYS_MOST ? count - at : KEYS_MOST},
                       type)
                       .line;
    return recorded;
}

bool event_record_group(enum omp_event type, poet_line_t about, uint64_t low, uint32_t members,
                        unsigned doubt, const void *site)
{
    return omp_event_write((poet_record_t){.about = about,
                                           .flags = POET_MEET | doubt,
                                           .site = site,
                                           .high = omp_event_key_high(),
                                           .low = &low,
                                           .keys = 1,
                                           .count = members},
                           type)
        .line;
}
