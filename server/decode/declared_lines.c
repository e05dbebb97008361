/* Lines that a program declared, by its codes for them; and the state of its threads, each by the
 * code of its own line. */
#include "server/decode/declarations.h"

#include "base/alloc.h"
#include "server/run/cpu_placement.h"
#include "server/timing/placements.h"
#include "wire/program_messages.h"
#include "wire/text.h"

#include <stdlib.h>

/* ---- threads ---- */

static bool thread_has_ended(const struct program_session *session, uint32_t thread)
{
    uint32_t line = program_session_line(session, thread);
    return line && order_line_closed(session->run->order, line);
}

struct thread_state *thread_state_for(struct program_session *session, uint32_t thread)
{
    struct thread_state *state = map_get(&session->threads, thread, 0);
    if (!state) {
        state = xcalloc(1, sizeof *state);
        state->thread = thread;
        if (thread_has_ended(
                session, thread)) { /* and was forgotten: what it still does comes after its end */
            uint32_t line = program_session_line(session, thread);
            state->last[0] = (struct event_id){line, order_line_highest(session->run->order, line)};
        }
        map_put(&session->threads, thread, 0, state);
    }
    return state;
}

void program_session_forget_ended(struct program_session *session)
{
    uint32_t *ended = xmalloc((session->threads.count + 1) * sizeof *ended);
    size_t count = 0;
    for (struct map_walk walk = {.map = &session->threads}; map_next(&walk);) {
        const struct thread_state *state = walk.value;
        if (!state->held_count && !state->ready && !state->doubt &&
            thread_has_ended(session, state->thread))
            ended[count++] = state->thread;
    }
    while (count) {
        struct thread_state *state = map_remove(&session->threads, ended[--count], 0);
        free(state->held);
        free(state);
    }
    free(ended);
}

void thread_states_notify(struct program_session *session, enum declaration_kind what,
                          uint32_t code)
{
    for (struct thread_state *state = map_remove(&session->waiting, what, code), *next; state;
         state = next) {
        next = state->next;
        state->next = NULL;
        state->ready = true;
        session->ready_count++;
    }
}

/* ---- codes ---- */

uint32_t program_session_line(const struct program_session *session, uint32_t code)
{
    if (code < session->line_room && session->lines[code])
        return session->lines[code];
    return code < NEAR_LINES ? 0 : (uint32_t)(uintptr_t)map_get(&session->sparse_lines, code, 0);
}

bool program_session_is_foreign(const struct program_session *session, uint32_t code)
{
    uintptr_t place = session->high_count ? (uintptr_t)map_get(&session->foreign, code, 0) : 0;
    return place && line_identity_has_changed(&session->run->identities, session->highs[place - 1],
                                              session->number);
}

static bool declared_line_is_own(const struct program_session *session, uint64_t high)
{
    return high == session->instance &&
           !line_identity_has_changed(&session->run->identities, high, session->number);
}

/* Its owner may be known later. */
static void declared_line_note_foreign(struct program_session *session,
                                       const struct line_message *message)
{
    if (declared_line_is_own(session, message->high))
        return;
    session->highs = array_reserve(session->highs, &session->high_room, session->high_count + 1,
                                   sizeof *session->highs);
    session->highs[session->high_count++] = message->high;
    map_put(&session->foreign, message->code, 0, (void *)(uintptr_t)session->high_count);
}

static void declared_line_set(struct program_session *session, uint32_t code, uint32_t line)
{
    thread_states_notify(session, DECLARED_LINE, code);
    /* codes are declared in any order, but without large gaps */
    if (code >= NEAR_LINES + 2 * session->own_line_count) {
        map_put(&session->sparse_lines, code, 0, (void *)(uintptr_t)line);
        return;
    }
    session->lines =
        array_reserve_zeroed(session->lines, &session->line_room, code + 1, sizeof *session->lines);
    session->lines[code] = line;
}

/* ---- losses ---- */

#define EARLY_MOST 4096u /* beyond it they are only counted */

/* Of a line that is not known yet; a disk that is full may never take it. */
static void declared_line_lose_early(struct program_session *session, struct early_loss loss)
{
    if (session->early_count == EARLY_MOST)
        return;
    session->early = array_reserve(session->early, &session->early_room, session->early_count + 1,
                                   sizeof *session->early);
    session->early[session->early_count++] = loss;
}

static void declared_line_lose_declared(struct program_session *session, uint32_t code)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->early_count; i++) {
        struct early_loss loss = session->early[i];
        if (loss.code == code && program_session_is_foreign(session, code))
            continue;
        if (loss.code == code)
            order_note_loss(session->run->order, program_session_line(session, code), loss.first,
                            loss.count);
        else
            session->early[kept++] = loss;
    }
    session->early_count = kept;
}

