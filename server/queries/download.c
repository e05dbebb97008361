/* Downloads: what a client looks up or copies: call sites, and the trace file. */
#include "base/alloc.h"
#include "server/queries/query.h"
#include "wire/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the number of call sites without the calls that led there, of which each place has
 * one. */
static uint32_t plain_sites(const struct run *run)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->sites.count && count < LIMIT_SITES; i++)
        count += !run->sites.items[i].thread;
    return count;
}

static void answer_sites(const struct run *run, struct decoder *in, struct response *reply)
{
    if (!decoder_finish(in))
        return;
    response_chunk_begin(reply, RESPONSE_SITES);
    encode_u32(reply->out, plain_sites(run));
    for (uint32_t i = 0, sent = 0; i < run->sites.count && sent < LIMIT_SITES; i++) {
        if (run->sites.items[i].thread)
            continue;
        encode_u32(reply->out, run->sites.items[i].process);
        encode_u64(reply->out, run->sites.items[i].address);
        sent++;
    }
    response_chunk_end(reply);
}

const struct query query_sites = {.at_once = answer_sites};

#define FETCH_BYTES (1u << 20)

static void answer_bytes(const struct run *run, struct decoder *in, struct response *reply)
{
    struct encoder *out = reply->out;
    uint64_t offset = decode_u64(in);
    if (!decoder_finish(in))
        return;
    struct stat st = {0};
    int fd = run->file.path ? open(run->file.path, O_RDONLY | O_CLOEXEC) : -1;
    uint8_t *bytes = xmalloc(FETCH_BYTES);
    ssize_t n = fd >= 0 && offset <= INT64_MAX && fstat(fd, &st) == 0
                    ? pread(fd, bytes, FETCH_BYTES, (off_t)offset)
                    : -1;
    response_chunk_begin(reply, RESPONSE_BYTES);
    encode_u64(out, offset);
    encode_u64(out, (uint64_t)st.st_size);
    encode_string(out, n < 0 ? strerror(errno) : "");
    encode_u32(out, n > 0 ? (uint32_t)n : 0);
    encode_bytes(out, bytes, n > 0 ? (size_t)n : 0);
    response_chunk_end(reply);
    if (fd >= 0)
        close(fd);
    free(bytes);
}

const struct query query_download = {.at_once = answer_bytes};
