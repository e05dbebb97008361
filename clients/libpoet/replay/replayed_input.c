#define _GNU_SOURCE
#include "clients/libpoet/replay/replayed_input.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "clients/libpoet/replay/shared_schedule.h"
#include "clients/libpoet/replay/replay_ticket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct input_head *replayed_input_recorded;

static const struct input_head *replayed_input_map(const char *path, uint64_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *s = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        *bytes = (uint64_t)st.st_size;
        s = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return s == MAP_FAILED ? NULL : s;
}

bool replayed_input_begin(void)
{
    const char *path = environment_get("POET_REPLAY_INPUT");
    uint64_t bytes = 0;
    if (!path || !*path || !tracer.replay.schedule)
        return false;
    const struct input_head *head = replayed_input_map(path, &bytes);
    const char *wrong = head ? recorded_input_check(head, bytes) : strerror(errno);
    if (wrong)
        stderr_log_print_once("POET_REPLAY_INPUT: %s: %s; using live input", path, wrong);
    else
        replayed_input_recorded = head;
    return replayed_input_recorded != NULL;
}

/* Returns the difference of two requested calls. */
static uint32_t replayed_input_describe(const struct input *call, const struct input *other)
{
    uint64_t asked = call->asked;
    if (call->call == INPUT_PREAD && other->call == INPUT_PREAD)
        asked = recorded_input_length(call) != recorded_input_length(other)
                    ? recorded_input_length(call)
                    : asked >> 32;
    else if (call->call == INPUT_PREAD)
        asked = recorded_input_length(call);
    return asked < UINT32_MAX ? (uint32_t)asked : UINT32_MAX;
}

static void replayed_input_diverge(const struct thread_schedule *p, const struct input *call,
                                   const struct input *was)
{
    struct schedule_end end = {.why = SCHEDULE_END_INPUT,
                               .thread = (uint32_t)(p->line - shared_schedule_line(0)),
                               .event = p->next,
                               .line = was->call,
                               .number = replayed_input_describe(was, call),
                               .by = replayed_input_describe(call, was)};
    strncpy(end.did, recorded_input_name(call->call), sizeof end.did - 1);
    shared_schedule_abandon(&end);
}

/* Skips to the end of the next call of the line. Returns false if it is another call, or none. */
static bool replayed_input_skip_call(uint32_t line, uint64_t *at, const struct input *call,
                                     struct input *was)
{
    do {
        if (!recorded_input_next(replayed_input_recorded, line, at, was) ||
            call->call != was->call || call->asked != was->asked)
            return false;
    } while (was->flags & INPUT_MORE);
    return true;
}

/* More bytes may be reported as received than there was room for. */
static bool replayed_input_can_be(const struct input *was)
{
    bool is_read = was->call == INPUT_READ || was->call == INPUT_READV ||
                   was->call == INPUT_PREAD || was->call == INPUT_GETRANDOM;
    return !is_read || was->result <= 0 || (uint64_t)was->result <= recorded_input_length(was);
}

/* Returns its line, and sets where the next of its calls is. */
static uint32_t replayed_input_next(const struct thread_schedule *p, uint64_t *at)
{
    uint32_t line = (uint32_t)(p->line - shared_schedule_line(0));
    *at = p->given_line == line ? p->given : 0;
    return line;
}

bool replayed_input_fails(struct traced_thread *t)
{
    struct input was;
    uint64_t at;
    if (!replayed_input_recorded || !thread_schedule_active(t))
        return false;
    uint32_t line = replayed_input_next(&t->schedule, &at);
    return recorded_input_next(replayed_input_recorded, line, &at, &was) && was.result < 0;
}

bool replayed_input_find(struct traced_thread *t, struct input *call, struct replayed_input *g)
{
    if (!replayed_input_recorded || !thread_schedule_active(t))
        return false;
    struct thread_schedule *p = &t->schedule;
    uint64_t from, at;
    uint32_t line = replayed_input_next(p, &from);
    struct input was = {0};
    at = from;
    if (!replayed_input_skip_call(line, &at, call, &was)) {
        if (was.call && (was.call != call->call || was.asked != call->asked))
            replayed_input_diverge(p, call, &was);
        return false;
    }
    if (!replayed_input_can_be(&was))
        return false;
    p->given_line = line;
    p->given = at;
    if (was.flags & INPUT_OWN)
        return false;
    *g = (struct replayed_input){.line = line, .at = from, .end = at};
    call->result = was.result;
    call->error = was.error;
    return true;
}

size_t replayed_input_read(struct replayed_input *g, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        if (g->used == g->piece.size) {
            g->used = 0;
            if (g->at >= g->end ||
                !recorded_input_next(replayed_input_recorded, g->line, &g->at, &g->piece)) {
                g->at = g->end;
                g->piece.size = 0;
                break;
            }
        }
        size_t left = g->piece.size - g->used, most = left < size - done ? left : size - done;
        if (to && most)
            memcpy((uint8_t *)to + done, g->piece.bytes + g->used, most);
        g->used += (uint32_t)most;
        done += most;
    }
    return done;
}
