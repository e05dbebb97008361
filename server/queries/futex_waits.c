#include "server/queries/futex_waits.h"

#include "server/queries/event_answer.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/wait_holders.h"
#include "server/run/cpu_placement.h"
#include "server/timing/cpu_states.h"
#include "wire/os_usage.h"

/* Describes a sleep at a futex, or in a call such as poll. */
static const struct target_event look_of_futex = {.name = (char[]){""}, .waits = true};

/* Returns the line of the latest object at an address of a process; 0: none. */
static uint32_t futex_wait_object_at(const struct run *run, uint32_t process, uint64_t address)
{
    for (uint32_t line = order_line_count(run->order); line; line--) {
        if (order_line_closed(run->order, line))
            continue;
        const struct run_line *facts = run_line_at(run, line);
        if (facts->object == address && facts->process == process)
            return line;
    }
    return 0;
}

/* Returns whether a thread runs the initializer of a once flag. */
static bool futex_wait_is_entered(const struct run *run, uint32_t line)
{
    enum occupancy presence;
    uint32_t thread;
    uint64_t since;
    for (size_t i = 0; order_line_inside(run->order, line, i, &thread, &presence, &since); i++)
        if (presence != OCCUPANCY_BLOCKED)
            return true;
    return false;
}

/* Returns the lock that begins with the word, if another thread than the waiter is in it; 0: none.
 * Locks in a library that is being loaded, for example, are not traced. */
static uint32_t futex_wait_lock(const struct run *run, uint32_t waiter, uint64_t word)
{
    uint32_t line = futex_wait_object_at(run, run_line_at(run, waiter)->process, word), thread;
    const struct target_line_type *kind =
        line ? run_line_type(run, order_line_kind(run->order, line)) : NULL;
    enum occupancy presence;
    uint64_t since;
    if (!kind || kind->category != CATEGORY_LOCK)
        return 0;
    for (size_t i = 0; order_line_inside(run->order, line, i, &thread, &presence, &since); i++)
        if (thread != waiter)
            return line;
    return 0;
}

bool futex_wait_find(const struct run *run, const struct wait_graph_sleeper *asleep,
                     struct waiter *waiter)
{
    const struct cpu_states *states = cpu_placement_states(run);
    unsigned call = SLEEP_VALUE_CALL(asleep->call);
    if ((call == SLEEP_IN_POLL || call == SLEEP_IN_SELECT || call == SLEEP_IN_EPOLL) &&
        cpu_states_futex(states, asleep->thread, USAGE_POLLS_OWN)) {
        waiter->look = &look_of_futex;
        waiter->polls = true;
        waiter->time_ns = asleep->since_ns;
        return true;
    }
    if (call != SLEEP_IN_FUTEX || !SLEEP_VALUE_WORD(asleep->call))
        return false;
    waiter->about = futex_wait_lock(run, asleep->thread, SLEEP_VALUE_WORD(asleep->call));
    if (waiter->about) {
        waiter->look = &look_of_futex;
        waiter->futex = waiter->lock = true;
        waiter->time_ns = asleep->since_ns;
        return true;
    }
    if (!cpu_states_futex(states, asleep->thread, USAGE_FUTEX_SITE))
        return false;
    uint64_t once = cpu_states_futex(states, asleep->thread, USAGE_FUTEX_ONCE);
    uint32_t process = run_line_at(run, asleep->thread)->process,
             line = once ? futex_wait_object_at(run, process, once) : 0;
    waiter->about = line && futex_wait_is_entered(run, line) ? line : 0;
    waiter->look = &look_of_futex;
    waiter->futex = true;
    waiter->reach = (unsigned)cpu_states_futex(states, asleep->thread, USAGE_FUTEX_REACH);
    waiter->time_ns = asleep->since_ns;
    return true;
}

static void futex_wait_set_outcome(const struct wait_graph *graph, struct sleeper_info *sleeper)
{
    uint32_t waiter = graph->waiter_of[sleeper->thread - 1];
    const struct waiter *w = waiter ? &graph->waiters[waiter - 1] : NULL;
    const struct wait_graph_object *object = w ? &graph->objects[w->object] : NULL;
    sleeper->fate = w ? w->fate : OUTCOME_OPEN;
    if (!object || !w->about || object->count != 1)
        return;
    sleeper->holder = graph->holders[object->first];
    if (!w->lock)
        sleeper->holder.how = HOLD_TASK;
    wait_holder_set_site(graph->run, &sleeper->holder);
}

void futex_wait_put_sleeper(const struct wait_graph *graph, const struct wait_graph_sleeper *asleep,
                            struct response *reply)
{
    const struct run *run = graph->run;
    const struct cpu_states *states = cpu_placement_states(run);
    uint64_t position = order_thread_last(run->order, asleep->thread);
    unsigned call = SLEEP_VALUE_CALL(asleep->call);
    struct sleeper_info sleeper = {.thread = asleep->thread,
                                   .since_ns = asleep->since_ns,
                                   .call = (uint8_t)call,
                                   .word = SLEEP_VALUE_WORD(asleep->call)};
    if (position == NO_POSITION || position < order_first(run->order))
        return;
    referenced_lines_note(asleep->thread);
    sleeper.event = event_answer_info(run, position);
    referenced_lines_note(sleeper.event.at.line);
    if (call == SLEEP_IN_FUTEX || call == SLEEP_IN_TIMED_FUTEX) {
        sleeper.site = cpu_states_futex(states, asleep->thread, USAGE_FUTEX_SITE);
        sleeper.library = cpu_states_futex(states, asleep->thread, USAGE_FUTEX_LIBRARY);
    }
    if (sleeper.site)
        sleeper.event.process = run_line_at(run, asleep->thread)->process;
    futex_wait_set_outcome(graph, &sleeper);
    response_chunk_begin(reply, RESPONSE_SLEEPER);
    encode_sleeper(reply->out, &sleeper);
    response_chunk_end(reply);
    event_answer_free(&sleeper.event);
}

void futex_wait_set_outsider(const struct run *run, const struct waiter *w, struct wait_info *wait)
{
    const struct cpu_states *states = cpu_placement_states(run);
    const struct target_line_type *kind =
        w->about && w->about <= order_line_count(run->order)
            ? run_line_type(run, order_line_kind(run->order, w->about))
            : NULL;
    int64_t end_ns = run->programs.connected ? 0 : run->clock.ended_ns;
    if (!kind || !kind->everywhere ||
        cpu_states_seen_asleep_ns(states, w->thread, end_ns) < w->time_ns)
        return;
    wait->outsider = (uint32_t)cpu_states_futex(states, w->thread, USAGE_END_HOLDER);
    wait->outsider_name = cpu_states_futex(states, w->thread, USAGE_END_NAME);
    wait->outsider_rest = cpu_states_futex(states, w->thread, USAGE_END_NAME_REST);
}
