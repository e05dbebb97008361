#include "wire/unseen.h"

#include <stddef.h>

const char *unseen_text(unsigned reason)
{
    switch (reason) {
#define R(number, name, hides, text)                                                               \
    case number:                                                                                   \
        return text;
        UNSEEN_REASONS(R)
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

const char *unseen_name(unsigned reason)
{
    static const char *const names[] = {
        NULL,      "lost",  "stream",  "thread",        "barrier",   "signal", "object",
        "handler", "futex", "atomic",  "runtime",       "call",      "line",   NULL,
        NULL,      NULL,    "pending", "contradictory", "forgotten", "gone",   "damaged"};
    _Static_assert(UNSEEN_COUNT == 13 && UNANSWERED_COUNT == sizeof names / sizeof *names,
                   "a name each");
    return reason < UNANSWERED_COUNT ? names[reason] : NULL;
}

bool unseen_hides(unsigned reason)
{
#define R(number, name, hides, text) | (hides ? UNSEEN_BIT(number) : 0)
    static const unsigned hiding = 0 UNSEEN_REASONS(R);
#undef R
    return reason < UNSEEN_COUNT && hiding & UNSEEN_BIT(reason);
}
