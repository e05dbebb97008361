#define _GNU_SOURCE
#include "server/queries/result_file.h"

#include "base/alloc.h"
#include "wire/message.h"
#include "wire/trace_header.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC UINT64_C(0x31657274656f70f0) /* 0xf0 "poetre1" */
#define HEAD_BYTES 16u
#define ENTRY_BYTES 16u /* of an entry, before its key */

/* The contents of a result file; a zero-initialized struct is empty. */
struct result_entries {
    uint8_t *bytes;
    size_t size; /* of the head and the whole entries */
};

struct result_entry {
    struct result_bytes key, result;
    size_t begin, end; /* in the file */
};

char *result_file_path(const char *trace)
{
    size_t size = strlen(trace) + TRACEHEAD_BESIDE_BYTES;
    char *path = xmalloc(size);
    tracehead_beside(path, size, trace, TRACEHEAD_RESULTS);
    return path;
}

/* ---- reading ---- */

static uint64_t result_file_checksum(const struct result_file *file, const uint8_t *entry,
                                     size_t size)
{
    return XXH3_64bits_withSeed(entry + 8, size - 8, file->identity);
}

/* Reads the entry at a place; returns false if there is no whole one. */
static bool result_entry_read(const struct result_file *file, const uint8_t *bytes, size_t size,
                              struct result_entry *entry)
{
    struct decoder in = decoder_init(bytes + entry->begin, size - entry->begin);
    uint64_t checksum = decode_u64(&in);
    uint32_t key = decode_u32(&in), result = decode_u32(&in);
    entry->key = (struct result_bytes){decode_bytes(&in, key), key};
    entry->result = (struct result_bytes){decode_bytes(&in, result), result};
    entry->end = entry->begin + in.at;
    return !in.error && result_file_checksum(file, bytes + entry->begin, in.at) == checksum;
}

/* Returns the next whole entry after `entry`; the first one if it is zero-initialized. */
static bool result_entries_next(const struct result_file *file, const struct result_entries *all,
                                struct result_entry *entry)
{
    entry->begin = entry->end ? entry->end : HEAD_BYTES;
    return entry->begin < all->size && result_entry_read(file, all->bytes, all->size, entry);
}

static uint8_t *result_file_read_bytes(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)HEAD_BYTES ||
        (uint64_t)st.st_size > RESULT_FILE_BYTES_MAX)
        return NULL;
    uint8_t *bytes = xmalloc((size_t)st.st_size);
    size_t done = 0;
    for (ssize_t n; done < (size_t)st.st_size; done += (size_t)n)
        if ((n = pread(fd, bytes + done, (size_t)st.st_size - done, (off_t)done)) <= 0)
            break;
    *size = done;
    return bytes;
}

/* Reads the entries, as far as they are whole.  They are empty if the file is not there, or has
 * another identity. */
static struct result_entries result_entries_load(const struct result_file *file)
{
    struct result_entries all = {0};
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return all;
    all.bytes = result_file_read_bytes(fd, &all.size);
    close(fd);
    struct decoder head = decoder_init(all.bytes, all.bytes ? all.size : 0);
    if (decode_u64(&head) != MAGIC || decode_u64(&head) != file->identity || head.error)
        all.size = 0;
    return all;
}

uint8_t *result_file_read(const struct result_file *file, struct result_bytes key, size_t *size)
{
    struct result_entries all = result_entries_load(file);
    uint8_t *found = NULL;
    for (struct result_entry e = {0}; !found && result_entries_next(file, &all, &e);)
        if (e.key.size == key.size && memcmp(e.key.data, key.data, key.size) == 0) {
            found = xmalloc(e.result.size + 1);
            memcpy(found, e.result.data, e.result.size);
            *size = e.result.size;
        }
    free(all.bytes);
    return found;
}

/* ---- writing ---- */

static void result_file_encode_entry(const struct result_file *file, struct encoder *out,
                                     struct result_bytes key, struct result_bytes result)
{
    struct encoder entry = {0}, checksum = {0};
    encode_u64(&entry, 0);
    encode_u32(&entry, (uint32_t)key.size);
    encode_u32(&entry, (uint32_t)result.size);
    encode_bytes(&entry, key.data, key.size);
    encode_bytes(&entry, result.data, result.size);
    if (!entry.failed) {
        encode_u64(&checksum, result_file_checksum(file, entry.data, entry.size));
        encode_bytes(out, checksum.data, checksum.size);
        encode_bytes(out, entry.data + 8, entry.size - 8);
    }
    out->failed |= entry.failed | checksum.failed;
    encoder_free(&entry);
    encoder_free(&checksum);
}

/* Encodes the file with a result added, and the earlier ones as far as they fit. */
static void result_file_encode(const struct result_file *file, struct encoder *out,
                               struct result_bytes key, struct result_bytes result)
{
    struct result_entries all = result_entries_load(file);
    size_t room = RESULT_FILE_BYTES_MAX - HEAD_BYTES - ENTRY_BYTES - key.size - result.size,
           whole = HEAD_BYTES;
    for (struct result_entry e = {0}; result_entries_next(file, &all, &e);)
        whole = e.end;
    encode_u64(out, MAGIC);
    encode_u64(out, file->identity);
    for (struct result_entry e = {0}; result_entries_next(file, &all, &e);) {
        bool same = e.key.size == key.size && memcmp(e.key.data, key.data, key.size) == 0;
        if (!same && whole - e.begin <= room)
            encode_bytes(out, all.bytes + e.begin, e.end - e.begin);
    }
    result_file_encode_entry(file, out, key, result);
    free(all.bytes);
}

/* Opens the file that is to take the place of the other, locked; returns -1 if that is not
 * possible, or another process writes it.  What a killed process left there is overwritten. */
static int result_file_open_new(const struct result_file *file, const char *path)
{
    struct stat here, there;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    /* another process can have renamed it between the two calls */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &here) == 0 && S_ISREG(here.st_mode) &&
        lstat(path, &there) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev &&
        fchmod(fd, file->mode) == 0 && ftruncate(fd, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool result_file_write_bytes(int fd, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    for (ssize_t n; done < size; done += (size_t)n)
        if ((n = write(fd, bytes + done, size - done)) <= 0)
            return false;
    return true;
}

bool result_file_write(const struct result_file *file, struct result_bytes key,
                       struct result_bytes result)
{
    struct encoder out = {0};
    if (key.size > RESULT_BYTES_MAX || result.size > RESULT_BYTES_MAX - key.size)
        return false;
    char *path = xasprintf("%s.new", file->path);
    int fd = result_file_open_new(file, path);
    bool good = fd >= 0;
    if (good) {
        result_file_encode(file, &out, key, result);
        good = !out.failed && result_file_write_bytes(fd, out.data, out.size) &&
               rename(path, file->path) == 0;
        if (!good)
            unlink(path);
        close(fd); /* this unlocks it */
    }
    encoder_free(&out);
    free(path);
    return good;
}
