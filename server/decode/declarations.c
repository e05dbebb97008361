/* Messages that teach a session what later ones rely on. */
#define _GNU_SOURCE
#include "server/decode/declarations.h"

#include "server/decode/remote_ends.h"
#include "server/decode/heap_records.h"
#include "server/decode/metric_records.h"
#include "server/decode/usage_records.h"
#include "server/run/awaits.h"
#include "server/run/inherited_holds.h"
#include "server/run/input_store.h"
#include "server/run/cpu_placement.h"
#include "server/timing/placements.h"
#include "wire/task_placement.h"
#include "wire/text.h"
#include "wire/program_messages.h"

#include "server/run/untraced_reasons.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static bool has_ended(const struct program_session *session, uint32_t thread)
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
        if (has_ended(session,
                      thread)) { /* and was forgotten: what it still does comes after its end */
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
            has_ended(session, state->thread))
            ended[count++] = state->thread;
    }
    while (count) {
        struct thread_state *state = map_remove(&session->threads, ended[--count], 0);
        free(state->held);
        free(state);
    }
    free(ended);
}

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

static bool is_own(const struct program_session *session, uint64_t high)
{
    return high == session->instance &&
           !line_identity_has_changed(&session->run->identities, high, session->number);
}

/* Whose it is may be known later. */
static void note_foreign(struct program_session *session, const struct line_message *message)
{
    if (is_own(session, message->high))
        return;
    session->highs = array_reserve(session->highs, &session->high_room, session->high_count + 1,
                                   sizeof *session->highs);
    session->highs[session->high_count++] = message->high;
    map_put(&session->foreign, message->code, 0, (void *)(uintptr_t)session->high_count);
}

void declarations_notify(struct program_session *session, enum declaration_kind what, uint32_t code)
{
    for (struct thread_state *state = map_remove(&session->waiting, what, code), *next; state;
         state = next) {
        next = state->next;
        state->next = NULL;
        state->ready = true;
        session->ready_count++;
    }
}

static void set_line(struct program_session *session, uint32_t code, uint32_t line)
{
    declarations_notify(session, DECLARED_LINE, code);
    /* codes are declared in any order, but without large gaps */
    if (code >= NEAR_LINES + 2 * session->own_line_count) {
        map_put(&session->sparse_lines, code, 0, (void *)(uintptr_t)line);
        return;
    }
    session->lines =
        array_reserve_zeroed(session->lines, &session->line_room, code + 1, sizeof *session->lines);
    session->lines[code] = line;
}

static bool read_type(struct program_session *session, struct decoder *in)
{
    struct type_message message;
    if (!decode_type(in, &message))
        return false;
    char *name = text_name(message.name);
    uint32_t type = session->types[message.code] = run_type(session->run, name);
    free(name);
    for (unsigned i = 0; i < message.after_count && !in->error; i++) {
        uint16_t earlier = message.after[i];
        if (earlier >= LIMIT_TYPES || !session->types[earlier])
            decoder_fail(in, "a type comes after one that was not announced");
        else if (!order_after(session->run->order, type, session->types[earlier]))
            decoder_fail(in, "a type comes after too many others");
    }
    declarations_notify(session, DECLARED_TYPE, message.code);
    return !in->error;
}

static bool is_known_type(const struct program_session *session, uint16_t type)
{
    return type < LIMIT_TYPES && (!type || session->types[type]);
}

static bool read_shape(struct program_session *session, struct decoder *in)
{
    struct shape_message message;
    if (!decode_shape(in, &message))
        return false;
    struct event_shape shape = {.count = message.count};
    for (unsigned i = 0; i < message.count; i++) {
        const struct shape_step *step = &message.steps[i];
        if (!(step->type_a | step->type_b) || !is_known_type(session, step->type_a) ||
            !is_known_type(session, step->type_b))
            decoder_fail(in, "a shape names a type that was not announced");
        shape.steps[i] = *step;
        shape.two_lines |= step->type_b != 0;
    }
    if (in->error)
        return false;
    struct event_shape **at = &session->shapes[message.code - SHAPE_COMPOUND];
    if (!*at)
        *at = xmalloc(sizeof shape);
    **at = shape;
    declarations_notify(session, DECLARED_SHAPE, message.code);
    return true;
}

/* ---- losses ---- */

#define EARLY_MOST 4096u /* beyond it they are only counted */

/* Of a line that is not known yet; a disk that is full may never take it. */
static void declarations_lose_early(struct program_session *session, struct early_loss loss)
{
    if (session->early_count == EARLY_MOST)
        return;
    session->early = array_reserve(session->early, &session->early_room, session->early_count + 1,
                                   sizeof *session->early);
    session->early[session->early_count++] = loss;
}

