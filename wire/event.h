/* The words that every room shares: what an event is and how events relate.
 *
 * An event is one point on one trace line.  Lines are numbered by the server
 * from 1; events of a line are numbered by the client from 1 without gaps.
 * Hidden lines, which only carry order, have HIDDEN_LINE set and count apart.
 */
#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define HIDDEN_LINE 0x80000000u

/* Names one event.  line 0 names none. */
struct ref {
    uint32_t line;
    uint64_t number;
};

static inline bool ref_equal(struct ref a, struct ref b)
{
    return a.line == b.line && a.number == b.number;
}

/* How an event is tied to others.
 *   NONE     to nothing but its line and its thread
 *   SYNC     one point of the order with its one partner
 *   SEND     before each of its partners, the receives
 *   RECEIVE  after each of its partners, the sends
 *   ORDER    after its partner, without an arrow of its own
 *   GROUP    one point with all members of its group */
enum relation {
    RELATION_NONE,
    RELATION_SYNC,
    RELATION_SEND,
    RELATION_RECEIVE,
    RELATION_ORDER,
    RELATION_GROUP,
    RELATION_COUNT
};

/* What the server makes of an event. */
enum event_state { EVENT_ORDERED, EVENT_PENDING, EVENT_CONTRADICTORY };

/* Answer to "how does A stand to B": BEFORE means A happened before B. */
enum precedence {
    ORDER_BEFORE,
    ORDER_AFTER,
    ORDER_CONCURRENT,
    ORDER_SAME,
    ORDER_UNKNOWN
};

/* Why an order may be there that is not told.  One that HIDES may have hidden a path between two events
 * that are not ordered by what is known: the answer is then UNKNOWN.  The others are mechanisms that are
 * not followed at all: the answer is CONCURRENT, with them as its reasons. */
#define UNSEEN_REASONS(R)                                                                           \
    R(1, LOST, true, "numbers were lost")                                                           \
    R(2, STREAM, true, "a stream of bytes was not followed any more")                               \
    R(3, THREAD, true, "a thread or process was not seen from its beginning, or not to its end")    \
    R(4, BARRIER, true, "the rounds of a barrier could not be told")                                \
    R(5, SIGNAL, true, "it could not be told which signal woke a thread")                           \
    R(6, OBJECT, true, "it could not be told whether two objects at one address are one")           \
    R(7, HANDLER, true, "calls in a signal handler could not be recorded")                          \
    R(8, FUTEX, false, "futexes of the program's own are not followed")                             \
    R(9, ATOMIC, false, "atomics are not followed")                                                 \
    R(10, RUNTIME, false, "a language or library synchronises by means that are not followed")

enum unseen {
    UNSEEN_NONE,
#define R(number, name, hides, text) UNSEEN_##name = number,
    UNSEEN_REASONS(R)
#undef R
    UNSEEN_COUNT
};
#define UNSEEN_BIT(reason) (1u << (reason))

/* Why there is no answer to a question about two events, beside those. */
#define UNANSWERED_REASONS(R)                                                                       \
    R(16, PENDING, "an event waits for others and has no place in the order yet")                   \
    R(17, CONTRADICTORY, "an event contradicts the others")                                         \
    R(18, FORGOTTEN, "an event is forgotten")                                                       \
    R(19, GONE, "an event is lost")                                                                 \
    R(20, DAMAGED, "a part of the trace file cannot be read")

enum unanswered {
#define R(number, name, text) UNANSWERED_##name = number,
    UNANSWERED_REASONS(R)
#undef R
    UNANSWERED_COUNT
};

/* The words for a reason of either kind, "" if it is none; its name in lower case, NULL if it is none; and
 * whether it hides. */
const char *unseen_text(unsigned reason);
const char *unseen_name(unsigned reason);
bool unseen_hides(unsigned reason);

/* Where a thread is, seen from one line: not there, running there, blocked
 * there, or in it but running on another line now. */
enum presence { PRESENCE_OUT, PRESENCE_ACTIVE, PRESENCE_BLOCKED, PRESENCE_AWAY };

/* How many threads are in a line, by what they do.  Drawn as the line's style. */
struct presences {
    uint16_t active, blocked, away;
};

#endif
