/* Basic types that all modules share: events, how they are related, and why an order is unknown.
 *
 * An event is one point on one trace line. The server numbers lines from 1; the client numbers the
 * events of a line from 1 without gaps. Hidden lines, which only carry order, have HIDDEN_LINE set
 * and are numbered separately. */
#ifndef WIRE_EVENT_TYPES_H
#define WIRE_EVENT_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct decoder;
struct encoder;

#define HIDDEN_LINE 0x80000000u
/* From here on, positions in a stream between hosts are not bytes: there is one for each closing of
 * a writing end. A reader that reaches the end of the stream receives them all. */
#define STREAM_CLOSINGS (UINT64_C(1) << 62)

/* Identifies an event; line 0: no event. */
struct event_id {
    uint32_t line;
    uint64_t number;
};

static inline bool event_id_equal(struct event_id a, struct event_id b)
{
    return a.line == b.line && a.number == b.number;
}

/* The relation of an event to others.
 *   NONE     only to its line and its thread
 *   SYNC     simultaneous with its one partner
 *   SEND     happened before each of its partners, the receives
 *   RECEIVE  happened after each of its partners, the sends
 *   ORDER    happened after its partner, without an arrow of its own
 *   GROUP    simultaneous with all members of its group */
enum relation {
    RELATION_NONE,
    RELATION_SYNC,
    RELATION_SEND,
    RELATION_RECEIVE,
    RELATION_ORDER,
    RELATION_GROUP,
    RELATION_COUNT
};

/* The result of ordering an event. */
enum event_state { EVENT_ORDERED, EVENT_PENDING, EVENT_CONTRADICTORY };

/* The relation of A to B: BEFORE means that A happened before B. */
enum causal_relation { ORDER_BEFORE, ORDER_AFTER, ORDER_CONCURRENT, ORDER_SAME, ORDER_UNKNOWN };

/* The occupancy of a line by a thread: not in it, running in it, blocked in it, or in it but
 * currently running on another line. */
enum occupancy { OCCUPANCY_OUT, OCCUPANCY_ACTIVE, OCCUPANCY_BLOCKED, OCCUPANCY_AWAY };

/* The number of threads in a line by occupancy. Drawn as the style of the line. */
struct occupants {
    uint16_t active, blocked, away;
};

/* ---- reasons for untraced order, and why a query has no answer ---- */

/* Why events may be ordered by untraced synchronization. A reason that `hides` may have hidden a
 * causal chain between two events that are not ordered by recorded ones: the answer is then
 * UNKNOWN. The others are mechanisms that are never traced: the answer is CONCURRENT, qualified by
 * those reasons. A reason that a program reports holds for the whole run, except LINE, which
 * concerns calls on a line that could not be created, and is attached to all events that may be
 * after them, and CALLS, which concerns no order. */
#define UNTRACED_REASONS(R)                                                                        \
    R(1, LOST, true, "events were lost")                                                           \
    R(2, STREAM, true, "a byte stream was no longer traced")                                       \
    R(3, THREAD, true, "a thread or process was not traced from start to end")                     \
    R(4, BARRIER, true, "barrier rounds could not be distinguished")                               \
    R(5, SIGNAL, true, "ambiguous wake-up: several signals are possible")                          \
    R(6, OBJECT, true, "ambiguous object: an address may have been reused")                        \
    R(7, HANDLER, true, "calls in a signal handler were not recorded")                             \
    R(8, FUTEX, false, "raw futexes are not traced")                                               \
    R(9, ATOMIC, false, "atomic operations are not traced")                                        \
    R(10, RUNTIME, false, "a language runtime or library uses untraced synchronization")           \
    R(11, CALL, true, "untraced code used an object of the program")                               \
    R(12, LINE, true, "a trace line could not be created")                                         \
    R(13, CALLS, false, "calls of a thread were not measured")                                     \
    R(14, IMPORTED, true, "an imported trace has only a part of the order")

/* clang-format off */
enum untraced_reason {
    UNTRACED_NONE,
#define R(number, name, hides, text) UNTRACED_##name = number,
    UNTRACED_REASONS(R)
#undef R
    UNTRACED_COUNT
};
/* clang-format on */
#define UNTRACED_BIT(reason) (1u << (reason))

/* Why a query about two events has no answer, in addition to those. */
#define UNANSWERED_REASONS(R)                                                                      \
    R(16, PENDING, "an event is pending")                                                          \
    R(17, CONTRADICTORY, "an event is inconsistent")                                               \
    R(18, FORGOTTEN, "an event was discarded")                                                     \
    R(19, GONE, "an event was lost")                                                               \
    R(20, DAMAGED, "part of the trace file is unreadable")

/* clang-format off */
enum unanswered_reason {
#define R(number, name, text) UNANSWERED_##name = number,
    UNANSWERED_REASONS(R)
#undef R
    UNANSWERED_COUNT
};
/* clang-format on */

/* Return the text of a reason of either kind, "" if invalid; its name in lower case, NULL if
 * invalid; and whether it hides order. */
const char *untraced_text(unsigned reason);
const char *untraced_name(unsigned reason);
bool untraced_may_hide_order(unsigned reason);

/* ---- encoding of event ids and of occupants ---- */

#define EVENT_ID_BYTES 12u

void encode_event_id(struct encoder *out, struct event_id ref);
struct event_id decode_event_id(struct decoder *in);

/* A count, and that many ids. The caller frees the decoded array. */
void encode_event_ids(struct encoder *out, const struct event_id *refs, uint32_t count);
struct event_id *decode_event_ids(struct decoder *in, uint32_t *count);

void encode_occupants(struct encoder *out, struct occupants presences);
struct occupants decode_occupants(struct decoder *in);
#define OCCUPANTS_BYTES 6u

#endif
