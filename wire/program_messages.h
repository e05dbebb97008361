/* Messages from programs to the server, as structs and as bytes; only this module knows their
 * encoding. The fields of a message are listed once, in the order in which they are sent; the list
 * generates its struct X_message, encode_X, which appends its body, and decode_X, which reads one.
 *
 * Texts are borrowed: by encode_ from the caller, by decode_ from the decoded bytes, where no NUL
 * follows them. text_name and text_note (wire/text.h) make strings of them.
 *
 * decode_X returns true if the body has all fields, no text is too long or contains a NUL, and no
 * bytes remain; else the decoder's error says what is wrong, and fields that were not read are 0.
 * Nothing is allocated, so code that runs inside a traced program may use all of it. */
#ifndef WIRE_PROGRAM_MESSAGES_H
#define WIRE_PROGRAM_MESSAGES_H

#include "wire/limits.h"
#include "wire/message.h"
#include "wire/slot.h"

struct text_view {
    const char *bytes;
    uint32_t size;
};
struct text_view text_view_of(const char *s); /* the whole text; "" for NULL */

/* The ways in which a program ends by itself. */
enum program_end {
    ENDS_NOT,
    ENDS_EXIT, /* exit(), return from main() */
    ENDS_AT_ONCE, /* _exit(), quick_exit() */
    ENDS_COUNT
};

/* F(type, name): an integer; a text of at most LIMIT_TEXT_BYTES; a label of at most
 * MESSAGE_LABEL_BYTES. */
#define MESSAGE_LABEL_BYTES 256u

/* opens a line */
/* clang-format off */
#define LINE_FIELDS(F)                                                      \
    F(u32, code)                                                            \
    F(u64, high) /* its identity: the same in all programs that share it */ \
    F(u64, low)                                                             \
    F(u8, flags) /* LINE_ flags */                                          \
    F(u64, object) /* address or id */                                      \
    F(u64, entry)  /* of a task: address of the function that it runs */    \
    F(text, kind)                                                           \
    F(text, name)
/* clang-format on */
#define LINE_SHARED 1u /* the succession of its events is not an order */
#define LINE_FOLLOWS 2u /* its first event comes after the last one of the thread that opens it */
/* Memory of its object that other processes can map, as of a file; or that they can only inherit:
 * that has no name, and this path in /proc/PID/maps. */
#define LINE_NAMED_MEMORY 4u
#define LINE_INHERITED_MEMORY 8u
#define LINE_MEMORY (LINE_NAMED_MEMORY | LINE_INHERITED_MEMORY)
#define UNNAMED_MEMORY "/dev/zero (deleted)"

/* an ELF file mapped into the program */
#define MODULE_FIELDS(F) F(u64, start) F(u64, end) F(u64, bias) F(build_id, build_id) F(text, path)
#define BUILD_ID_BYTES 32u

/* a line is of another kind than it was opened as */
#define KIND_FIELDS(F) F(u32, line) F(text, kind) F(text, name)
/* a text for an event */
#define ANNOTATION_FIELDS(F) F(u32, line) F(u64, number) F(text, text)
/* numbers of a line that were allocated and are never sent */
#define LOST_FIELDS(F) F(u32, line) F(u64, first) F(u64, count)
#define THREAD_FIELDS(F) F(u32, slots) /* of its queue, with the descriptor attached */
#define DESCRIBE_FIELDS(F) F(label, name) /* one more environment */
#define OBJECT_FIELDS(F) F(u32, line) F(u64, object)
#define UNTRACED_FIELDS(F) F(u8, reason) F(text, about) /* an enum untraced_reason */
#define REPORT_FIELDS(F)                                                                           \
    F(text, path) /* of the file to write; "": to the standard error of the server */
/* whether all records were sent that are in queues in the program's own memory; 0: some may not */
#define SENT_FIELDS(F) F(u8, all)
#define ENDS_FIELDS(F) F(u8, how) /* an enum program_end */
/* From a time of its clock on, a thread waits for the end of another one, after its event `number`
 * on the line `last`; site: the address of the call. */
#define AWAITS_FIELDS(F) F(u32, line) F(u32, last) F(u64, number) F(u64, time_ns) F(u64, site)
/* At the fork that created this process, the object of a line was held: by the thread with the last
 * event then, on the line of the same object in the process with that instance. */
