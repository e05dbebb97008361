/* What programs tell the server, as structs and as bytes; no other place knows how these messages
 * lie on the wire.  The fields of a message stand in one list, in the order in which they are sent;
 * from it come its struct X_message, encode_X, which appends its body, and decode_X, which reads
 * one.
 *
 * Texts are borrowed: of encode_ from the caller, of decode_ from the bytes that are read, where
 * they are not followed by a 0.  text_name and text_note (wire/text.h) make strings of them.
 *
 * decode_X is true if the body holds all fields, no text is too long or has a 0 in it, and nothing
 * is left; else the decoder's error says what is wrong, and what was not read is 0.  Nothing is
 * allocated: whatever runs within a stranger's program may use all of it.
 */
#ifndef WIRE_PROGRAM_MESSAGES_H
#define WIRE_PROGRAM_MESSAGES_H

#include "wire/limits.h"
#include "wire/message.h"
#include "wire/slot.h"

struct text_view {
    const char *bytes;
    uint32_t size;
};
struct text_view text_view_of(const char *s); /* all of it; of NULL "" */

/* How a program ends by itself. */
enum program_end {
    ENDS_NOT,
    ENDS_EXIT,
    ENDS_AT_ONCE,
    ENDS_COUNT
}; /* exit(), return; _exit(), quick_exit() */

/* F(type, name): an integer; a text of at most LIMIT_TEXT_BYTES; a label of at most
 * MESSAGE_LABEL_BYTES. */
#define MESSAGE_LABEL_BYTES 256u

/* opens a line */
/* clang-format off */
#define LINE_FIELDS(F)                                                                                   \
    F(u32, code)                                                                                       \
    F(u64, high) /* its identity: the same in all programs that have it */                             \
    F(u64, low)                                                                                        \
    F(u8, flags) /* LINE_ */                                                                           \
    F(u64, object) /* address or id */                                                                 \
    F(u64, entry)  /* of a task: where the function is that it runs */                                 \
    F(text, kind)                                                                                      \
    F(text, name)
/* clang-format on */
#define LINE_SHARED 1u /* its succession is no order */
#define LINE_FOLLOWS 2u /* its first event comes after the last one of the thread that tells it */

/* an ELF file mapped into the program */
#define MODULE_FIELDS(F) F(u64, start) F(u64, end) F(u64, bias) F(build_id, build_id) F(text, path)
#define BUILD_ID_BYTES 32u

/* a line is of another kind than it was opened as */
#define KIND_FIELDS(F) F(u32, line) F(text, kind) F(text, name)
/* a named event */
#define ANNOTATION_FIELDS(F) F(u32, line) F(u64, number) F(text, text)
/* numbers of a line that were taken and are never sent */
#define LOST_FIELDS(F) F(u32, line) F(u64, first) F(u64, count)
#define THREAD_FIELDS(F) F(u32, slots) /* of its queue, whose descriptor comes with it */
#define DESCRIBE_FIELDS(F) F(label, name) /* one more environment */
#define OBJECT_FIELDS(F) F(u32, line) F(u64, object)
#define UNTRACED_FIELDS(F) F(u8, reason) F(text, about) /* an enum untraced_reason */
#define REPORT_FIELDS(F)                                                                           \
    F(text,                                                                                        \
      path) /* of the file to write; "": to the standard error that the server was started with */
#define SENT_FIELDS(F)                                                                             \
    F(u8, all) /* of queues that are the program's own memory: 0 more may be in them, 1 no more */
#define ENDS_FIELDS(F) F(u8, how) /* an enum program_end */
/* From a time of its clock on a thread waits for the end of another one, after its event
 * `number` on the line `last`. */
#define TOLD_AWAITS(F) F(u32, line) F(u32, last) F(u64, number) F(u64, time_ns)
#define CLOSE_FIELDS(F)                                                                            \
    F(u32, line) F(u64, last) /* its object is gone; the number of its last event */

#define REGION_FIELDS(F) F(u32, thread) /* whose it is; its descriptor comes with it */
#define ENTRIES_FIELDS(F) F(u32, thread) /* likewise */

/* a thread of the system that runs tasks (wire/task_placement.h): its number in the program, and
 * the system's; what it is called */
