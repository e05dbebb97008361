/* Is all announced that a slot names? */
#include "server/intake/announce.h"

#include "wire/told.h"

static bool has_line(const struct session *session, uint32_t code, struct missing_code *missing)
{
    *missing = (struct missing_code){ANNOUNCED_LINE, code};
    return session_line(session, code) != 0;
}

static bool has_type(const struct session *session, uint16_t type, struct missing_code *missing)
{
    *missing = (struct missing_code){ANNOUNCED_TYPE, type};
    return type >= LIMIT_TYPES || type == 0 ||
           session->types[type]; /* the impossible is refused later */
}

/* Another thread may have announced them, through its own queue. */
static bool has_types_after(const struct session *session, struct in in,
                            struct missing_code *missing)
{
    struct told_type told;
    bool good = get_told_type(&in, &told); /* a bad one is refused later */
    for (unsigned i = 0; good && i < told.after_count; i++)
        if (told.after[i] != told.code && !has_type(session, told.after[i], missing))
            return false;
    return true;
}

static bool has_types_of_steps(const struct session *session, struct in in,
                               struct missing_code *missing)
{
    struct told_shape told;
    bool good = get_told_shape(&in, &told);
    for (unsigned i = 0; good && i < told.count; i++)
        if (!has_type(session, told.steps[i].type_a, missing) ||
            !has_type(session, told.steps[i].type_b, missing))
            return false;
    return true;
}

static bool has_control(const struct session *session, const struct slot *slot,
                        struct missing_code *missing)
{
    struct in in = in_from(slot + 1, slot->payload_bytes);
    switch (slot->flags) {
    case MESSAGE_NAME:
    case MESSAGE_TEXT:
    case MESSAGE_LOST:
    case MESSAGE_OBJECT:
    case MESSAGE_KIND:
    case MESSAGE_CLOSE:
    case MESSAGE_AWAITS:
        return has_line(session, get_u32(&in), missing); /* all of them begin with it */
    case MESSAGE_TYPE:
        return has_types_after(session, in, missing);
    case MESSAGE_SHAPE:
        return has_types_of_steps(session, in, missing);
    default:
        return true;
    }
}

static bool has_partners(const struct session *session, const struct slot *slot,
                         struct missing_code *missing)
{
    size_t measured = measured_bytes(slot);
    if (measured == SIZE_MAX)
        return true; /* it is refused */
    struct in in = in_from((const char *)(slot + 1) + measured, slot->payload_bytes - measured);
    while (in_left(&in) >= 16) {
        if (!has_line(session, get_u32(&in), missing))
            return false;
        get_bytes(&in, 12);
    }
    return true;
}

/* True if all that the slot names was announced; else *missing is what it waits for. */
bool announced(const struct session *session, const struct slot *slot, struct missing_code *missing)
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
        const struct shape *shape = i < LIMIT_SHAPES ? session->shapes[i] : NULL;
        *missing = (struct missing_code){ANNOUNCED_SHAPE, slot->shape};
        return shape && (slot->line_b || !shape->two_lines);
    }
    if (slot->flags & SLOT_PARTNERS && !keyed && !has_partners(session, slot, missing))
        return false;
    *missing = (struct missing_code){ANNOUNCED_TYPE, slot->shape};
    return slot->shape < LIMIT_TYPES && session->types[slot->shape];
}
