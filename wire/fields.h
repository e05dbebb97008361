/* Lists of fields, from which the encoding of a struct and its decoding are made.
 *
 * A list is a macro with rows F(type, object, member) that name each field and its type, as in
 * encode_TYPE and decode_TYPE.  The macros below use the variables `out` and `in`. */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include "wire/event_types.h"
#include "wire/message.h"

#include <stdbool.h>

static inline void encode_i32(struct encoder *out, int32_t v) { encode_u32(out, (uint32_t)v); }
static inline int32_t decode_i32(struct decoder *in) { return (int32_t)decode_u32(in); }
static inline void encode_i64(struct encoder *out, int64_t v) { encode_u64(out, (uint64_t)v); }
static inline int64_t decode_i64(struct decoder *in) { return (int64_t)decode_u64(in); }
static inline void encode_flag(struct encoder *out, bool v) { encode_u8(out, v); }
static inline bool decode_flag(struct decoder *in) { return decode_u8(in) != 0; }

/* A counted array of numbers. */
static inline void encode_numbers(struct encoder *out, const uint32_t *numbers, uint32_t count)
{
    encode_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        encode_u32(out, numbers[i]);
}

static inline uint32_t *decode_numbers(struct decoder *in, uint32_t *count)
{
    uint32_t n = decode_count(in, 4), *numbers = decode_array(in, n, sizeof *numbers);
    for (*count = 0; numbers && *count < n; ++*count)
        numbers[*count] = decode_u32(in);
    return numbers;
}

/* Encoded sizes, the least ones of fields that vary. */
enum {
    FIELD_BYTES_u8 = 1,
    FIELD_BYTES_flag = 1,
    FIELD_BYTES_u32 = 4,
    FIELD_BYTES_i32 = 4,
    FIELD_BYTES_u64 = 8,
    FIELD_BYTES_i64 = 8,
    FIELD_BYTES_string = 4,
    FIELD_BYTES_event_id = EVENT_ID_BYTES,
    FIELD_BYTES_occupants = OCCUPANTS_BYTES
};

/* Expansions of a row. */
#define FIELD_ENCODE(type, object, member) encode_##type(out, (object)->member);
#define FIELD_DECODE(type, object, member) (object)->member = decode_##type(in);
#define FIELD_BYTES(type, object, member) +FIELD_BYTES_##type

/* Encodes a counted array of structs. */
#define ENCODE_LIST(items, count, FIELDS)                                                          \
    do {                                                                                           \
        encode_u32(out, count);                                                                    \
        for (uint32_t list_index = 0; list_index < (count); list_index++) {                        \
            FIELDS(FIELD_ENCODE, &(items)[list_index])                                             \
        }                                                                                          \
    } while (0)
/* Decodes one into a new array; a count of more items than fit the rest of the message is
 * rejected.  `count` must be 0. */
#define DECODE_LIST(items, count, FIELDS)                                                          \
    do {                                                                                           \
        const uint32_t list_count = decode_count(in, 0 FIELDS(FIELD_BYTES, 0));                    \
        items = decode_array(in, list_count, sizeof *(items));                                     \
        for (; (items) && (count) < list_count; (count)++) {                                       \
            FIELDS(FIELD_DECODE, &(items)[count])                                                  \
        }                                                                                          \
    } while (0)

#endif