#define CARRIER_FIELDS(F)                                                                          \
    F(u32, carrier)                                                                                \
    F(u32, tid)                                                                                    \
    F(u8, ring) /* 1: its descriptor comes with it; 0: it is only called otherwise */              \
    F(text, name)                                                                                  \
    F(text, cluster)

/* Who writes or reads a stream that goes from one machine to another: both say the same key, and
 * the addresses (IPv6, or IPv4 as in ::ffff:1.2.3.4; in the order of the network) and ports of both
 * ends, theirs first. */
#define REMOTE_STREAM_FIELDS(F)                                                                    \
    F(u64, stream)                                                                                 \
    F(u8, writes) /* 1 it writes, 0 it reads, 2 it does not write any more, but others may */      \
    F(u64, here_high)                                                                              \
    F(u64, here_low)                                                                               \
    F(u16, here_port)                                                                              \
    F(u64, there_high)                                                                             \
    F(u64, there_low)                                                                              \
    F(u16, there_port)
/* Bytes of it from first up to end that no event writes.  doubt: an enum untraced_reason, since
 * somebody may have written them; 0:  nobody has. */
#define STREAM_GAP_FIELDS(F) F(u64, stream) F(u64, first) F(u64, end) F(u8, doubt)

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
    M(awaits, TOLD_AWAITS)

/* the types of fields */
typedef uint8_t field_u8;
typedef uint16_t field_u16;
typedef uint32_t field_u32;
typedef uint64_t field_u64;
typedef struct text_view field_text, field_label, field_build_id;

#define F(type, name) field_##type name;
#define M(message, fields)                                                                         \
    struct message##_message {                                                                     \
        fields(F)                                                                                  \
    };                                                                                             \
    void encode_##message(struct encoder *out, const struct message##_message *told);              \
    bool decode_##message(struct decoder *in, struct message##_message *told);
PROGRAM_MESSAGES(M)
#undef M
#undef F

/* ---- those that are more than a list of fields ---- */

/* Who connects.  Of a viewer only the role is sent. */
struct program_hello {
    uint32_t version; /* put_ sends WIRE_VERSION */
    uint8_t role; /* an enum role */
    struct text_view run, environment, path, host;
    uint32_t pid;
    uint64_t instance; /* no other process has it */
    uint64_t clock_ns, wall_ns; /* one moment on both of its clocks */
    uint32_t argument_count; /* so many texts follow; then its variables may */
};
void encode_hello(struct encoder *out, const struct program_hello *told);
/* Without the arguments: each is a decode_argument, and decoder_finish tells whether they were
 * all. */
bool decode_hello(struct decoder *in, struct program_hello *told);
void encode_argument(struct encoder *out, struct text_view argument);
struct text_view decode_argument(struct decoder *in);
/* How many variables follow the arguments (wire/variable.h), each as an argument; none where
 * nothing follows. */
void encode_variables(struct encoder *out, uint32_t count);
uint32_t decode_variables(struct decoder *in);

/* Code and name of an event type, and after which others its events come on a shared line. */
struct type_message {
    uint16_t code;
    struct text_view name;
    uint16_t after_count;
    uint16_t after[LIMIT_AFTER]; /* codes */
};
void encode_type(struct encoder *out, const struct type_message *told);
bool decode_type(struct decoder *in, struct type_message *told);

/* Code and steps of a compound record. */
struct shape_message {
    uint16_t code;
    uint16_t count;
    struct shape_step steps[LIMIT_STEPS];
};
void encode_shape(struct encoder *out, const struct shape_message *told);
bool decode_shape(struct decoder *in, struct shape_message *told);

/* A line has another name. */
struct rename_message {
    uint32_t line;
    struct text_view name;
    /* number of its last event then; 0 (which older files do not have): not known */
    uint64_t since;
};
void encode_rename(struct encoder *out, const struct rename_message *told);
bool decode_rename(struct decoder *in, struct rename_message *told);

/* In a trace file: what a program was made to wait, dropped, did not follow. */
struct losses_message {
    uint64_t waited_ns, dropped, unfollowed;
    uint64_t left,
        /* lost with its end; those of them whose numbers were told.  Older files have neither. */
        left_told;
};
void encode_losses(struct encoder *out, const struct losses_message *told);
bool decode_losses(struct decoder *in, struct losses_message *told);

#endif
