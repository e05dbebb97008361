/* Codes for event types and compound shapes. */
#define _GNU_SOURCE
#include "clients/libpoet/core/type_codes.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/poet.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/slot.h"
#include "wire/program_messages.h"

#include <string.h>

/* clang-format off */
static const char *const type_names[] = {
    NULL,
#define T(code, name) name,
    TRACE_TYPES(T)
#undef T
};
/* clang-format on */

/* clang-format off */
#define PAIR(a, b) {TYPE_##a, TYPE_##b, 0}
#define ON_A(a) {TYPE_##a, 0, 0}
#define ON_A_ABOUT_B(a) {TYPE_##a, 0, STEP_ABOUT_B}
#define ON_B(b) {0, TYPE_##b, 0}
/* clang-format on */

static const struct {
    unsigned count;
    struct shape_step steps[3];
} shapes[SHAPE_END - SHAPE_COMPOUND] = {
#define SHAPE(name) [SHAPE_##name - SHAPE_COMPOUND]
    SHAPE(LOCK) = {2, {ON_A_ABOUT_B(ACQUIRE), PAIR(LOCK, ACQUIRED)}},
    SHAPE(ENTER) = {1, {PAIR(LOCK, ACQUIRED)}},
    SHAPE(LEAVE) = {1, {PAIR(UNLOCK, RELEASED)}},
    SHAPE(REFUSED) = {2, {ON_A(ACQUIRE), ON_A(ACQUIRE_FAILED)}},
    SHAPE(AGAIN) = {2, {ON_A(ACQUIRE), ON_A(RELOCK)}},
    SHAPE(TAKE) = {3, {PAIR(LOCK, ACQUIRED), ON_B(SEM_ACQUIRED), PAIR(UNLOCK, RELEASED)}},
    SHAPE(POST) = {3, {PAIR(LOCK, ACQUIRED), ON_B(SEM_POST), PAIR(UNLOCK, RELEASED)}},
    SHAPE(AWAIT) = {2, {PAIR(LOCK, ACQUIRED), ON_B(WAIT)}},
    SHAPE(TIMED_AWAIT) = {2, {PAIR(LOCK, ACQUIRED), ON_B(TIMED_WAIT)}},
    SHAPE(TAKEN) = {2, {ON_B(SEM_ACQUIRED), PAIR(UNLOCK, RELEASED)}},
    SHAPE(GAVE_UP) = {2, {ON_B(TIMEOUT), PAIR(UNLOCK, RELEASED)}},
    SHAPE(BROKEN) = {2, {ON_B(ACQUIRE_FAILED), PAIR(UNLOCK, RELEASED)}},
    SHAPE(READ) = {2, {ON_A_ABOUT_B(ACQUIRE), PAIR(LOCK, READ_ACQUIRED)}},
    SHAPE(READ_ENTER) = {1, {PAIR(LOCK, READ_ACQUIRED)}},
    SHAPE(READ_LEAVE) = {1, {PAIR(UNLOCK, READ_RELEASED)}},
    SHAPE(WRITE) = {2, {ON_A_ABOUT_B(ACQUIRE), PAIR(LOCK, WRITE_ACQUIRED)}},
    SHAPE(WRITE_ENTER) = {1, {PAIR(LOCK, WRITE_ACQUIRED)}},
    SHAPE(WRITE_LEAVE) = {1, {PAIR(UNLOCK, WRITE_RELEASED)}},
    SHAPE(RESUME) = {1, {PAIR(RESUME, RESUMED)}},
    SHAPE(SUSPEND) = {1, {PAIR(SUSPENDED, SUSPEND)}},
    SHAPE(FINISH) = {1, {PAIR(EXIT, SUSPENDED)}},
    SHAPE(TRANSFER) = {1, {PAIR(TRANSFER, TRANSFERRED)}},
#undef SHAPE
};

