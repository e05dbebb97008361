/* What programs tell the server, as structs and as bytes; no other place knows how these messages lie on the
 * wire.  The fields of a message stand in one list, in the order in which they are sent; from it come its
 * struct told_X, put_told_X, which appends its body, and get_told_X, which reads one.
 *
 * Texts are borrowed: of put_ from the caller, of get_ from the bytes that are read, where they are not
 * followed by a 0.  text_name and text_note (wire/text.h) make strings of them.
 *
 * get_told_X is true if the body holds all fields, no text is too long or has a 0 in it, and nothing is left;
 * else in->error says what is wrong, and what was not read is 0.  Nothing is allocated: whoever runs within a
 * stranger's program may use all of it.
 */
#ifndef WIRE_TOLD_H
#define WIRE_TOLD_H

#include "wire/limits.h"
#include "wire/message.h"
#include "wire/slot.h"

struct text {
    const char *bytes;
    uint32_t size;
};
struct text text_of(const char *s); /* all of it; of NULL "" */

/* How a program ends by itself. */
enum told_end { ENDS_NOT, ENDS_EXIT, ENDS_AT_ONCE, ENDS_COUNT }; /* exit(), return; _exit(), quick_exit() */

/* F(type, name): an integer; a text of at most LIMIT_TEXT_BYTES; a label of at most TOLD_LABEL_BYTES. */
#define TOLD_LABEL_BYTES 256u

/* opens a line */
/* clang-format off */
#define TOLD_LINE(F)                                                                                   \
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
#define TOLD_MODULE(F) F(u64, start) F(u64, end) F(u64, bias) F(build_id, build_id) F(text, path)
#define BUILD_ID_BYTES 32u

/* a line is of another kind than it was opened as */
#define TOLD_KIND(F) F(u32, line) F(text, kind) F(text, name)
/* a named event */
#define TOLD_TEXT(F) F(u32, line) F(u64, number) F(text, text)
/* numbers of a line that were taken and are never sent */
#define TOLD_LOST(F) F(u32, line) F(u64, first) F(u64, count)
#define TOLD_THREAD(F) F(u32, slots) /* of its queue, whose descriptor comes with it */
#define TOLD_DESCRIBE(F) F(label, name) /* one more environment */
#define TOLD_OBJECT(F) F(u32, line) F(u64, object)
#define TOLD_UNSEEN(F) F(u8, reason) F(text, about) /* an enum unseen */
#define TOLD_REPORT(F)                                                                             \
    F(text,                                                                                        \
      path) /* of the file to write; "": to the standard error that the server was started with */
#define TOLD_SENT(F)                                                                               \
    F(u8, all) /* of queues that are the program's own memory: 0 more may be in them, 1 no more */
#define TOLD_ENDS(F) F(u8, how) /* an enum told_end */
/* From a time of its clock on a thread waits for the end of another one, after its event
 * `number` on the line `last`. */
#define TOLD_AWAITS(F) F(u32, line) F(u32, last) F(u64, number) F(u64, time_ns)
#define TOLD_CLOSE(F)                                                                              \
    F(u32, line) F(u64, last) /* its object is gone; the number of its last event */

#define TOLD_REGION(F) F(u32, thread) /* whose it is; its descriptor comes with it */
#define TOLD_ENTRIES(F) F(u32, thread) /* likewise */

/* a thread of the system that runs tasks (wire/span.h): its number in the program, and the system's; what it is called */
#define TOLD_SPAN(F)                                                                               \
    F(u32, carrier)                                                                                \
    F(u32, tid)                                                                                    \
    F(u8, ring) /* 1: its descriptor comes with it; 0: it is only called otherwise */              \
    F(text, name)                                                                                  \
    F(text, cluster)

/* Who writes or reads a stream that goes from one machine to another: both say the same key, and the addresses (IPv6, or IPv4
 * as in ::ffff:1.2.3.4; in the order of the network) and ports of both ends, theirs first. */
#define TOLD_FAR(F)                                                                                \
    F(u64, stream)                                                                                 \
    F(u8, writes) /* 1 it writes, 0 it reads, 2 it does not write any more, but others may */      \
    F(u64, here_high)                                                                              \
    F(u64, here_low)                                                                               \
    F(u16, here_port)                                                                              \
    F(u64, there_high)                                                                             \
    F(u64, there_low)                                                                              \
    F(u16, there_port)
