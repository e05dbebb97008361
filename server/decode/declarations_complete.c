/* Is all announced that a slot names? */
#include "server/decode/declarations.h"

#include "wire/program_messages.h"

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
        return has_line(session, decode_u32(&in), missing); /* all of them begin with it */
    case MESSAGE_TYPE:
        return has_types_after(session, in, missing);
    case MESSAGE_SHAPE:
        return has_types_of_steps(session, in, missing);
    default:
        return true;
    }
}

static bool has_partners(const struct program_session *session, const struct ring_slot *slot,
                         struct missing_declaration *missing)
{
    size_t measured = activity_record_bytes(slot);
    if (measured == SIZE_MAX)
        return true; /* it is refused */
    struct decoder in =
        decoder_init((const char *)(slot + 1) + measured, slot->payload_bytes - measured);
    while (decoder_remaining(&in) >= 16) {
        if (!has_line(session, decode_u32(&in), missing))
            return false;
        decode_bytes(&in, 12);
    }
    return true;
}

/* True if all that the slot names was announced; else *missing is what it waits for. */
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