static void declarations_lose_declared(struct program_session *session, uint32_t code)
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

/* ---- lines ---- */

static void own_line(struct program_session *session, const struct line_message *message,
                     uint32_t line, uint32_t thread)
{
    set_line(session, message->code, line);
    session->own_lines = array_reserve(session->own_lines, &session->own_line_room,
                                       session->own_line_count + 1, sizeof *session->own_lines);
    session->own_lines[session->own_line_count++] = line;
    if (run_line_at(session->run, line)->programs++ == 0)
        order_resume_input(session->run->order, line);
    struct event_id by = thread_state_for(session, thread)->last[0];
    if ((message->flags & LINE_FOLLOWS) && by.line)
        order_opened_by(session->run->order, line, by);
    declarations_lose_declared(session, message->code);
    if (cpu_placement_states(session->run)) /* it may have been on a carrier before */
        placements_set_task_line(cpu_placement_tasks(session->run), session->number, message->code,
                                 line);
}

static void open_line(struct program_session *session, const struct line_message *message,
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
    else if (known && is_own(session, message->high))
        run_line_is(session->run, number, kind, message->flags & LINE_SHARED, line);
    free(kind);
    free(line.name);
    if (!number)
        return;
    note_foreign(session, message);
    own_line(session, message, number, thread);
}

static bool read_line(struct program_session *session, struct decoder *in, uint32_t thread)
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
        open_line(session, &message, in, thread);
    else
        note_foreign(session, &message);
    return !in->error;
}

/* Returns the line of that code; 0, with in->error set, if it was not declared. */
static uint32_t announced_line(const struct program_session *session, struct decoder *in,
                               uint32_t code)
{
    uint32_t line = program_session_line(session, code);
    if (!line)
        decoder_fail(in, "refers to an unknown line");
    else if (program_session_is_foreign(session, code))
        decoder_fail(in, "refers to a line of another program");
    return in->error ? 0 : line;
}

static bool read_rename(struct program_session *session, struct decoder *in)
{
    struct rename_message message;
    uint32_t line = decode_rename(in, &message) ? announced_line(session, in, message.line) : 0;
    if (!line)
        return false;
    char *name = text_name(message.name);
    run_rename(session->run, line, name, session->stale ? 0 : message.since);
    free(name);
    return true;
}

static bool read_text(struct program_session *session, struct decoder *in)
{
    struct annotation_message message;
    uint32_t line = decode_annotation(in, &message) ? announced_line(session, in, message.line) : 0;
    if (!line)
        return false;
    char *text = text_note(message.text);
    run_add_text(session->run, (struct event_id){line, message.number}, text);
    free(text);
    return true;
}

/* Of a thread that lost records the next one comes after those, and after whatever those came
 * after. */
static bool read_lost(struct program_session *session, struct decoder *in, uint32_t thread)
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
        declarations_lose_early(session,
                                (struct early_loss){message.line, message.first, message.count});
    return true;
}

static bool read_object(struct program_session *session, struct decoder *in)
{
    struct object_message message;
    uint32_t line = decode_object(in, &message) ? announced_line(session, in, message.line) : 0;
    if (!line)
        return false;
    run_line_at(session->run, line)->object = message.object;
    run_line_changed(session->run, line);
    return true;
}

static bool read_close(struct program_session *session, struct decoder *in)
{
    struct close_message message;
    uint32_t line = decode_close(in, &message) ? announced_line(session, in, message.line) : 0;
    if (line)
        order_close(session->run->order, line, message.last);
    return line != 0;
}

static bool read_kind(struct program_session *session, struct decoder *in)
{
    struct kind_message message;
    if (!decode_kind(in, &message))
        return false;
    uint32_t line = program_session_line(session, message.line);
    if (!line || !message.kind.size || program_session_is_foreign(session, message.line)) {
        decoder_fail(in, "refers to an unknown line or line type");
        return false;
    }
    char *kind = text_name(message.kind), *name = text_name(message.name);
    run_line_kind(session->run, line, kind, name);
    free(kind);
    free(name);
    return true;
}

