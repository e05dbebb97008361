#define _GNU_SOURCE
#include "clients/trace/replay/given.h"

#include "clients/trace/core/environ.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/part.h"
#include "clients/trace/replay/shared.h"
#include "clients/trace/replay/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct input_head *recorded;

static const struct input_head *map(const char *path, uint64_t *bytes)
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

bool given_begin(void)
{
    const char *path = environment_get("POET_REPLAY_INPUT");
    uint64_t bytes = 0;
    if (!path || !*path || !script)
        return false;
    const struct input_head *head = map(path, &bytes);
    const char *wrong = head ? input_look(head, bytes) : strerror(errno);
    if (wrong)
        say("POET_REPLAY_INPUT: %s: %s: input is as it is now", path, wrong);
    else
        recorded = head;
    return recorded != NULL;
}

static void differ(const struct part *p, const struct input *call, const struct input *was)
{
    struct script_end end = {.why = SCRIPT_INPUT,
                             .thread = (uint32_t)(p->line - script_line(0)),
                             .event = p->next,
                             .line = was->call,
                             .number = was->asked < UINT32_MAX ? (uint32_t)was->asked : UINT32_MAX,
                             .by = call->asked < UINT32_MAX ? (uint32_t)call->asked : UINT32_MAX};
    strncpy(end.did, input_name(call->call), sizeof end.did - 1);
    script_leave(&end);
}

/* All pieces of the next call of the line, into bytes where that is not NULL; false: it is another one, or none. */
static bool walk(uint32_t line, uint64_t *at, const struct input *call, struct input *was,
                 uint8_t *bytes, size_t room)
{
    size_t done = 0;
    do {
        if (!input_next(recorded, line, at, was) || call->call != was->call ||
            call->asked != was->asked)
            return false;
        size_t most = was->size < room - done ? was->size : room - done;
        if (bytes && most)
            memcpy(bytes + done, was->bytes, most);
        done += most;
    } while (was->flags & INPUT_MORE);
    return true;
}

bool given_take(struct thread *t, struct input *call, void *bytes, size_t room)
{
    if (!recorded || !part_plays(t))
        return false;
    struct part *p = &t->part;
    uint32_t line = (uint32_t)(p->line - script_line(0));
    uint64_t from = p->given_line == line ? p->given : 0, at = from;
    struct input was = {0};
    if (!walk(line, &at, call, &was, NULL, room)) {
        if (was.call && (was.call != call->call || was.asked != call->asked))
            differ(p, call, &was);
        return false;
    }
    if (call->call != INPUT_RECV && bytes && was.result > 0 && (uint64_t)was.result > room)
        return false; /* no call returned that */
    walk(line, &from, call, &was, bytes, room);
    p->given_line = line;
    p->given = at;
    call->result = was.result;
    call->error = was.error;
    return true;
}
