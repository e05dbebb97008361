/* What runtimes ask of a replay, about the calling thread: poet_replay_next_is() and the functions
 * that follow it in poet.h. */
#define _GNU_SOURCE
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the calling thread; NULL if it must not record, or the run is not controlled. */
static struct traced_thread *replay_query_thread(void)
{
    return replay_is_active() ? thread_recording() : NULL;
}

int poet_replay_next_is(poet_type_t type, int fallback)
{
    struct traced_thread *t = replay_query_thread();
    return thread_schedule_active(t) ? thread_schedule_next_is(t, type) : fallback;
}

int poet_replay_peek(poet_type_t type, uint64_t key, unsigned ahead)
{
    struct traced_thread *t = replay_query_thread();
    if (!thread_schedule_active(t) || thread_schedule_is_over(t))
        return -1;
    return (int)thread_schedule_next_is_about(t, type, key, ahead);
}

int poet_replay_peek_after(poet_type_t type)
{
    struct traced_thread *t = replay_query_thread();
    return t && thread_schedule_next_is_about(t, type, 0, 0) ? thread_schedule_next_has_cause(t)
                                                             : -1;
}

int poet_replay_peek_sender(poet_type_t type, poet_event_t *send)
{
    struct traced_thread *t = replay_query_thread();
    int saved = errno;
    if (!t || !thread_schedule_is_enabled())
        return -1;
    struct event_id from = thread_schedule_await_send(t, type);
    *send = (poet_event_t){from.line, from.number};
    errno = saved;
    return thread_schedule_is_enabled() ? from.line != 0 : -1;
}

void poet_replay_commit_sender(poet_type_t type, poet_event_t send)
{
    struct traced_thread *t = replay_query_thread();
    if (thread_schedule_active(t))
        thread_schedule_commit_receive(t, type, (struct event_id){send.line, send.number});
}

unsigned poet_replay_timeout_ms(void)
{
    struct traced_thread *t = replay_query_thread();
    return t && thread_schedule_is_enabled() ? thread_schedule_timeout_ms(t) : 0;
}

void poet_replay_commit(poet_type_t type, uint64_t key)
{
    struct traced_thread *t = replay_query_thread();
    if (thread_schedule_active(t))
        thread_schedule_commit(t, type, key);
}

int poet_replay_is_turn(poet_line_t index, poet_type_t type)
{
    struct traced_thread *t = replay_query_thread();
    const struct trace_line *line = t ? trace_line_by_code(t, index) : NULL;
    return !line || !thread_schedule_active(t) || thread_schedule_is_turn(t, line, type);
}

void poet_replay_wait_turn(poet_line_t index, poet_type_t type)
{
    struct traced_thread *t = replay_query_thread();
    const struct trace_line *line = t ? trace_line_by_code(t, index) : NULL;
    if (!line || !thread_schedule_active(t))
        return;
    int saved = errno;
    if (thread_schedule_is_over(t))
        thread_schedule_wait_rest(t, thread_schedule_line(t, line));
    else
        thread_schedule_wait(t, type);
    errno = saved;
}

uint32_t poet_replay_begin_nondeterministic(poet_type_t type, uint32_t *asked, uint32_t fallback)
{
    struct traced_thread *t = thread_recording();
    *asked = t ? ++t->choices_begun : 0;
    return t && replay_is_active() && type
               ? thread_schedule_choice_result(t, type, *asked, fallback)
               : fallback;
}

uint32_t poet_replay_result(poet_type_t type, uint32_t *got, int *together)
{
    struct traced_thread *t = replay_query_thread();
    bool with_next = false;
    uint32_t asked = t ? thread_schedule_next_choice(t, type, got, &with_next) : 0;
    if (together)
        *together = with_next;
    return asked;
}