static bool read_module(struct program_session *session, struct decoder *in)
{
    struct module_message message;
    struct run_process *process = program_session_process(session);
    if (!decode_module(in, &message))
        return false;
    if (process->module_count >= LIMIT_MODULES) {
        decoder_fail(in, "too many modules");
        return false;
    }
    struct run_module m = {
        .start = message.start,
        .end = message.end,
        .bias = message.bias,
        .build_id_bytes = message.build_id.size,
        .path = xstrndup(message.path.bytes ? message.path.bytes : "", message.path.size)};
    if (message.build_id.size)
        memcpy(m.build_id, message.build_id.bytes, message.build_id.size);
    process->modules = array_reserve(process->modules, &process->module_room,
                                     process->module_count + 1, sizeof *process->modules);
    process->modules[process->module_count++] = m;
    return true;
}

static bool read_losses(struct program_session *session, struct decoder *in)
{
    struct losses_message message;
    struct run_process *process = program_session_process(session);
    if (!decode_losses(in, &message))
        return false;
    process->waited_ns = message.waited_ns;
    process->dropped = message.dropped;
    process->unfollowed = message.unfollowed;
    process->left = message.left;
    process->left_known = message.left_known;
    return true;
}

static bool declarations_read_untraced(struct program_session *session, struct decoder *in)
{
    struct untraced_message message;
    if (!decode_untraced(in, &message))
        return false;
    if (message.reason == UNTRACED_NONE || message.reason >= UNTRACED_COUNT) {
        decoder_fail(in, "unknown reason");
        return false;
    }
    char *about = text_name(message.about);
    untraced_reasons_add(session->run, session->number, message.reason, about);
    free(about);
    return true;
}

static bool read_sent(struct program_session *session, struct decoder *in)
{
    struct sent_message message;
    if (!decode_sent(in, &message))
        return false;
    program_session_process(session)->unsent = !message.all;
    return true;
}

static bool read_ends(struct program_session *session, struct decoder *in)
{
    struct ends_message message;
    if (!decode_ends(in, &message))
        return false;
    if (message.how == ENDS_NOT || message.how >= ENDS_COUNT)
        decoder_fail(in, "invalid exit status");
    program_session_process(session)->ended = !in->error;
    return !in->error;
}

/* It is kept as a fact, too, for readers that read only the last state of a run. */
static bool read_awaits(struct program_session *session, struct decoder *in, uint32_t thread)
{
    struct awaits_message message;
    uint32_t about = decode_awaits(in, &message) ? announced_line(session, in, message.line) : 0;
    uint32_t own = program_session_line(session, thread),
             last = program_session_line(session, message.last);
    if (about && (!own || !last))
        decoder_fail(in, "a thread that was not announced waits, or waits after no event");
    if (in->error)
        return false;
    awaits_add(session->run,
               (struct await){.thread = own,
                              .about = about,
                              .after = {last, message.number},
                              .since_ns = (int64_t)(message.time_ns - session->run->clock.start_ns),
                              .site = site_table_add(&session->run->sites,
                                                     (struct site){.process = session->process,
                                                                   .address = message.site})});
    return true;
}

/* The line of the parent may be declared later. */
static bool read_held(struct program_session *session, struct decoder *in)
{
    struct held_message message;
    uint32_t line = decode_held(in, &message) ? announced_line(session, in, message.line) : 0;
    if (!line)
        return false;
    inherited_holds_add(session->run, line,
                        (struct inherited_hold){message.instance, message.code, message.number});
    return true;
}

/* A thread that runs tasks is called so. */
static bool read_carrier(struct program_session *session, struct decoder *in)
{
    struct carrier_message message;
    if (!decode_carrier(in, &message))
        return false;
    if (!message.carrier || message.carrier >= LIMIT_CARRIERS ||
        message.name.size > PLACEMENT_NAME_BYTES || message.cluster.size > PLACEMENT_NAME_BYTES) {
        decoder_fail(in, "invalid worker thread");
        return false;
    }
    struct placements *all = cpu_placement_tasks(session->run);
    char *name = text_name(message.name), *cluster = text_name(message.cluster);
    placements_name_carrier(all, placements_carrier(all, session->number, message.carrier),
                            message.tid, name, cluster);
    free(name);
    free(cluster);
    return true;
}

/* It is a fact: a run is repeated from its begin, however much of it is forgotten. */
static bool read_input(struct program_session *session, struct decoder *in, uint32_t thread)
{
    struct input input;
    struct decoder body = *in;
    if (!decode_input(in, &input))
        return false;
    input_store_add(session->run, session->number, thread, program_session_line(session, thread),
                    &input);
    run_fact(session->run, (struct chunk){.kind = CHUNK_INPUT,
                                          .session = session->number,
                                          .thread = thread,
                                          .data = body.data,
                                          .size = (uint32_t)body.size});
    return true;
}