unsigned type_code_event_count(uint16_t shape)
{
    unsigned events = shape >= SHAPE_END ? 2 : shape < SHAPE_COMPOUND;
    for (unsigned i = 0;
         shape >= SHAPE_COMPOUND && shape < SHAPE_END && i < shapes[shape - SHAPE_COMPOUND].count;
         i++) {
        const struct shape_step *step = &shapes[shape - SHAPE_COMPOUND].steps[i];
        events += (step->type_a != 0) + (step->type_b != 0);
    }
    return events;
}

static unsigned type_code_user_steps(uint16_t shape, struct shape_step *steps);

unsigned type_code_steps(uint16_t shape, struct shape_step *steps)
{
    if (shape < SHAPE_COMPOUND) {
        steps[0] = (struct shape_step){shape, 0, 0};
        return 1;
    }
    if (shape >= SHAPE_END)
        return type_code_user_steps(shape, steps);
    unsigned count = shapes[shape - SHAPE_COMPOUND].count;
    memcpy(steps, shapes[shape - SHAPE_COMPOUND].steps, count * sizeof *steps);
    return count;
}

/* On shared lines: it comes after all earlier events of these types. */
static const struct {
    unsigned count;
    uint16_t types[2];
} type_after[TYPE_COUNT] = {
    [TYPE_SEM_ACQUIRED] = {1, {TYPE_SEM_POST}},
    [TYPE_READ_ACQUIRED] = {1, {TYPE_WRITE_RELEASED}},
    [TYPE_WRITE_ACQUIRED] = {2, {TYPE_READ_RELEASED, TYPE_WRITE_RELEASED}},
};

static void type_code_encode_type(struct encoder *out, unsigned code, const char *name,
                                  const uint16_t *after, unsigned count)
{
    struct type_message message = {
        .code = (uint16_t)code, .name = text_view_of(name), .after_count = (uint16_t)count};
    memcpy(message.after, after, count * sizeof *after);
    encode_type(out, &message);
}

static void type_code_encode_shape(struct encoder *out, unsigned code,
                                   const struct shape_step *steps, unsigned count)
{
    struct shape_message message = {.code = (uint16_t)code, .count = (uint16_t)count};
    memcpy(message.steps, steps, count * sizeof *steps);
    encode_shape(out, &message);
}

static void type_code_announce_user(struct encoder *out);

void type_code_announce(struct encoder *out)
{
    for (unsigned i = 1; i < TYPE_COUNT; i++) {
        encoder_begin_message(out, MESSAGE_TYPE);
        type_code_encode_type(out, i, type_names[i], type_after[i].types, type_after[i].count);
        encoder_end_message(out);
    }
    for (unsigned i = SHAPE_COMPOUND; i < SHAPE_END; i++) {
        encoder_begin_message(out, MESSAGE_SHAPE);
        type_code_encode_shape(out, i, shapes[i - SHAPE_COMPOUND].steps,
                               shapes[i - SHAPE_COMPOUND].count);
        encoder_end_message(out);
    }
    type_code_announce_user(out);
}

/* ---- codes of the program's own types ---- */

struct own_type {
    struct own_type *next;
    poet_type_t code;
    uint16_t after[LIMIT_AFTER];
    unsigned after_count;
    char name[];
};
struct own_pair {
    struct own_pair *next;
    uint16_t a, b, code;
};

static latch type_codes_mutex;
static struct own_type *own_types;
static struct own_pair *own_pairs;
static unsigned next_type = TYPE_COUNT, next_shape = SHAPE_END;

/* From the oldest on: a type comes after those that it names. */
static void announce_types(struct encoder *out, const struct own_type *newest)
{
    const struct own_type *done = NULL;
    while (done != newest) {
        const struct own_type *type = newest;
        while (type->next != done)
            type = type->next;
        encoder_begin_message(out, MESSAGE_TYPE);
        type_code_encode_type(out, type->code, type->name, type->after, type->after_count);
        encoder_end_message(out);
        done = type;
    }
}

static void type_code_announce_user(struct encoder *out)
{
    announce_types(out, own_types);
    for (const struct own_pair *pair = own_pairs; pair; pair = pair->next) {
        encoder_begin_message(out, MESSAGE_SHAPE);
        type_code_encode_shape(out, pair->code, &(struct shape_step){pair->a, pair->b, 0}, 1);
        encoder_end_message(out);
    }
}

