/* Calls that bring something from outside: what they return is recorded (POET_INPUT), and given back in a run that is
 * repeated.
 *
 * Calls in signal handlers pass through, and are counted: when a signal comes is not repeated.  Only what the program
 * itself calls is looked at.  Where nothing is wanted a call goes on by a jump: whoever stands behind us sees who made
 * it. */
#define _GNU_SOURCE
#include "clients/trace/calls/input.h"

#include "clients/trace/calls/behind.h"
#include "clients/trace/calls/outside.h"
#include "clients/trace/calls/streams.h"
#include "clients/trace/core/environ.h"
#include "clients/trace/core/likely.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/text.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/given.h"

#include <errno.h>
#include <string.h>

bool input_looks, input_gives;
static bool records;
static _Atomic uint64_t recorded_bytes; /* by this process */
static __thread struct {
    int handlers; /* that the thread is in */
    uint32_t life; /* of which the next is so: a child tells it anew */
    bool cut, told; /* nothing more is recorded; which the server knows */
    uint64_t passed;
} mine __attribute__((tls_model("initial-exec")));

void input_find(void) { behind_find(); }

/* ---- recording ---- */

static bool tell(struct thread *t, const struct input *input)
{
    busy_begin(t);
    struct out body = message_room(t, NULL, 0, INPUT_HEAD_BYTES + input->size);
    if (!body.failed)
        put_input(&body, input);
    bool told = !body.failed && tell_control(t, MESSAGE_INPUT, &body);
    busy_end(t);
    return told;
}

static void tell_rest(struct thread *t)
{
    if (mine.passed &&
        tell(t, &(struct input){.flags = INPUT_PASSED, .result = (int64_t)mine.passed}))
        mine.passed = 0;
    if (mine.cut && !mine.told)
        mine.told = tell(t, &(struct input){.flags = INPUT_CUT});
}

/* One place of those that bytes were brought to; false: there are no more. */
static bool place(const struct brought *brought, size_t i, struct iovec *at)
{
    if (i >= INPUT_FRONT + brought->count)
        return false;
    *at = i < INPUT_FRONT ? brought->front[i] : brought->iov[i - INPUT_FRONT];
    return true;
}

static bool tell_pieces(struct thread *t, struct input call, const struct brought *brought)
{
    struct iovec at;
    size_t left = brought->size;
    for (size_t i = 0; left && place(brought, i, &at); i++)
        for (size_t done = 0; left && done < at.iov_len; done += call.size) {
            size_t most = at.iov_len - done < left ? at.iov_len - done : left;
            call.size = most < INPUT_PIECE_BYTES ? (uint32_t)most : INPUT_PIECE_BYTES;
            call.bytes = (const uint8_t *)at.iov_base + done;
            left -= call.size;
            call.flags = left ? INPUT_MORE : 0;
            if (!tell(t, &call))
                return false;
        }
    return true;
}

static bool tell_call(struct thread *t, const struct input *call, const struct brought *brought)
{
    static const uint8_t nothing[1];
    struct input bare = *call;
    bare.bytes = nothing;
    return brought->size ? tell_pieces(t, bare, brought) : tell(t, &bare);
}

static void record(struct thread *t, const struct input *call, const struct brought *brought)
{
    uint64_t pieces = brought->size / INPUT_PIECE_BYTES + INPUT_FRONT + brought->count;
    uint64_t all = brought->size + pieces * INPUT_HEAD_BYTES;
    int saved = errno;
    if (mine.life != t->life) {
        mine.life = t->life;
        mine.cut = mine.told = false;
    }
    if (!mine.cut)
        mine.cut = atomic_fetch_add(&recorded_bytes, all) + all > LIMIT_INPUT_BYTES ||
                   !tell_call(t, call, brought);
    if (mine.passed || (mine.cut && !mine.told))
        tell_rest(t);
    errno = saved;
}

/* ---- which calls ---- */

void input_handler(int enters) { mine.handlers += enters; }

struct thread *input_who(uintptr_t site)
{
    struct thread *t = site ? thread_recording() : NULL;
    if (t && !mine.handlers)
        return t;
    mine.passed += t != NULL && records;
    return NULL;
}

bool input_given(struct thread *t, struct input *call, struct given *g)
{
    int saved = errno;
    bool given = input_gives && given_find(t, call, g);
    errno = given && call->result < 0 ? (int)call->error : saved;
    return given;
}

bool input_give(struct thread *t, struct input *call, void *bytes, size_t room)
{
    struct given g;
    if (!input_given(t, call, &g))
        return false;
    given_read(&g, bytes, room);
    return true;
}

void input_end_of(struct thread *t, struct input *call, int64_t result,
                  const struct brought *brought)
{
    call->result = result;
    call->error = result < 0 ? (uint32_t)errno : 0;
    if (records)
        record(t, call, brought);
}

void input_end(struct thread *t, struct input *call, int64_t result, const void *bytes, size_t size)
{
    struct brought brought = {.front = {{(void *)(uintptr_t)bytes, size}}, .size = size};
    input_end_of(t, call, result, &brought);
}

void input_end_own(struct thread *t, struct input *call)
{
    call->flags = INPUT_OWN;
    input_end_of(t, call, 0, &(struct brought){.size = 0});
}

/* ---- the beginning ---- */

void input_begin(bool first)
{
    const char *wanted = environment_get("POET_INPUT");
    records = wanted && *wanted && strcmp(wanted, "0") != 0;
    input_gives = given_begin();
    if (first && (records || input_gives))
        outside_inherited();
    input_looks = records || input_gives;
}

void input_streams(void)
{
    struct thread *t = records && streams_read() ? thread_recording() : NULL;
    if (t)
        tell(t, &(struct input){.flags = INPUT_STREAMS});
}
