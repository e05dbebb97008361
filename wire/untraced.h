/* Reasons for untraced order, and reasons why a query has no answer. */
#ifndef WIRE_UNTRACED_H
#define WIRE_UNTRACED_H

#include <stdbool.h>

/* Why events may be ordered by untraced synchronization. A reason that `hides` may have hidden a
 * causal chain between two events that are not ordered by recorded ones: the answer is then
 * UNKNOWN. The others are mechanisms that are never traced: the answer is CONCURRENT, qualified by
 * those reasons. A reason that a program reports holds for the whole run, except LINE, which
 * concerns calls on a line that could not be created, and is attached to all events that may be
 * after them. */
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

#endif
