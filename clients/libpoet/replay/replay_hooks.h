/* Hooks of a replay in the recorder: all that recording knows of replays, and of schedule control
 * (wire/schedule_control.h). Each is one test unless the run is controlled. They call this
 * directory: apply_event.c compares a record with the schedule of the thread. The interface for
 * interposed calls is thread_schedule.h. */
#ifndef CLIENTS_LIBPOET_REPLAY_REPLAY_HOOKS_H
#define CLIENTS_LIBPOET_REPLAY_REPLAY_HOOKS_H

#include "base/likely.h"
#include "clients/libpoet/core/tracer.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct record;
struct schedule_event;
struct schedule_line;
struct traced_thread;

#define THREAD_SCHEDULE_AHEAD 5u

/* Replay state of a thread. Written by the thread. */
struct thread_schedule {
    struct schedule_line *line; /* NULL: it has none */
    const struct schedule_event *events;
    uint64_t next, count; /* of its events, the first that has not happened */
    uint32_t met; /* which of those from `next` on have happened, as bits */
    bool sought;
    uint32_t before,
        records; /* how many events and records it had made when its schedule was found */
    /* events of the record that is being made */
    const struct schedule_event *now[THREAD_SCHEDULE_AHEAD];
    unsigned now_count;
    /* how much of the recorded input of `given_line` was replayed (replayed_input.c) */
    uint64_t given;
    uint32_t given_line;
};

/* Returns whether the run follows a replay schedule, or has hold points. */
static inline bool replay_is_active(void) { return tracer.replay.is_active; }

void replay_begin(void); /* Reads POET_REPLAY. */
void replay_program_begin(uint64_t message); /* A program begins, by that message of its creator. */

/* Called before a record takes its numbers: waits for the turn of the thread. */
void apply_event_before_record(struct traced_thread *thread, const struct record *record);
static inline void replay_hook_before_record(struct traced_thread *thread,
                                             const struct record *record)
{
    if (UNLIKELY(replay_is_active()))
        apply_event_before_record(thread, record);
}

/* Called afterwards, with the first numbers that the record took on its lines: the lines have
 * reached them. If they differ from the schedule, it is abandoned. */
void apply_event_after_record(struct traced_thread *thread, const struct record *record,
                              uint64_t first_a, uint64_t first_b);
static inline void replay_hook_after_record(struct traced_thread *thread,
                                            const struct record *record, uint64_t first_a,
                                            uint64_t first_b)
{
    if (UNLIKELY(replay_is_active()))
        apply_event_after_record(thread, record, first_a, first_b);
}

/* Called when a thread was named: if it has no schedule yet, since its creation was not recorded,
 * it gets that of the thread with the same final name. */
void schedule_map_thread_named(struct traced_thread *thread, const char *name);
static inline void replay_hook_thread_named(struct traced_thread *thread, const char *name)
{
    if (UNLIKELY(replay_is_active()))
        schedule_map_thread_named(thread, name);
}

/* Returns what the thread is to choose among `of` alternatives: `chosen`, unless its next event
 * chose another one. A choice among another number diverges: the schedule is abandoned. */
uint32_t thread_schedule_next_choose(struct traced_thread *thread, uint32_t of, uint32_t chosen);
static inline uint32_t replay_hook_choose(struct traced_thread *thread, uint32_t of,
                                          uint32_t chosen)
{
    return UNLIKELY(replay_is_active()) ? thread_schedule_next_choose(thread, of, chosen) : chosen;
}

/* Returns whether streams of bytes to other machines are recorded: as in the recorded run; allowed:
 * if there is no schedule. */
static inline bool replay_hook_is_distributed(bool allowed)
{
    return tracer.replay.with_remote || (allowed && !tracer.replay.without_remote);
}

/* Called before the process ends: waits until other threads have made the events that came before
 * the thread's last event, since they may end without being joined. */
void thread_schedule_wait_others(struct traced_thread *thread);
static inline void replay_hook_process_end(struct traced_thread *thread)
{
    if (UNLIKELY(replay_is_active()))
        thread_schedule_wait_others(thread);
}

#pragma GCC visibility pop
#endif
