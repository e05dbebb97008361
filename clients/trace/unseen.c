/* What the program does that is not followed, told once for each reason and what it is about. */
#include "clients/trace/inside.h"

#include <string.h>

#define UNSEEN_MOST 32u

static struct {
    uint8_t reason;
    char about[120];
} unseen[UNSEEN_MOST];
static _Atomic unsigned unseen_count;
static latch adding;

static void put_unseen(struct out *out, unsigned i)
{
    out_begin(out, MESSAGE_UNSEEN);
    put_u8(out, unseen[i].reason);
    put_string(out, unseen[i].about);
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

void unseen_forked(void) { latch_reset(&adding); }

void unseen_tell(enum unseen reason, const char *what)
{
    char about[sizeof unseen[0].about];
    size_t size = text_size(what, sizeof about - 1);
    memcpy(about, what, size);
    about[size] = 0;
    if (known(reason, about))
        return;
    latch_take(&adding);
    unsigned at = atomic_load(&unseen_count);
    bool add = at < UNSEEN_MOST && !known(reason, about);
    if (add) {
        unseen[at].reason = (uint8_t)reason;
        memcpy(unseen[at].about, about, sizeof about);
        atomic_store_explicit(&unseen_count, at + 1, memory_order_release);
    }
    latch_give(&adding);
    uint32_t life = atomic_load(&live);
    if (!add || !life)
        return; /* the next life tells it */
    uint8_t bytes[sizeof about + 32];
    struct out out = {.data = bytes, .room = sizeof bytes};
    put_unseen(&out, at);
    server_send(&out, life);
}
