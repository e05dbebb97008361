/* What the program does that is not followed, told once for each reason and what it is about. */
#include "clients/trace/core/tell.h"
#include "clients/trace/core/unseen.h"

#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/text.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/poet.h"
#include "wire/event.h"
#include "wire/message.h"
#include "wire/told.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define UNSEEN_MOST 32u

static struct {
    uint8_t reason;
    char about[120];
} unseen[UNSEEN_MOST];
static _Atomic unsigned unseen_count;
static latch adding;
static _Atomic bool behind; /* the server had no time for one of them */

static void put_unseen(struct out *out, unsigned i)
{
    out_begin(out, MESSAGE_UNSEEN);
    put_told_unseen(out, &(struct told_unseen){unseen[i].reason, text_of(unseen[i].about)});
    out_end(out);
}

void unseen_announce(struct out *out)
{
    for (unsigned i = 0; i < atomic_load(&unseen_count); i++)
        put_unseen(out, i);
}

static bool known(enum unseen reason, const char *about)
{
    for (unsigned i = 0; i < atomic_load_explicit(&unseen_count, memory_order_acquire); i++)
        if (unseen[i].reason == reason && strcmp(unseen[i].about, about) == 0)
            return true;
    return false;
}

/* Its place, or UNSEEN_MOST if it was known or there are too many. */
static unsigned add(enum unseen reason, const char *what)
{
    char about[sizeof unseen[0].about];
    size_t size = text_size(what, sizeof about - 1);
    memcpy(about, what, size);
    about[size] = 0;
    if (known(reason, about))
        return UNSEEN_MOST;
    latch_take(&adding);
    unsigned at = known(reason, about) ? UNSEEN_MOST : atomic_load(&unseen_count);
    if (at < UNSEEN_MOST) {
        unseen[at].reason = (uint8_t)reason;
        memcpy(unseen[at].about, about, sizeof about);
        atomic_store_explicit(&unseen_count, at + 1, memory_order_release);
    }
    latch_give(&adding);
    return at;
}

/* In a child after fork: who was adding is not there. */
void unseen_forked(void) { latch_reset(&adding); }

/* Through the thread's queue, with the order of its events: no lock is taken on the way. */
void poet_unseen(const char *what)
{
    struct thread *t = what ? thread_recording() : NULL;
    if (!t)
        return;
    uint8_t bytes[160];
    struct out body = {.data = bytes, .room = sizeof bytes};
    int saved = errno;
    busy_begin(t);
    unsigned at = add(UNSEEN_RUNTIME, what);
    if (at < UNSEEN_MOST) {
        put_told_unseen(&body, &(struct told_unseen){unseen[at].reason, text_of(unseen[at].about)});
        tell_control(t, MESSAGE_UNSEEN, &body);
    }
    busy_end(t);
    errno = saved;
}

void unseen_tell(enum unseen reason, const char *what)
{
    unsigned at = add(reason, what);
    uint32_t life = atomic_load(&live);
    if (at >= UNSEEN_MOST || !life)
        return; /* the next life tells it */
    uint8_t bytes[sizeof unseen[0].about + 32];
    struct out out = {.data = bytes, .room = sizeof bytes};
    put_unseen(&out, at);
    if (!server_send(&out, life))
        atomic_store(&behind, true);
}

void unseen_pass_on(void)
{
    uint32_t life = atomic_load(&live);
    if (!life || !atomic_load_explicit(&behind, memory_order_relaxed) ||
        !atomic_exchange(&behind, false))
        return;
    for (unsigned i = 0; i < atomic_load(&unseen_count); i++) {
        uint8_t bytes[sizeof unseen[0].about + 32];
        struct out out = {.data = bytes, .room = sizeof bytes};
        put_unseen(&out, i);
        if (!server_send(&out, life)) {
            atomic_store(&behind, true);
            return;
        }
    }
}