/* (entries of the lists never change) */
static unsigned type_code_user_steps(uint16_t shape, struct shape_step *steps)
{
    const struct own_pair *pair = __atomic_load_n(&own_pairs, __ATOMIC_ACQUIRE);
    while (pair && pair->code != shape)
        pair = pair->next;
    if (pair)
        steps[0] = (struct shape_step){pair->a, pair->b, 0};
    return pair != NULL;
}

const char *type_code_name(uint16_t code)
{
    if (code < TYPE_COUNT)
        return type_names[code];
    const struct own_type *type = __atomic_load_n(&own_types, __ATOMIC_ACQUIRE);
    while (type && type->code != code)
        type = type->next;
    return type ? type->name : NULL;
}

void type_code_forked(void) { latch_reset(&type_codes_mutex); }

static struct traced_thread *type_code_lock(void)
{
    struct traced_thread *t = thread_recording();
    if (!t)
        return NULL;
    latch_lock(&type_codes_mutex);
    return t;
}

static void type_code_unlock(void) { latch_unlock(&type_codes_mutex); }

static poet_type_t known_type(const char *name)
{
    for (unsigned i = 1; i < TYPE_COUNT; i++)
        if (strcmp(type_names[i], name) == 0)
            return (poet_type_t)i;
    for (const struct own_type *type = own_types; type; type = type->next)
        if (strcmp(type->name, name) == 0)
            return type->code;
    return 0;
}

static poet_type_t make_type(struct traced_thread *t, const char *name, const char *const *after)
{
    poet_type_t code = known_type(name);
    if (code || next_type >= LIMIT_TYPES || strlen(name) > LIMIT_TEXT_BYTES)
        return code;
    uint16_t codes[LIMIT_AFTER];
    unsigned count = 0;
    for (; after && after[count] && count < LIMIT_AFTER; count++)
        codes[count] = strcmp(after[count], name) == 0 ? 0 : make_type(t, after[count], NULL);
    struct own_type *type = tracer_arena_alloc(sizeof *type + strlen(name) + 1);
    if (!type)
        return 0;
    type->code = (poet_type_t)next_type++;
    memcpy(type->name, name, strlen(name) + 1);
    type->next = own_types;
    own_types = type;
    for (unsigned i = 0; i < count; i++)
        type->after[i] = codes[i] ? codes[i] : type->code;
    type->after_count = count;
    uint8_t small[256];
    struct encoder body =
        message_text_buffer(t, small, sizeof small, strlen(name) + 16 + count * sizeof *codes);
    type_code_encode_type(&body, type->code, name, type->after, count);
    bool sent = message_queue_send(t, MESSAGE_TYPE, &body);
    /* its code was not used yet: if requested again, it is announced again */
    if (!sent)
        own_types = type->next;
    return sent ? type->code : 0;
}

poet_type_t type_code_get(const char *name, const char *const *after)
{
    struct traced_thread *t = type_code_lock();
    if (!t)
        return 0;
    poet_type_t code = make_type(t, name, after);
    type_code_unlock();
    return code;
}

uint16_t type_code_get_pair(poet_type_t a, poet_type_t b)
{
    struct traced_thread *t = type_code_lock();
    if (!t)
        return 0;
    struct own_pair *pair = own_pairs;
    while (pair && (pair->a != a || pair->b != b))
        pair = pair->next;
    if (!pair && next_shape - SHAPE_COMPOUND < LIMIT_SHAPES &&
        (pair = tracer_arena_alloc(sizeof *pair)) != NULL) {
        *pair = (struct own_pair){own_pairs, a, b, (uint16_t)next_shape++};
        own_pairs = pair;
        uint8_t small[32];
        struct encoder body = {.data = small, .room = sizeof small};
        type_code_encode_shape(&body, pair->code, &(struct shape_step){a, b, 0}, 1);
        if (!message_queue_send(t, MESSAGE_SHAPE, &body)) {
            own_pairs = pair->next;
            pair = NULL;
        }
    }
    type_code_unlock();
    return pair ? pair->code : 0;
}
