#include "clients/poet/deadlock.h"

#include "clients/source/waits.h"

static void take(void *user, const struct answer *answer) { waits_take(user, answer); }

bool deadlock_get(const struct command *command, struct subject *subject, struct ref **pairs,
                  uint32_t *count)
{
    struct waits waits = {0};
    bool ok = subject_ask(command, subject, ASK_WAITS, NULL, take, &waits);
    if (ok)
        *pairs = waits_pairs(&waits, count);
    waits_free(&waits);
    return ok;
}
