#include "server/peers/merging.h"

#include "memory/memory.h"
#include "server/agent/stream.h"
#include "server/peers/begun.h"
#include "server/peers/server.h"
#include "server/peers/telling.h"
#include "server/taking/origin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (256u << 10)

struct merged {
    const char *path;
    struct stream *stream;
    struct origin *origin;
    bool begun, done;
};

static bool complain(const char *path, const char *why)
{
    fprintf(stderr, "poet merge: %s: %s\n", path, why);
    return false;
}

static bool open_all(struct merged *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *why;
        all[i].stream = stream_of_file(all[i].path, &why);
        if (!all[i].stream)
            return complain(all[i].path, why);
        for (size_t k = 0; k < i; k++)
            if (all[i].stream->run && all[k].stream->run &&
                memcmp(all[i].stream->id, all[k].stream->id, FORWARD_ID_BYTES) == 0)
                return complain(all[i].path, "is there twice");
        all[i].origin = origin_new(all[i].stream->id);
    }
    return true;
}

/* The next chunks of a file go into the journal; the first ones only until its first program is there: while
 * somebody is whose file comes later, nobody has waited in vain. */
static bool take(struct server *server, struct run *run, struct merged *file, struct out *raw)
{
    bool begun = file->begun;
    struct forwarded_chunk chunk;
    uint64_t first = file->stream->next;
    uint32_t count = 0;
    const char *why = NULL;
    raw->size = 0;
    for (; raw->size < BATCH_BYTES && begun == file->begun && stream_next(file->stream, &chunk);
         count++) {
        put_forwarded_chunk(raw, &chunk);
        file->begun |= chunk.kind == CHUNK_SESSION;
    }
    file->done = !count;
    if (!count)
        return true;
    taker_enter(server->taker);
    enum origin_took took =
        origin_take(file->origin, run->taking, first, count, raw->data, raw->size, &why);
    taker_leave(server->taker);
    if (took == ORIGIN_TOOK)
        return true;
    return complain(took == ORIGIN_FULL ? run->file : file->path,
                    took == ORIGIN_FULL ? strerror(errno) : why);
}

/* In turn: what one did waits in the order for what another did before. */
static bool take_all(struct server *server, struct run *run, struct merged *all, size_t count)
{
    struct out raw = {0};
    bool more = true, good = true;
    struct share share = share_of(UINT64_MAX / 2);
    while (more && good) {
        more = false;
        for (size_t i = 0; i < count && good; i++) {
            good = all[i].done || take(server, run, &all[i], &raw);
            more |= !all[i].done;
        }
        while (good && !telling_go_on(server, share, share))
            ;
    }
    out_free(&raw);
    return good && telling_finish(server, run, share);
}

bool merge(struct server *server, const char *const *files, size_t count)
{
    struct merged *all = memory_zeroed(count, sizeof *all);
    char why[512];
    struct run *run = NULL;
    for (size_t i = 0; i < count; i++)
        all[i].path = files[i];
    bool good = open_all(all, count);
    if (good) {
        const char *key = all[0].stream->run;
        run = runs_find(&server->runs, key && *key ? key : "merged", why, sizeof why);
        good = run || complain(server->runs.output, why);
    }
    if (good)
        run_begun(server, run);
    good = good && take_all(server, run, all, count);
    for (size_t i = 0; i < count; i++) {
        if (good && following_is_cut(all[i].stream->following))
            complain(all[i].path, "is damaged, or was cut off: what is before that was taken");
        if (all[i].stream)
            stream_free(all[i].stream);
        if (all[i].origin)
            origin_free(all[i].origin);
    }
    free(all);
    return good;
}