#define HELD_FIELDS(F) F(u32, line) F(u64, instance) F(u32, code) F(u64, number)
/* The threads of each round of a barrier, at least 1. */
#define PARTICIPANTS_FIELDS(F) F(u32, line) F(u32, count)
#define CLOSE_FIELDS(F)                                                                            \
    F(u32, line) F(u64, last) /* its object was destroyed; the number of its last event */

#define REGION_FIELDS(F) F(u32, thread) /* its thread; the descriptor is attached */
#define ENTRIES_FIELDS(F) F(u32, thread) /* its thread; the descriptor is attached */

/* a worker thread, which runs tasks (wire/task_placement.h): its number in the program, its TID,
 * and its name */
#define CARRIER_FIELDS(F)                                                                          \
    F(u32, carrier)                                                                                \
    F(u32, tid)                                                                                    \
    F(u8, ring) /* 1: its descriptor is attached; 0: only its name changes */                      \
    F(text, name)                                                                                  \
    F(text, cluster)

/* A program writes or reads a stream between hosts. Both ends send the same key: the addresses
 * (IPv6, or IPv4 as in ::ffff:1.2.3.4; in network byte order) and ports of both ends, the remote
 * one first. */
#define REMOTE_STREAM_FIELDS(F)                                                                    \
    F(u64, stream)                                                                                 \
    F(u8, writes) /* 1: writes, 0: reads, 2: no longer writes, but others may */                   \
    F(u64, here_high)                                                                              \
    F(u64, here_low)                                                                               \
    F(u16, here_port)                                                                              \
    F(u64, there_high)                                                                             \
    F(u64, there_low)                                                                              \
    F(u16, there_port)
/* Bytes of it in [first, end) that no event writes. doubt: an enum untraced_reason, if they may
 * have been written; 0: they have not. */
#define STREAM_GAP_FIELDS(F) F(u64, stream) F(u64, first) F(u64, end) F(u8, doubt)

/* Two threads of the process accessed the same bytes, at least one of them by a write (poet.h):
 * each after its event `number` on the line `last`, at `site`, with these ACCESS_ flags, and while
 * it held two locks (lines; 0: none). The second access is of the thread that sends it, with the
 * callers of the function that it is in (0: none). */
#define CONFLICT_FIELDS(F)                                                                         \
    F(u32, last)                                                                                   \
    F(u64, number) F(u32, thread) F(u64, site) F(u8, flags) F(u32, lock) F(u32, outer_lock)        \
        F(u32, then_last) F(u64, then_number) F(u64, then_site) F(u8, then_flags)                  \
            F(u32, then_lock) F(u32, then_outer_lock) F(u64, address) F(u32, bytes)                \
                F(u8, memory) /* an enum conflict_memory */                                        \
        F(u32, owner) /* line of the thread of the stack, or that allocated the block; 0 */        \
        F(u64, block) F(u64, block_bytes) F(u64, block_site) F(u64, caller_1) F(u64, caller_2)     \
            F(u64, caller_3) F(u64, caller_4)
/* UNSEEN: no stack, and calls of the allocator are not seen: it may have been another block
 * before. */
enum conflict_memory { MEMORY_OTHER, MEMORY_HEAP, MEMORY_STACK, MEMORY_UNSEEN, MEMORY_KINDS };
#define ACCESS_WRITE 1u
#define ACCESS_ATOMIC 2u
#define ACCESS_FREE 4u
#define ACCESS_RELEASE 8u
#define ACCESS_FLAGS 15u
/* The number of accesses or conflicts, in all, that were not examined; 0, at first: none. */
#define UNEXAMINED_FIELDS(F) F(u8, why) F(u64, count)
enum unexamined {
    UNEXAMINED_NO_MEMORY, /* the shadow memory could not be reserved */
    UNEXAMINED_MEMORY, /* pages of memory beyond the limit of the shadow memory */
    UNEXAMINED_INTERVALS, /* accesses after too many intervals between events */
    UNEXAMINED_CONFLICTS, /* too many conflicts */
    UNEXAMINED_KINDS
};

#define METRIC_FIELDS(F)                                                                           \
    F(u32, code) F(u8, kind) F(label, name) F(label, unit) /* wire/metric_messages.h */

