/* Calls that get input from outside of the run: their results are recorded (POET_INPUT) and
 * replayed. Calls in signal handlers are passed through, and counted: the time of a signal is not
 * replayed. Only calls of the program itself are recorded. If nothing is recorded, a call is passed
 * on by a jump, so that the next interposing library sees the original caller. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/input_calls.h"

#include "clients/libpoet/interpose/next_input.h"
#include "clients/libpoet/interpose/external_fds.h"
#include "clients/libpoet/interpose/stdio_use.h"
#include "clients/libpoet/core/environment.h"
#include "base/likely.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/replay/replayed_input.h"

#include <errno.h>
#include <string.h>

bool input_call_is_traced, input_call_is_replayed;
static bool input_call_records;
static _Atomic uint64_t recorded_bytes; /* by this process */
static __thread struct {
    int handlers; /* that the thread is in */
    uint32_t life; /* for which `cut` and `told` hold: a child reports it again */
    bool cut, reported; /* nothing more is recorded, which was reported to the server */
    uint64_t passed;
} input_call_mine __attribute__((tls_model("initial-exec")));

void input_call_find_functions(void) { next_input_find(); }

/* ---- recording ---- */

static bool input_call_send(struct traced_thread *t, const struct input *input)
{
    busy_begin(t);
    struct encoder body = message_text_buffer(t, NULL, 0, INPUT_HEAD_BYTES + input->size);
    if (!body.failed)
        encode_input(&body, input);
    bool sent = !body.failed && message_queue_send(t, MESSAGE_INPUT, &body);
    busy_end(t);
    return sent;
}

static void input_call_send_rest(struct traced_thread *t)
{
    if (input_call_mine.passed &&
        input_call_send(
            t, &(struct input){.flags = INPUT_PASSED, .result = (int64_t)input_call_mine.passed}))
        input_call_mine.passed = 0;
    if (input_call_mine.cut && !input_call_mine.reported)
        input_call_mine.reported = input_call_send(t, &(struct input){.flags = INPUT_CUT});
}

/* Gets one of the scattered buffers. Returns false if there are no more. */
static bool input_call_get_buffer(const struct input_buffers *brought, size_t i, struct iovec *at)
{
    if (i >= INPUT_FRONT + brought->count)
        return false;
    *at = i < INPUT_FRONT ? brought->front[i] : brought->iov[i - INPUT_FRONT];
    return true;
}

static bool input_call_send_pieces(struct traced_thread *t, struct input call,
                                   const struct input_buffers *brought)
{
    struct iovec at;
    size_t left = brought->size;
    for (size_t i = 0; left && input_call_get_buffer(brought, i, &at); i++)
        for (size_t done = 0; left && done < at.iov_len; done += call.size) {
            size_t most = at.iov_len - done < left ? at.iov_len - done : left;
            call.size = most < INPUT_PIECE_BYTES ? (uint32_t)most : INPUT_PIECE_BYTES;
            call.bytes = (const uint8_t *)at.iov_base + done;
            left -= call.size;
            call.flags = left ? INPUT_MORE : 0;
            if (!input_call_send(t, &call))
                return false;
        }
    return true;
}

static bool input_call_send_call(struct traced_thread *t, const struct input *call,
                                 const struct input_buffers *brought)
{
    static const uint8_t nothing[1];
    struct input bare = *call;
    bare.bytes = nothing;
    return brought->size ? input_call_send_pieces(t, bare, brought) : input_call_send(t, &bare);
}

static void input_call_record(struct traced_thread *t, const struct input *call,
                              const struct input_buffers *brought)
{
    uint64_t pieces = brought->size / INPUT_PIECE_BYTES + INPUT_FRONT + brought->count;
    uint64_t all = brought->size + pieces * INPUT_HEAD_BYTES;
    int saved = errno;
    if (input_call_mine.life != t->life) {
        input_call_mine.life = t->life;
        input_call_mine.cut = input_call_mine.reported = false;
    }
    if (!input_call_mine.cut)
        input_call_mine.cut = atomic_fetch_add(&recorded_bytes, all) + all > LIMIT_INPUT_BYTES ||
                              !input_call_send_call(t, call, brought);
    if (input_call_mine.passed || (input_call_mine.cut && !input_call_mine.reported))
        input_call_send_rest(t);
    errno = saved;
}

/* ---- which calls ---- */

void input_call_enter_handler(int enters) { input_call_mine.handlers += enters; }

struct traced_thread *input_call_thread(uintptr_t site)
{
    struct traced_thread *t = site ? thread_recording() : NULL;
    if (t && !input_call_mine.handlers)
        return t;
    input_call_mine.passed += t != NULL && input_call_records;
    return NULL;
}

bool input_call_replay(struct traced_thread *t, struct input *call, struct replayed_input *g)
{
    int saved = errno;
    bool given = input_call_is_replayed && replayed_input_find(t, call, g);
    errno = given && call->result < 0 ? (int)call->error : saved;
    return given;
}

bool input_call_replay_bytes(struct traced_thread *t, struct input *call, void *bytes, size_t room)
{
    struct replayed_input g;
    if (!input_call_replay(t, call, &g))
        return false;
    replayed_input_read(&g, bytes, room);
    return true;
}

void input_call_end_vector(struct traced_thread *t, struct input *call, int64_t result,
                           const struct input_buffers *brought)
{
    call->result = result;
    call->error = result < 0 ? (uint32_t)errno : 0;
    if (input_call_records)
        input_call_record(t, call, brought);
}

void input_call_end(struct traced_thread *t, struct input *call, int64_t result, const void *bytes,
                    size_t size)
{
    struct input_buffers brought = {.front = {{(void *)(uintptr_t)bytes, size}}, .size = size};
    input_call_end_vector(t, call, result, &brought);
}

void input_call_end_local(struct traced_thread *t, struct input *call)
{
    call->flags = INPUT_OWN;
    input_call_end_vector(t, call, 0, &(struct input_buffers){.size = 0});
}

/* ---- the beginning ---- */

void input_call_begin(bool first)
{
    const char *wanted = environment_get("POET_INPUT");
    input_call_records = wanted && *wanted && strcmp(wanted, "0") != 0;
    input_call_is_replayed = replayed_input_begin();
    if (first && (input_call_records || input_call_is_replayed))
        external_fd_add_inherited();
    input_call_is_traced = input_call_records || input_call_is_replayed;
}

void input_call_report_stdio(void)
{
    struct traced_thread *t =
        input_call_records && stdio_use_report_reads() ? thread_recording() : NULL;
    if (t)
        input_call_send(t, &(struct input){.flags = INPUT_STREAMS});
}