/* The description itself is earlier in the journal. */
static bool read_describe(struct decoder *in)
{
    struct describe_message message;
    if (!decode_describe(in, &message))
        return false;
    char *name = text_name(message.name);
    if (!*name || strchr(name, '/'))
        decoder_fail(in, "no environment named");
    free(name);
    return !in->error;
}

static void declarations_add_fact(const struct program_session *session, unsigned type,
                                  const uint8_t *data, size_t size, uint32_t thread)
{
    run_fact(session->run, (struct chunk){.kind = (uint16_t)type,
                                          .session = session->number,
                                          .thread = thread,
                                          .data = data,
                                          .size = (uint32_t)size});
}

/* Keeps a new name as a fact without the event since which it holds: an annotation keeps that. */
static void declarations_keep_name(const struct program_session *session, struct decoder in,
                                   uint32_t thread)
{
    struct rename_message message;
    struct encoder out = {0};
    if (!decode_rename(&in, &message))
        return;
    message.since = 0;
    encode_rename(&out, &message);
    declarations_add_fact(session, MESSAGE_NAME, out.data, out.size, thread);
    encoder_free(&out);
}

/* Keeps declarations on which later chunks rely as facts, which are never discarded. */
static void declarations_keep_fact(struct program_session *session, unsigned type,
                                   const struct decoder *in, uint32_t thread)
{
    if (type == MESSAGE_MODULE || type == MESSAGE_TYPE || type == MESSAGE_SHAPE ||
        type == MESSAGE_LINE || type == MESSAGE_OBJECT || type == MESSAGE_KIND ||
        type == MESSAGE_UNTRACED || type == MESSAGE_SENT || type == MESSAGE_USAGE ||
        type == MESSAGE_HEAP || type == MESSAGE_METRIC || type == MESSAGE_SAMPLED_CELLS ||
        type == MESSAGE_CARRIER || type == MESSAGE_ENDS || type == MESSAGE_AWAITS ||
        type == MESSAGE_HELD)
        declarations_add_fact(session, type, in->data, in->size, thread);
    else if (type == MESSAGE_NAME)
        declarations_keep_name(session, *in, thread);
}

bool handle_declaration(struct program_session *session, unsigned type, struct decoder *in,
                        uint32_t thread)
{
    if (session->stale && type != MESSAGE_LOST)
        return true;
    declarations_keep_fact(session, type, in, thread);
    switch (type) {
    case MESSAGE_MODULE:
        return read_module(session, in);
    case MESSAGE_TYPE:
        return read_type(session, in);
    case MESSAGE_SHAPE:
        return read_shape(session, in);
    case MESSAGE_LINE:
        return read_line(session, in, thread);
    case MESSAGE_NAME:
        return read_rename(session, in);
    case MESSAGE_ANNOTATION:
        return read_text(session, in);
    case MESSAGE_LOST:
        return read_lost(session, in, thread);
    case MESSAGE_OBJECT:
        return read_object(session, in);
    case MESSAGE_KIND:
        return read_kind(session, in);
    case MESSAGE_CLOSE:
        return read_close(session, in);
    case MESSAGE_LOSSES:
        return read_losses(session, in);
    case MESSAGE_DESCRIBE:
        return read_describe(in);
    case MESSAGE_UNTRACED:
        return declarations_read_untraced(session, in);
    case MESSAGE_SENT:
        return read_sent(session, in);
    case MESSAGE_ENDS:
        return read_ends(session, in);
    case MESSAGE_AWAITS:
        return read_awaits(session, in, thread);
    case MESSAGE_HELD:
        return read_held(session, in);
    case MESSAGE_USAGE:
        return usage_records_decode(
            &(struct usage_target){session->run, session->process, session, program_session_line},
            in);
    case MESSAGE_HEAP:
        return heap_records_decode(
            &(struct usage_target){session->run, session->process, session, program_session_line},
            in);
    case MESSAGE_METRIC:
        return metric_records_decode_name(session->run, session->number, session->process, in);
    case MESSAGE_INPUT:
    case CHUNK_INPUT:
        return read_input(session, in, thread);
    case MESSAGE_CARRIER:
        return read_carrier(session, in);
    case MESSAGE_REMOTE_STREAM:
        return remote_end_decode(session->run, in, program_session_line(session, thread));
    case MESSAGE_STREAM_GAP:
        return remote_end_decode_gap(session->run, in);
    case MESSAGE_SAMPLED_CELLS:
        return metric_records_decode_samples(session->run, session->number, session->process, in);
    default:
        decoder_fail(in, "is not a program message");
        return false;
    }
}
