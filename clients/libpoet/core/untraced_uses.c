/* Untraced synchronization that the program uses, reported once for each reason and detail. */
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/untraced_uses.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/poet.h"
#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define UNSEEN_MOST 32u

static struct {
    uint8_t reason;
    char about[120];
} unseen[UNSEEN_MOST];
static _Atomic unsigned unseen_count;
static latch untraced_use_add_latch;
static _Atomic bool untraced_use_pending; /* one of them could not be sent */

static void untraced_use_encode(struct encoder *out, unsigned i)
{
    encoder_begin_message(out, MESSAGE_UNTRACED);
    encode_untraced(out,
                    &(struct untraced_message){unseen[i].reason, text_view_of(unseen[i].about)});
    encoder_end_message(out);
}

void untraced_use_announce(struct encoder *out)
{
    for (unsigned i = 0; i < atomic_load(&unseen_count); i++)
        untraced_use_encode(out, i);
}

static bool untraced_use_is_known(enum untraced_reason reason, const char *about)
{
    for (unsigned i = 0; i < atomic_load_explicit(&unseen_count, memory_order_acquire); i++)
        if (unseen[i].reason == reason && strcmp(unseen[i].about, about) == 0)
            return true;
    return false;
}

/* Returns its index, or UNSEEN_MOST if it was known or there are too many. */
static unsigned untraced_use_add(enum untraced_reason reason, const char *what)
{
    char about[sizeof unseen[0].about];
    size_t size = message_text_size(what, sizeof about - 1);
    memcpy(about, what, size);
    about[size] = 0;
    if (untraced_use_is_known(reason, about))
        return UNSEEN_MOST;
    latch_lock(&untraced_use_add_latch);
    unsigned at = untraced_use_is_known(reason, about) ? UNSEEN_MOST : atomic_load(&unseen_count);
    if (at < UNSEEN_MOST) {
        unseen[at].reason = (uint8_t)reason;
        memcpy(unseen[at].about, about, sizeof about);
        atomic_store_explicit(&unseen_count, at + 1, memory_order_release);
    }
    latch_unlock(&untraced_use_add_latch);
    return at;
}

/* Called in a child after fork: the thread that was adding does not exist. */
void untraced_use_forked(void) { latch_reset(&untraced_use_add_latch); }

/* Sent through the thread's queue, in the order of its events: this takes no lock. */
void poet_untraced(const char *what)
{
    struct traced_thread *t = what ? thread_recording() : NULL;
    if (!t)
        return;
    uint8_t bytes[160];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    int saved = errno;
    busy_begin(t);
    unsigned at = untraced_use_add(UNTRACED_RUNTIME, what);
    if (at < UNSEEN_MOST) {
        encode_untraced(
            &body, &(struct untraced_message){unseen[at].reason, text_view_of(unseen[at].about)});
        message_queue_send(t, MESSAGE_UNTRACED, &body);
    }
    busy_end(t);
    errno = saved;
}

void untraced_use_report(enum untraced_reason reason, const char *what)
{
    unsigned at = untraced_use_add(reason, what);
    uint32_t life = atomic_load(&current_lifetime);
    /* reported in the next lifetime */
    if (at >= UNSEEN_MOST || !life)
        return;
    uint8_t bytes[sizeof unseen[0].about + 32];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    untraced_use_encode(&out, at);
    if (!server_send(&out, life))
        atomic_store(&untraced_use_pending, true);
}

void untraced_use_forward(void)
{
    uint32_t life = atomic_load(&current_lifetime);
    if (!life || !atomic_load_explicit(&untraced_use_pending, memory_order_relaxed) ||
        !atomic_exchange(&untraced_use_pending, false))
        return;
    for (unsigned i = 0; i < atomic_load(&unseen_count); i++) {
        uint8_t bytes[sizeof unseen[0].about + 32];
        struct encoder out = {.data = bytes, .room = sizeof bytes};
        untraced_use_encode(&out, i);
        if (!server_send(&out, life)) {
            atomic_store(&untraced_use_pending, true);
            return;
        }
    }
}
