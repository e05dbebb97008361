#include "wire/untraced.h"

#include <stddef.h>

const char *untraced_text(unsigned reason)
{
    switch (reason) {
#define R(number, name, hides, text)                                                               \
    case number:                                                                                   \
        return text;
        UNTRACED_REASONS(R)
#undef R
#define R(number, name, text)                                                                      \
    case number:                                                                                   \
        return text;
        UNANSWERED_REASONS(R)
#undef R
    default:
        return "";
    }
}

const char *untraced_name(unsigned reason)
{
    static const char *const names[] = {
        NULL,      "lost",  "stream",  "thread",        "barrier",   "signal", "object",
        "handler", "futex", "atomic",  "runtime",       "call",      "line",   NULL,
        NULL,      NULL,    "pending", "contradictory", "forgotten", "gone",   "damaged"};
    _Static_assert(UNTRACED_COUNT == 13 && UNANSWERED_COUNT == sizeof names / sizeof *names,
                   "a name each");
    return reason < UNANSWERED_COUNT ? names[reason] : NULL;
}

bool untraced_may_hide_order(unsigned reason)
{
#define R(number, name, hides, text) | (hides ? UNTRACED_BIT(number) : 0)
    static const unsigned hiding = 0 UNTRACED_REASONS(R);
#undef R
    return reason < UNTRACED_COUNT && hiding & UNTRACED_BIT(reason);
}
