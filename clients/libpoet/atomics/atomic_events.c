/* Implementation of the events of atomic operations. */
#include "clients/libpoet/atomics/atomic_events.h"

#include "clients/libpoet/poet.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

#define LINES_MOST 65536u /* objects with a line; events about others name none */
#define LINE_OPENING UINT32_MAX
#define LOOKS_MOST 1000u

static poet_type_t atomic_event_type(enum atomic_event event)
{
    static const char *const names[] = {[ATOMIC_EVENT_STORE] = "atomic_store",
                                        [ATOMIC_EVENT_UPDATE] = "atomic_update",
                                        [ATOMIC_EVENT_LOAD] = "atomic_load",
                                        [ATOMIC_EVENT_FENCE] = "atomic_fence"};
    static _Atomic poet_type_t types[sizeof names / sizeof *names];
    poet_type_t type = atomic_load_explicit(&types[event], memory_order_relaxed);
    if (type)
        return type;
    type = poet_type(names[event], NULL);
    atomic_store_explicit(&types[event], type, memory_order_relaxed);
    return type;
}

/* Returns the object's line; one thread opens it. 0: it has none. */
static poet_line_t atomic_event_line(struct atomic_object *o, const void *site)
{
    static _Atomic uint32_t opened;
    for (unsigned looks = 0; looks < LOOKS_MOST; looks++) {
        poet_line_t line = atomic_load(&o->line);
        if (line && line != LINE_OPENING)
            return line;
        if (line) {
            sched_yield();
            continue;
        }
        if (atomic_load_explicit(&opened, memory_order_relaxed) >= LINES_MOST)
            return 0;
        if (!atomic_compare_exchange_strong(&o->line, &line, LINE_OPENING))
            continue;
        uint64_t key = atomic_load(&o->key);
        line = poet_line_at("atomic", "", (const void *)(uintptr_t)(key >> 3), 0, site);
        uint32_t opening = LINE_OPENING;
        atomic_compare_exchange_strong(&o->line, &opening, line);
        atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed);
        return line;
    }
    return 0;
}

void atomic_event_record_release(struct atomic_thread *t, struct atomic_object *o,
                                 enum atomic_event type, struct released what, const void *site)
{
    poet_event_t last = t->position.last;
    if (!what.accesses && t->sent_about == o && t->sent.line && t->sent.line == last.line &&
        t->sent.number == last.number)
        return;
    int saved = errno;
    poet_event_t event =
        poet_record(&(poet_record_t){.type = atomic_event_type(type),
                                     .about = what.shared ? atomic_event_line(o, site) : 0,
                                     .flags = POET_SEND | POET_BY_EVENT,
                                     .site = site});
    errno = saved;
    poet_position(&t->position);
    t->sent = event;
    t->sent_about = event.line ? o : NULL;
}

void atomic_event_record_fence(const void *site)
{
    int saved = errno;
    poet_record(&(poet_record_t){.type = atomic_event_type(ATOMIC_EVENT_FENCE), .site = site});
    errno = saved;
}

void atomic_event_record_acquire(struct atomic_thread *t, struct atomic_object *o,
                                 const struct acquired_heads *heads, const void *site)
{
    poet_event_t sends[ATOMIC_HEADS_MOST];
    size_t count = 0;
    int saved = errno;
    poet_record_t record = {.type = atomic_event_type(o ? ATOMIC_EVENT_LOAD : ATOMIC_EVENT_FENCE),
                            .about = o ? atomic_event_line(o, site) : 0,
                            .site = site};
    bool recorded = true;
    for (unsigned i = 0; i < heads->count; i++) {
        const struct release_head *head = &heads->heads[i];
        if (head->line & HEAD_SENDS) {
            sends[count++] = (poet_event_t){head->line & ~HEAD_SENDS, head->number};
            continue;
        }
        record.flags = POET_AFTER;
        record.high = head->line;
        record.low = &head->number;
        record.keys = 1;
        recorded &= poet_record(&record).line != 0;
    }
    if (count) {
        record.flags = POET_RECEIVE | POET_BY_EVENT;
        record.sends = sends;
        record.send_count = count;
        recorded &= poet_record(&record).line != 0;
    }
    for (unsigned i = 0; recorded && i < heads->count; i++)
        atomic_thread_acquired(t, &heads->heads[i]);
    errno = saved;
}