/* Of a thread that lost records the next one comes after those, and after whatever those came
 * after. */
bool declared_line_read_lost(struct program_session *session, struct decoder *in, uint32_t thread)
{
    struct lost_message message;
    if (!decode_lost(in, &message))
        return false;
    if (thread)
        thread_state_for(session, thread)->doubt = UNTRACED_LOST;
    uint32_t line = program_session_line(session, message.line);
    if (line && program_session_is_foreign(session, message.line))
        return true; /* that one says itself what it lost */
    if (line)
        order_note_loss(session->run->order, line, message.first, message.count);
    else
        declared_line_lose_early(session,
                                 (struct early_loss){message.line, message.first, message.count});
    return true;
}

/* ---- context switches ---- */

#define EARLY_SWITCHES_MOST 65536u /* of a session; the others count as lost */

void declared_line_switch(struct program_session *session, const struct early_switch *one)
{
    uint32_t line = program_session_line(session, one->code);
    if (line) {
        cpu_placement_switched(session->run, line, one->kind, one->cpu, one->at_ns);
    } else if (session->switch_count == EARLY_SWITCHES_MOST) {
        cpu_placement_lost(session->run, 1);
    } else {
        session->switches = array_reserve(session->switches, &session->switch_room,
                                          session->switch_count + 1, sizeof *session->switches);
        session->switches[session->switch_count++] = *one;
    }
}

static void declared_line_take_switches(struct program_session *session, uint32_t code,
                                        uint32_t line)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->switch_count; i++) {
        struct early_switch one = session->switches[i];
        if (one.code == code)
            cpu_placement_switched(session->run, line, one.kind, one.cpu, one.at_ns);
        else
            session->switches[kept++] = one;
    }
    session->switch_count = kept;
}

/* ---- lines ---- */

static void declared_line_own(struct program_session *session, const struct line_message *message,
                              uint32_t line, uint32_t thread)
{
    declared_line_set(session, message->code, line);
    session->own_lines = array_reserve(session->own_lines, &session->own_line_room,
                                       session->own_line_count + 1, sizeof *session->own_lines);
    session->own_lines[session->own_line_count++] = line;
    if (run_line_at(session->run, line)->programs++ == 0)
        order_resume_input(session->run->order, line);
    struct event_id by = thread_state_for(session, thread)->last[0];
    if ((message->flags & LINE_FOLLOWS) && by.line)
        order_opened_by(session->run->order, line, by);
    declared_line_lose_declared(session, message->code);
    declared_line_take_switches(session, message->code, line);
    if (cpu_placement_states(session->run)) /* it may have been on a carrier before */
        placements_set_task_line(cpu_placement_tasks(session->run), session->number, message->code,
                                 line);
}

static void declared_line_open(struct program_session *session, const struct line_message *message,
                               struct decoder *in, uint32_t thread)
{
    struct run_line line = {.process = session->process,
                            .object = message->object,
                            .entry = message->entry,
                            .name = text_name(message->name)};
    char *kind = text_name(message->kind);
    bool known = line_identity_get(&session->run->identities, message->high, message->low) != 0;
    uint32_t number = 0;
    if (run_kind(session->run, kind) == 0)
        decoder_fail(in, "too many line types");
    else if (!(number = run_line(session->run, message->high, message->low, kind,
                                 message->flags & LINE_SHARED, line)))
        decoder_fail(in, "too many lines");
    else if (known && declared_line_is_own(session, message->high))
        run_line_is(session->run, number, kind, message->flags & LINE_SHARED, line);
    free(kind);
    free(line.name);
    if (!number)
        return;
    unsigned reach = message->flags & LINE_MEMORY;
    bool several = reach && run_line_at(session->run, number)->process != session->process;
    run_lines_add_reach(&session->run->lines, number, reach | (several ? REACH_BY_SEVERAL : 0u));
    declared_line_note_foreign(session, message);
    declared_line_own(session, message, number, thread);
}

bool declared_line_read(struct program_session *session, struct decoder *in, uint32_t thread)
{
    struct line_message message;
    if (!decode_line(in, &message))
        return false;
    bool known = program_session_line(session, message.code) != 0;
    if (message.code == 0 || !message.kind.size)
        decoder_fail(in, "a line has no code or no kind");
    else if (known && session->run->status.live)
        decoder_fail(in, "duplicate line"); /* in a file: by what its state keeps, too */
    else if (!known)
        declared_line_open(session, &message, in, thread);
    else
        declared_line_note_foreign(session, &message);
    return !in->error;
}
