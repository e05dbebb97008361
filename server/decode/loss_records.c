#include "server/decode/loss_records.h"

#include "server/decode/declarations.h"
#include "wire/program_messages.h"

#include <stdlib.h>

static void loss_add(struct loss_records *losses, const struct program_session *session,
                     uint32_t line, uint64_t first, uint64_t count, bool dropped)
{
    losses->events += dropped ? 0 : count;
    if (!count || !program_session_line(session, line) || first == 0 || first > UINT64_MAX - count)
        return;
    struct loss_record *last = losses->count ? &losses->items[losses->count - 1] : NULL;
    if (last && last->line == line && last->dropped == dropped &&
        last->first + last->count == first) {
        last->count += count;
        return;
    }
    losses->items =
        array_reserve(losses->items, &losses->room, losses->count + 1, sizeof *losses->items);
    losses->items[losses->count++] = (struct loss_record){line, first, count, dropped};
}

/* Decodes the declaration of a shape that the session has not seen yet. */
static void learn_shape(struct loss_records *losses, const struct ring_slot *slot)
{
    struct decoder in = decoder_init(slot + 1, slot->payload_bytes);
    struct shape_message message;
    if (!decode_shape(&in, &message))
        return;
    struct shape_steps shape = {.code = message.code};
    for (unsigned i = 0; i < message.count; i++) {
        shape.on_a += message.steps[i].type_a != 0;
        shape.on_b += message.steps[i].type_b != 0;
    }
    losses->shapes = array_reserve(losses->shapes, &losses->shape_room, losses->shape_count + 1,
                                   sizeof *losses->shapes);
    losses->shapes[losses->shape_count++] = shape;
}

static struct shape_steps steps_of(const struct loss_records *losses,
                                   const struct program_session *session, uint16_t code)
{
    struct shape_steps steps = {.code = code};
    unsigned i = code - SHAPE_COMPOUND;
    const struct event_shape *shape = i < LIMIT_SHAPES ? session->shapes[i] : NULL;
    for (unsigned k = 0; shape && k < shape->count; k++) {
        steps.on_a += shape->steps[k].type_a != 0;
        steps.on_b += shape->steps[k].type_b != 0;
    }
    for (size_t k = losses->shape_count; !shape && k-- > 0;)
        if (losses->shapes[k].code == code)
            return losses->shapes[k];
    if (!shape)
        steps.on_a = 1; /* one at least */
    return steps;
}

static void add_control(struct loss_records *losses, const struct program_session *session,
                        const struct ring_slot *slot)
{
    struct decoder in = decoder_init(slot + 1, slot->payload_bytes);
    if (slot->flags == MESSAGE_SHAPE) {
        learn_shape(losses, slot);
    } else if (slot->flags == MESSAGE_LOST) {
        struct lost_message message;
        if (decode_lost(&in, &message))
            loss_add(losses, session, message.line, message.first, message.count, true);
    }
}

static void add_record(struct loss_records *losses, const struct program_session *session,
                       const struct ring_slot *slot)
{
    if (slot->shape < SHAPE_COMPOUND) {
        loss_add(losses, session, slot->line_a, slot->number_a, 1, false);
        return;
    }
    struct shape_steps steps = steps_of(losses, session, slot->shape);
    loss_add(losses, session, slot->line_a, slot->number_a, steps.on_a, false);
    loss_add(losses, session, slot->line_b, slot->number_b, steps.on_b, false);
}

void loss_records_add(struct loss_records *losses, const struct program_session *session,
                      const struct ring_slot *slots, size_t count)
{
    for (size_t i = 0, size; (size = slot_next_record(slots + i, count - i)) != 0; i += size) {
        if (slots[i].shape == SHAPE_CONTROL)
            add_control(losses, session, &slots[i]);
        else
            add_record(losses, session, &slots[i]);
    }
}

void loss_records_add_held(struct loss_records *losses, const struct program_session *session)
{
    for (struct map_walk walk = {.map = &session->threads}; map_next(&walk);) {
        const struct thread_state *state = walk.value;
        if (state->held_count)
            loss_records_add(losses, session, state->held, state->held_count);
    }
}

static int by_number(const void *a, const void *b)
{
    const struct loss_record *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

void loss_records_merge(struct loss_records *losses)
{
    size_t kept = 0;
    if (losses->count)
        qsort(losses->items, losses->count, sizeof *losses->items, by_number);
    for (size_t i = 0; i < losses->count; i++) {
        struct loss_record *last = kept ? &losses->items[kept - 1] : NULL;
        const struct loss_record *next = &losses->items[i];
        if (last && last->line == next->line && last->dropped == next->dropped &&
            next->first <= last->first + last->count) {
            uint64_t end = next->first + next->count;
            if (end > last->first + last->count)
                last->count = end - last->first;
        } else {
            losses->items[kept++] = *next;
        }
    }
    losses->count = kept;
}

void loss_records_free(struct loss_records *losses)
{
    free(losses->items);
    free(losses->shapes);
}
