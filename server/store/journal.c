#define _GNU_SOURCE
#include "server/store/journal.h"

#include "wire/limits.h"
#include "wire/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define CHUNK_BYTES_MAX (LIMIT_QUEUE_BYTES + LIMIT_MESSAGE_BYTES)

struct journal {
    int fd;
    struct out out;
    uint64_t bytes;  /* complete on disk */
    uint64_t from;   /* bytes before it are forgotten */
    uint64_t last;   /* where the chunk appended last begins */
    bool torn;       /* bytes beyond it must be cut off first */
};

/* XXH3 of the data, seeded with that of the head. */
static uint32_t checksum(const uint8_t *head, const uint8_t *data, size_t size)
{
    XXH64_hash_t seed = XXH3_64bits(head, CHUNK_HEAD_BYTES - 4);
    return (uint32_t)XXH3_64bits_withSeed(data, size, seed);
}

static int create_numbered(const char *path, char **used)
{
    for (unsigned i = 1; i < 10000; i++) {
        const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
        if (!dot || (slash && dot < slash))
            dot = path + strlen(path);
        int n = i == 1 ? asprintf(used, "%s", path)
                       : asprintf(used, "%.*s-%u%s", (int)(dot - path), path, i, dot);
        if (n < 0)
            return -1;
        int fd = open(*used, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        free(*used);
    }
    *used = NULL;
    errno = EEXIST;
    return -1;
}

struct journal *journal_create(const char *path, const char *run, char **used)
{
    *used = NULL;
    int fd = create_numbered(path, used);
    struct journal *journal = fd < 0 ? NULL : calloc(1, sizeof *journal);
    if (!journal) {
        free(*used);
        *used = NULL;
        return NULL;
    }
    journal->fd = fd;
    put_bytes(&journal->out, JOURNAL_MAGIC, 8);
    put_u32(&journal->out, JOURNAL_VERSION);
    char name[JOURNAL_NAME_BYTES] = "";
    snprintf(name, sizeof name, "%s", run);
    put_bytes(&journal->out, name, sizeof name);
    put_u64(&journal->out, 0);
    put_u64(&journal->out, 0);
    journal->from = JOURNAL_HEAD_BYTES;
    if (!journal_flush(journal)) {
        int e = errno;
        unlink(*used);
        journal_close(journal);
        free(*used);
        *used = NULL;
        errno = e;
        return NULL;
    }
    return journal;
}

void journal_append(struct journal *journal, struct chunk chunk)
{
    size_t at = journal->out.size;
    journal->last = journal->bytes + at;
    put_u32(&journal->out, CHUNK_MARK);
    put_u32(&journal->out, chunk.size);
    put_u32(&journal->out, chunk.session);
    put_u32(&journal->out, chunk.thread);
    put_u32(&journal->out, chunk.kind);
    put_u32(&journal->out, ~chunk.size);
    if (journal->out.failed)
        return;
    put_u32(&journal->out, checksum(journal->out.data + at, chunk.data, chunk.size));
    put_bytes(&journal->out, chunk.data, chunk.size);
}

bool journal_flush(struct journal *journal)
{
    if (journal->torn && ftruncate(journal->fd, (off_t)journal->bytes) < 0)
        return false;
    journal->torn = false;
    size_t size = journal->out.size, done = 0;
    bool failed = journal->out.failed;
    while (!failed && done < size) {
        ssize_t n = pwrite(journal->fd, journal->out.data + done, size - done,
                           (off_t)(journal->bytes + done));
        if (n < 0 && errno == EINTR)
            continue;
        failed = n <= 0;
        done += n > 0 ? (size_t)n : 0;
    }
    journal->out.size = 0;
    journal->out.failed = false;
    if (failed) {
        int e = errno;
        journal->torn = true;
        if (ftruncate(journal->fd, (off_t)journal->bytes) == 0)
            journal->torn = false;
        errno = e;
        return false;
    }
    journal->bytes += size;
    return true;
}

uint64_t journal_bytes(const struct journal *journal) { return journal->bytes; }

uint64_t journal_kept(const struct journal *journal) { return journal->bytes - journal->from; }

bool journal_forget(struct journal *journal, uint64_t from)
{
    uint64_t checkpoint = journal->last;
    if (from <= journal->from || !journal_flush(journal) || from > checkpoint)
        return false;
    uint8_t places[16];
    for (size_t i = 0; i < 8; i++) {
        places[i] = (uint8_t)(checkpoint >> (8 * i));
        places[8 + i] = (uint8_t)(from >> (8 * i));
    }
    if (pwrite(journal->fd, places, sizeof places, 48) != (ssize_t)sizeof places)
        return false;
    /* Not every file system can give room back; then the file is only read from further on. */
    fallocate(journal->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, JOURNAL_HEAD_BYTES,
              (off_t)(from - JOURNAL_HEAD_BYTES));
    journal->from = from;
    return true;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    out_free(&journal->out);
    close(journal->fd);
    free(journal);
}

/* ---- reading ---- */

/* A stretch of the file in memory.  The file is read, not mapped: it may be cut while it
 * is written, and a mapping would turn that into a signal. */
struct stretch {
    int fd;
    uint64_t size; /* of the file, when it was opened */
    uint64_t at;
    uint8_t *bytes;
    size_t count, room;
};

#define STRETCH_BYTES (1u << 20)

/* `size` bytes of the file; NULL if it ends before. */
static const uint8_t *look(struct stretch *s, uint64_t at, size_t size)
{
    if (at > s->size || s->size - at < size)
        return NULL;
    if (at >= s->at && at - s->at <= s->count && s->count - (at - s->at) >= size)
        return s->bytes + (at - s->at);
    size_t wanted = size < STRETCH_BYTES ? STRETCH_BYTES : size;
    if (wanted > s->room) {
        uint8_t *bytes = realloc(s->bytes, wanted);
        if (!bytes)
            return NULL;
        s->bytes = bytes;
        s->room = wanted;
    }
    s->at = at;
    s->count = 0;
    while (s->count < wanted) {
        ssize_t n = pread(s->fd, s->bytes + s->count, wanted - s->count, (off_t)(at + s->count));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        s->count += (size_t)n;
    }
    return s->count >= size ? s->bytes : NULL;
}

struct damage {
    uint64_t bytes, places, first;
};

static uint32_t at_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t at_u64(const uint8_t *p) { return at_u32(p) | (uint64_t)at_u32(p + 4) << 32; }

/* True if a whole, good chunk is there; its data lie in the stretch. */
static bool chunk_at(struct stretch *s, uint64_t at, struct chunk *chunk)
{
    const uint8_t *p = look(s, at, CHUNK_HEAD_BYTES);
    if (!p || at_u32(p) != CHUNK_MARK)
        return false;
    chunk->size = at_u32(p + 4);
    if (at_u32(p + 20) != ~chunk->size || chunk->size > CHUNK_BYTES_MAX)
        return false;
    p = look(s, at, CHUNK_HEAD_BYTES + chunk->size);
    if (!p)
        return false;
    chunk->session = at_u32(p + 8);
    chunk->thread = at_u32(p + 12);
    chunk->kind = (uint16_t)at_u32(p + 16);
    chunk->data = p + CHUNK_HEAD_BYTES;
    return checksum(p, chunk->data, chunk->size) == at_u32(p + 24);
}

static uint64_t next_chunk(struct stretch *s, uint64_t at)
{
    struct chunk ignored;
    for (const uint8_t *p; (p = look(s, ++at, CHUNK_HEAD_BYTES)) != NULL;)
        if (at_u32(p) == CHUNK_MARK && chunk_at(s, at, &ignored))
            return at;
    return s->size;
}

/* Where to begin: after the head, or after a checkpoint.  s->size if that is damaged. */
static uint64_t begin_reading(struct stretch *s, bool (*visit)(void *context, struct chunk),
                              void *context, struct damage *damage)
{
    const uint8_t *head = look(s, 0, JOURNAL_HEAD_BYTES);
    uint64_t checkpoint = at_u64(head + 48), from = at_u64(head + 56);
    struct chunk chunk;
    if (!checkpoint)
        return JOURNAL_HEAD_BYTES;
    if (from < JOURNAL_HEAD_BYTES || from > s->size || !chunk_at(s, checkpoint, &chunk) ||
        chunk.kind != CHUNK_CHECKPOINT) {
        *damage = (struct damage){.bytes = s->size, .places = 1, .first = 48};
        return s->size;
    }
    visit(context, chunk);
    return from;
}

static void read_chunks(struct stretch *s, bool (*visit)(void *context, struct chunk),
                        void *context, struct damage *damage)
{
    for (uint64_t at = begin_reading(s, visit, context, damage); at < s->size;) {
        struct chunk chunk;
        if (chunk_at(s, at, &chunk)) {
            if (chunk.kind != CHUNK_CHECKPOINT && !visit(context, chunk))
                return;
            at += CHUNK_HEAD_BYTES + chunk.size;
            continue;
        }
        uint64_t next = next_chunk(s, at);
        if (damage->places++ == 0)
            damage->first = at;
        damage->bytes += next - at;
        at = next;
    }
}

static const char *judge_head(struct stretch *s)
{
    struct stat st;
    if (fstat(s->fd, &st) < 0)
        return strerror(errno);
    s->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    const uint8_t *head = look(s, 0, JOURNAL_HEAD_BYTES);
    if (!head || memcmp(head, JOURNAL_MAGIC, 8) != 0)
        return "this is no Poet trace file";
    if (at_u32(head + 8) != JOURNAL_VERSION)
        return "this trace file was written by another version of Poet";
    return NULL;
}

bool journal_read(const char *path, char **run, bool (*visit)(void *context, struct chunk),
                  void *context, char **damage_text, const char **why)
{
    struct stretch s = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    struct damage damage = {0};
    *damage_text = NULL;
    *run = NULL;
    *why = s.fd < 0 ? strerror(errno) : judge_head(&s);
    if (!*why) {
        *run = strndup((const char *)look(&s, 12, JOURNAL_NAME_BYTES), JOURNAL_NAME_BYTES - 1);
        read_chunks(&s, visit, context, &damage);
    }
    if (s.fd >= 0)
        close(s.fd);
    free(s.bytes);
    if (damage.places &&
        asprintf(damage_text,
                 "damaged at byte %llu: %llu bytes in %llu place%s are lost, the rest is shown",
                 (unsigned long long)damage.first, (unsigned long long)damage.bytes,
                 (unsigned long long)damage.places, damage.places == 1 ? "" : "s") < 0)
        *damage_text = NULL;
    return *why == NULL;
}
