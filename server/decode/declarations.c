/* Messages that teach a session what later ones rely on. */
#define _GNU_SOURCE
#include "server/decode/declarations.h"

#include "base/alloc.h"
#include "server/decode/conflict_records.h"
#include "server/decode/heap_records.h"
#include "server/decode/metric_records.h"
#include "server/decode/os_records.h"
#include "server/decode/remote_ends.h"
#include "server/run/awaits.h"
#include "server/run/cpu_placement.h"
#include "server/run/input_store.h"
#include "server/run/run_processes.h"
#include "server/run/untraced_reasons.h"
#include "server/timing/placements.h"
#include "wire/program_messages.h"
#include "wire/task_placement.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

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
    thread_states_notify(session, DECLARED_TYPE, message.code);
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
    thread_states_notify(session, DECLARED_SHAPE, message.code);
    return true;
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
    process->gone_ns = message.gone_ns;
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

static bool read_participants(struct program_session *session, struct decoder *in)
{
    struct participants_message message;
    uint32_t line =
        decode_participants(in, &message) ? announced_line(session, in, message.line) : 0;
    if (!line)
        return false;
    run_lines_set_participants(&session->run->lines, line, message.count);
    run_lines_add_member(&session->run->lines, line, session->process);
    session->run->generation++;
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
        type == MESSAGE_HELD || type == MESSAGE_PARTICIPANTS || type == MESSAGE_CONFLICT ||
        type == MESSAGE_UNEXAMINED)
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
        return declared_line_read(session, in, thread);
    case MESSAGE_NAME:
        return read_rename(session, in);
    case MESSAGE_ANNOTATION:
        return read_text(session, in);
    case MESSAGE_LOST:
        return declared_line_read_lost(session, in, thread);
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
    case MESSAGE_PARTICIPANTS:
        return read_participants(session, in);
    case MESSAGE_CONFLICT:
        return conflict_records_decode(session, in, thread);
    case MESSAGE_UNEXAMINED:
        return conflict_records_decode_unexamined(session, in);
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

/* ---- is all declared that a slot names? ---- */

static bool has_line(const struct program_session *session, uint32_t code,
                     struct missing_declaration *missing)
{
    *missing = (struct missing_declaration){DECLARED_LINE, code};
    return program_session_line(session, code) != 0;
}

static bool has_type(const struct program_session *session, uint16_t type,
                     struct missing_declaration *missing)
{
    *missing = (struct missing_declaration){DECLARED_TYPE, type};
    return type >= LIMIT_TYPES || type == 0 ||
           session->types[type]; /* the impossible is refused later */
}

/* Another thread may have announced them, through its own queue. */
static bool has_types_after(const struct program_session *session, struct decoder in,
                            struct missing_declaration *missing)
{
    struct type_message message;
    bool good = decode_type(&in, &message); /* a bad one is refused later */
    for (unsigned i = 0; good && i < message.after_count; i++)
        if (message.after[i] != message.code && !has_type(session, message.after[i], missing))
            return false;
    return true;
}

static bool has_types_of_steps(const struct program_session *session, struct decoder in,
                               struct missing_declaration *missing)
{
    struct shape_message message;
    bool good = decode_shape(&in, &message);
    for (unsigned i = 0; good && i < message.count; i++)
        if (!has_type(session, message.steps[i].type_a, missing) ||
            !has_type(session, message.steps[i].type_b, missing))
            return false;
    return true;
}

static bool has_control(const struct program_session *session, const struct ring_slot *slot,
                        struct missing_declaration *missing)
{
    struct decoder in = decoder_init(slot + 1, slot->payload_bytes);
    switch (slot->flags) {
    case MESSAGE_NAME:
    case MESSAGE_ANNOTATION:
    case MESSAGE_LOST:
    case MESSAGE_OBJECT:
    case MESSAGE_KIND:
    case MESSAGE_CLOSE:
    case MESSAGE_AWAITS:
    case MESSAGE_HELD:
    case MESSAGE_PARTICIPANTS:
        return has_line(session, decode_u32(&in), missing); /* all of them begin with it */
    case MESSAGE_TYPE:
        return has_types_after(session, in, missing);
    case MESSAGE_SHAPE:
        return has_types_of_steps(session, in, missing);
    case MESSAGE_CONFLICT: {
        uint32_t line = conflict_records_missing_line(session, in);
        return !line || has_line(session, line, missing);
    }
    default:
        return true;
    }
}

static bool has_partners(const struct program_session *session, const struct ring_slot *slot,
                         struct missing_declaration *missing)
{
    size_t before = slot_prefix_bytes(slot);
    if (before == SIZE_MAX)
        return true; /* it is refused */
    struct decoder in =
        decoder_init((const char *)(slot + 1) + before, slot->payload_bytes - before);
    while (decoder_remaining(&in) >= 16) {
        if (!has_line(session, decode_u32(&in), missing))
            return false;
        decode_bytes(&in, 12);
    }
    return true;
}

bool declarations_complete(const struct program_session *session, const struct ring_slot *slot,
                           struct missing_declaration *missing)
{
    if (slot->shape == SHAPE_CONTROL)
        return has_control(session, slot, missing);
    bool keyed = (slot->flags & SLOT_KEYED) || (slot->flags & SLOT_RELATION) == RELATION_GROUP;
    if (!has_line(session, slot->line_a, missing) ||
        (slot->line_b && !keyed && !has_line(session, slot->line_b, missing)) ||
        (slot->about && !has_line(session, slot->about, missing)))
        return false;
    if (slot->shape >= SHAPE_COMPOUND) {
        unsigned i = slot->shape - SHAPE_COMPOUND;
        const struct event_shape *shape = i < LIMIT_SHAPES ? session->shapes[i] : NULL;
        *missing = (struct missing_declaration){DECLARED_SHAPE, slot->shape};
        return shape && (slot->line_b || !shape->two_lines);
    }
    if (slot->flags & SLOT_PARTNERS && !keyed && !has_partners(session, slot, missing))
        return false;
    *missing = (struct missing_declaration){DECLARED_TYPE, slot->shape};
    return slot->shape < LIMIT_TYPES && session->types[slot->shape];
}
