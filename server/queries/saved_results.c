#define _GNU_SOURCE
#include "server/queries/saved_results.h"

#include "base/clock.h"
#include "server/queries/result_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <xxhash.h>

#ifndef SAVED_EVENTS_MIN /* tests make it small */
#define SAVED_EVENTS_MIN ((uint64_t)1 << 18)
#endif

/* All that a result is computed from, and by; without padding. */
struct saved_results_origin {
    uint64_t begin_ns; /* of the run, by the wall clock */
    uint64_t first, count; /* positions of its events */
    uint64_t trace_bytes, server_bytes;
    int64_t trace_changed_ns, server_changed_ns;
};

bool saved_results_apply(const struct run *run)
{
    return run->trace && run->file.path && !run->file.damage && !run->file.deleted &&
           !run->file.still_written && !run->programs.connected &&
           (!run->status.live || run->status.finished) && !order_figures(run->order).damaged &&
           order_count(run->order) - order_first(run->order) >= SAVED_EVENTS_MIN;
}

/* Sets the file for the results about a run; returns false if it has none.  The caller frees the
 * path. */
static bool saved_results_file(const struct run *run, struct result_file *file)
{
    struct tracefile_stamp trace;
    struct stat server;
    if (!saved_results_apply(run) || !run_file_stamp(run, &trace) ||
        stat("/proc/self/exe", &server) < 0)
        return false;
    struct saved_results_origin origin = {.begin_ns = run->clock.wall_ns,
                                          .first = order_first(run->order),
                                          .count = order_count(run->order),
                                          .trace_bytes = trace.bytes,
                                          .server_bytes = (uint64_t)server.st_size,
                                          .trace_changed_ns = trace.changed_ns,
                                          .server_changed_ns =
                                              (int64_t)timespec_ns(server.st_mtim)};
    *file = (struct result_file){.path = result_file_path(run->file.path),
                                 .identity = XXH3_64bits(&origin, sizeof origin),
                                 .mode = trace.mode & 0666};
    return true;
}

/* Returns the key of a request, to be freed. */
static struct encoder saved_results_key(enum request_type type, const struct encoder *request)
{
    struct encoder key = {0};
    encode_u32(&key, (uint32_t)type);
    encode_bytes(&key, request->data, request->size);
    key.failed |= request->failed;
    return key;
}

uint8_t *saved_result_read(const struct run *run, enum request_type type,
                           const struct encoder *request, size_t *size)
{
    struct result_file file;
    if (!saved_results_file(run, &file))
        return NULL;
    struct encoder key = saved_results_key(type, request);
    uint8_t *found = key.failed
                         ? NULL
                         : result_file_read(&file, (struct result_bytes){key.data, key.size}, size);
    encoder_free(&key);
    free(file.path);
    return found;
}

void saved_result_write(const struct run *run, enum request_type type,
                        const struct encoder *request, const struct encoder *result)
{
    struct result_file file;
    if (!saved_results_file(run, &file))
        return;
    struct encoder key = saved_results_key(type, request);
    if (!key.failed && !result->failed)
        result_file_write(&file, (struct result_bytes){key.data, key.size},
                          (struct result_bytes){result->data, result->size});
    encoder_free(&key);
    free(file.path);
}