#define PROGRAM_MESSAGES(M)                                                                        \
    M(line, LINE_FIELDS)                                                                           \
    M(module, MODULE_FIELDS)                                                                       \
    M(kind, KIND_FIELDS)                                                                           \
    M(annotation, ANNOTATION_FIELDS)                                                               \
    M(lost, LOST_FIELDS)                                                                           \
    M(thread, THREAD_FIELDS)                                                                       \
    M(describe, DESCRIBE_FIELDS)                                                                   \
    M(object, OBJECT_FIELDS)                                                                       \
    M(untraced, UNTRACED_FIELDS)                                                                   \
    M(report, REPORT_FIELDS)                                                                       \
    M(sent, SENT_FIELDS)                                                                           \
    M(ends, ENDS_FIELDS)                                                                           \
    M(close, CLOSE_FIELDS)                                                                         \
    M(region, REGION_FIELDS)                                                                       \
    M(metric, METRIC_FIELDS)                                                                       \
    M(entries, ENTRIES_FIELDS)                                                                     \
    M(carrier, CARRIER_FIELDS)                                                                     \
    M(remote_stream, REMOTE_STREAM_FIELDS)                                                         \
    M(stream_gap, STREAM_GAP_FIELDS)                                                               \
    M(awaits, AWAITS_FIELDS)                                                                       \
    M(held, HELD_FIELDS)                                                                           \
    M(participants, PARTICIPANTS_FIELDS)                                                           \
    M(conflict, CONFLICT_FIELDS)                                                                   \
    M(unexamined, UNEXAMINED_FIELDS)

/* the types of fields */
typedef uint8_t field_u8;
typedef uint16_t field_u16;
typedef uint32_t field_u32;
typedef uint64_t field_u64;
typedef struct text_view field_text, field_label, field_build_id;

#define F(type, name) field_##type name;
#define M(name, fields)                                                                            \
    struct name##_message {                                                                        \
        fields(F)                                                                                  \
    };                                                                                             \
    void encode_##name(struct encoder *out, const struct name##_message *message);                 \
    bool decode_##name(struct decoder *in, struct name##_message *message);
PROGRAM_MESSAGES(M)
#undef M
#undef F

/* ---- messages that are more than a list of fields ---- */

/* HELLO. A viewer sends only its role. */
struct program_hello {
    uint32_t version; /* encode_hello sends WIRE_VERSION */
    uint8_t role; /* an enum role */
    struct text_view run, environment, path, host;
    uint32_t pid;
    uint64_t instance; /* unique to the process */
    uint64_t clock_ns, wall_ns; /* the same moment on both of its clocks */
    uint32_t argument_count; /* that many texts follow; then optionally its variables */
};
void encode_hello(struct encoder *out, const struct program_hello *message);
/* Decodes all but the arguments: decode_argument decodes each, and decoder_finish checks that these
 * were all. */
bool decode_hello(struct decoder *in, struct program_hello *message);
void encode_argument(struct encoder *out, struct text_view argument);
struct text_view decode_argument(struct decoder *in);
/* The number of variables that follow the arguments (wire/variable.h), each encoded as an argument;
 * 0 if the body ends here. */
void encode_variables(struct encoder *out, uint32_t count);
uint32_t decode_variables(struct decoder *in);

/* Declares an event type: its code and name, and the types after which its events come on a shared
 * line. */
struct type_message {
    uint16_t code;
    struct text_view name;
    uint16_t after_count;
    uint16_t after[LIMIT_AFTER]; /* codes */
};
void encode_type(struct encoder *out, const struct type_message *message);
bool decode_type(struct decoder *in, struct type_message *message);

/* Declares a compound record: its code and steps. */
struct shape_message {
    uint16_t code;
    uint16_t count;
    struct shape_step steps[LIMIT_STEPS];
};
void encode_shape(struct encoder *out, const struct shape_message *message);
bool decode_shape(struct decoder *in, struct shape_message *message);

/* Renames a line. */
struct rename_message {
    uint32_t line;
    struct text_view name;
    /* number of its last event at that time; 0: unknown */
    uint64_t since;
};
void encode_rename(struct encoder *out, const struct rename_message *message);
bool decode_rename(struct decoder *in, struct rename_message *message);

/* The time that a program had to wait, and the numbers of events that it dropped or did not trace;
 * in a trace file, also of events lost with its end. */
struct losses_message {
    uint64_t waited_ns, dropped, unfollowed;
    /* lost at its end; those of them with known numbers */
    uint64_t left, left_known;
    uint64_t gone_ns; /* when its connection ended, by the server's wall clock; 0: it has not */
};
void encode_losses(struct encoder *out, const struct losses_message *message);
bool decode_losses(struct decoder *in, struct losses_message *message);

#endif