/* Bytes of it from first up to end that no event writes.  doubt: an enum unseen, since somebody may have written them; 0:
 * nobody has. */
#define TOLD_HOLE(F) F(u64, stream) F(u64, first) F(u64, end) F(u8, doubt)

#define TOLD_METER(F) F(u32, code) F(u8, kind) F(label, name) F(label, unit) /* wire/meter.h */

#define TOLD(M)                                                                                    \
    M(line, TOLD_LINE)                                                                             \
    M(module, TOLD_MODULE)                                                                         \
    M(kind, TOLD_KIND)                                                                             \
    M(text, TOLD_TEXT)                                                                             \
    M(lost, TOLD_LOST)                                                                             \
    M(thread, TOLD_THREAD)                                                                         \
    M(describe, TOLD_DESCRIBE)                                                                     \
    M(object, TOLD_OBJECT)                                                                         \
    M(unseen, TOLD_UNSEEN)                                                                         \
    M(report, TOLD_REPORT)                                                                         \
    M(sent, TOLD_SENT)                                                                             \
    M(ends, TOLD_ENDS)                                                                             \
    M(close, TOLD_CLOSE)                                                                           \
    M(region, TOLD_REGION)                                                                         \
    M(meter, TOLD_METER)                                                                           \
    M(entries, TOLD_ENTRIES)                                                                       \
    M(span, TOLD_SPAN)                                                                             \
    M(far, TOLD_FAR)                                                                               \
    M(hole, TOLD_HOLE)                                                                             \
    M(awaits, TOLD_AWAITS)

/* the types of fields */
typedef uint8_t told_u8;
typedef uint16_t told_u16;
typedef uint32_t told_u32;
typedef uint64_t told_u64;
typedef struct text told_text, told_label, told_build_id;

#define F(type, name) told_##type name;
#define M(message, fields)                                                                         \
    struct told_##message {                                                                        \
        fields(F)                                                                                  \
    };                                                                                             \
    void put_told_##message(struct out *out, const struct told_##message *told);                   \
    bool get_told_##message(struct in *in, struct told_##message *told);
TOLD(M)
#undef M
#undef F

/* ---- those that are more than a list of fields ---- */

/* Who connects.  Of a viewer only the role is sent. */
struct told_hello {
    uint32_t version; /* put_ sends WIRE_VERSION */
    uint8_t role; /* an enum role */
    struct text run, environment, path, host;
    uint32_t pid;
    uint64_t instance; /* no other process has it */
    uint64_t clock_ns, wall_ns; /* one moment on both of its clocks */
    uint32_t argument_count; /* so many texts follow; then its variables may */
};
void put_told_hello(struct out *out, const struct told_hello *told);
/* Without the arguments: each is a get_told_argument, and in_done tells whether they were all. */
bool get_told_hello(struct in *in, struct told_hello *told);
void put_told_argument(struct out *out, struct text argument);
struct text get_told_argument(struct in *in);
/* How many variables follow the arguments (wire/variable.h), each as an argument; none where
 * nothing follows. */
void put_told_variables(struct out *out, uint32_t count);
uint32_t get_told_variables(struct in *in);

/* Code and name of an event type, and after which others its events come on a shared line. */
struct told_type {
    uint16_t code;
    struct text name;
    uint16_t after_count;
    uint16_t after[LIMIT_AFTER]; /* codes */
};
void put_told_type(struct out *out, const struct told_type *told);
bool get_told_type(struct in *in, struct told_type *told);

/* Code and steps of a compound record. */
struct told_shape {
    uint16_t code;
    uint16_t count;
    struct step steps[LIMIT_STEPS];
};
void put_told_shape(struct out *out, const struct told_shape *told);
bool get_told_shape(struct in *in, struct told_shape *told);

/* A line has another name. */
struct told_rename {
    uint32_t line;
    struct text name;
    uint64_t
        since; /* number of its last event then; 0 (which older files do not have): not known */
};
void put_told_rename(struct out *out, const struct told_rename *told);
bool get_told_rename(struct in *in, struct told_rename *told);

/* In a trace file: what a program was made to wait, dropped, did not follow. */
struct told_losses {
    uint64_t waited_ns, dropped, unfollowed;
    uint64_t left,
        left_told; /* lost with its end; those of them whose numbers were told.  Older files have neither. */
};
void put_told_losses(struct out *out, const struct told_losses *told);
bool get_told_losses(struct in *in, struct told_losses *told);

#endif
