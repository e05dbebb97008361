/* Result file: a bounded cache of computed results of a run, in a file beside its trace.
 *
 * Results are bytes, found by a key, also bytes.  The file belongs to one identity, which stands
 * for all that the results were computed from, and by; a file with another one counts as empty and
 * is replaced.  Every result has a checksum: what is damaged or cut off counts as absent.  A file
 * is replaced as a whole, by renaming, so a reader finds either the old or the new one; when it
 * becomes too long, the results that were added first are dropped.  Nothing here reports errors: a
 * file that cannot be written is not written.  docs/tracefile.md gives the format. */
#ifndef SERVER_QUERIES_RESULT_FILE_H
#define SERVER_QUERIES_RESULT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef RESULT_FILE_BYTES_MAX /* tests make it small */
#define RESULT_FILE_BYTES_MAX ((size_t)8 << 20)
#endif
#define RESULT_BYTES_MAX (RESULT_FILE_BYTES_MAX / 4) /* maximum for one result, with its key */

struct result_file {
    char *path;
    uint64_t identity;
    uint32_t mode; /* permissions of a new file */
};

struct result_bytes {
    const void *data;
    size_t size;
};

/* Returns the path of the results of a trace, "x.poet-results" for x.poet.  The caller frees it. */
char *result_file_path(const char *trace);
/* Returns the result of a key in new memory, and sets *size; NULL if there is none. */
uint8_t *result_file_read(const struct result_file *file, struct result_bytes key, size_t *size);
/* Adds a result, or replaces that of the same key.  Returns false, and leaves the file as it is, if
 * that is not possible or another process is writing it. */
bool result_file_write(const struct result_file *file, struct result_bytes key,
                       struct result_bytes result);

#endif
