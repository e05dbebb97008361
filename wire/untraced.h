/* Reasons: why an order may be there that is not told, and why there is no answer. */
#ifndef WIRE_UNTRACED_H
#define WIRE_UNTRACED_H

#include <stdbool.h>

/* Why an order may be there that is not told.  One that HIDES may have hidden a path between two
 * events that are not ordered by what is known: the answer is then UNKNOWN.  The others are
 * mechanisms that are not followed at all: the answer is CONCURRENT, with them as its reasons.
 * What a program tells of itself holds for the whole run, but for LINE: of calls on a line that
 * could not be announced, all events that may be after them bear it. */
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
    R(12, LINE, true, "a trace line could not be created")

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

/* Why there is no answer to a question about two events, beside those. */
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

/* The words for a reason of either kind, "" if it is none; its name in lower case, NULL if it is
 * none; and whether it hides. */
const char *untraced_text(unsigned reason);
const char *untraced_name(unsigned reason);
bool untraced_may_hide_order(unsigned reason);

#endif
