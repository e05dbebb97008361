#include "server/connections/journal_merge.h"

#include "base/alloc.h"
#include "server/forwarding/forwarded_stream.h"
#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/connections/journal_reader.h"
#include "server/journal/forwarded_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (256u << 10)

struct merged_journal {
    const char *path;
    struct outgoing_stream *stream;
    struct forwarded_source *origin;
    bool begun, done;
};

static bool journal_merge_report_error(const char *path, const char *why)
{
    fprintf(stderr, "poet merge: %s: %s\n", path, why);
    return false;
}

static bool open_all(struct merged_journal *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *why;
        all[i].stream = outgoing_stream_of_file(all[i].path, &why);
        if (!all[i].stream)
            return journal_merge_report_error(all[i].path, why);
        for (size_t k = 0; k < i; k++)
            if (all[i].stream->run && all[k].stream->run &&
                memcmp(all[i].stream->id, all[k].stream->id, FORWARD_ID_BYTES) == 0)
                return journal_merge_report_error(all[i].path, "duplicate journal");
        all[i].origin = forwarded_source_new(all[i].stream->id);
    }
    return true;
}

/* Writes the next chunks of a file to the journal; at first only until its first program is
 * there, so that no wait for a program of a later file times out. */
static bool journal_merge_take_chunks(struct server *server, struct run *run,
                                      struct merged_journal *file, struct encoder *raw)
{
    bool begun = file->begun;
    struct forwarded_chunk chunk;
    uint64_t first = file->stream->next;
    uint32_t count = 0;
    const char *why = NULL;
    raw->size = 0;
    for (; raw->size < BATCH_BYTES && begun == file->begun &&
           outgoing_stream_next(file->stream, &chunk);
         count++) {
        encode_forwarded_chunk(raw, &chunk);
        file->begun |= chunk.kind == CHUNK_SESSION;
    }
    file->done = !count;
    if (!count)
        return true;
    capture_lock(server->taker);
    enum receive_result took = forwarded_source_receive(file->origin, run_journal_capture(run),
                                                        first, count, raw->data, raw->size, &why);
    capture_unlock(server->taker);
    if (took == RECEIVE_DONE)
        return true;
    return journal_merge_report_error(took == RECEIVE_FULL ? run->file.path : file->path,
                                      took == RECEIVE_FULL ? strerror(errno) : why);
}

/* In turn: what one did waits in the order for what another did before. */
static bool journal_merge_take_all(struct server *server, struct run *run,
                                   struct merged_journal *all, size_t count)
{
    struct encoder raw = {0};
    bool more = true, good = true;
    struct loop_share share = loop_share_new(UINT64_MAX / 2);
    while (more && good) {
        more = false;
        for (size_t i = 0; i < count && good; i++) {
            good = all[i].done || journal_merge_take_chunks(server, run, &all[i], &raw);
            more |= !all[i].done;
        }
        while (good && !journal_reader_step(server, share, share))
            ;
    }
    encoder_free(&raw);
    return good && journal_reader_finish(server, run, share);
}

bool journal_merge(struct server *server, const char *const *files, size_t count)
{
    struct merged_journal *all = xcalloc(count, sizeof *all);
    char why[512];
    struct run *run = NULL;
    for (size_t i = 0; i < count; i++)
        all[i].path = files[i];
    bool good = open_all(all, count);
    if (good) {
        const char *key = all[0].stream->run;
        run = run_registry_find(&server->runs, key && *key ? key : "merged", why, sizeof why);
        good = run || journal_merge_report_error(server->runs.output, why);
    }
    if (good)
        run_journal_open(server, run);
    good = good && journal_merge_take_all(server, run, all, count);
    for (size_t i = 0; i < count; i++) {
        if (good && journal_follower_is_truncated(all[i].stream->following))
            journal_merge_report_error(all[i].path,
                                       "is damaged or truncated; data up to that point was used");
        if (all[i].stream)
            outgoing_stream_free(all[i].stream);
        if (all[i].origin)
            forwarded_source_free(all[i].origin);
    }
    free(all);
    return good;
}
