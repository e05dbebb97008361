/* Source files: where the one is that debug information names, and its lines, as far as they can be shown.
 *
 * Whoever made the program may have named anything: only regular files of a bounded size are read, and what is in them
 * is made readable.  Debug information names where a file was when it was compiled; where it is now, maps and directories
 * say. */
#ifndef CLIENTS_SOURCE_WRITTEN_H
#define CLIENTS_SOURCE_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRITTEN_MOST (8u << 20) /* bytes of a file that are read */

/* Where to look.  Zero-initialised: where it was compiled.  The texts are borrowed. */
struct written_search {
    struct written_map {
        const char *from, *to; /* begins of paths; from NULL: `to` is a directory to look in */
    } *items; /* the first that leads to a file counts */
    uint32_t count;
};

struct written {
    char *path; /* that was read, or would have been; never NULL */
    char *problem; /* NULL: it was read */
    int64_t changed_ns; /* when it was last written, since 1970 */
    const char **lines; /* begins of them */
    uint32_t line_count;
    char *text;
};

/* "FROM=TO", or a directory: kept as it is.  The value must stay. */
void written_look(struct written_search *search, char *value);
/* Never fails: see problem. */
void written_read(struct written *file, const struct written_search *search, const char *path);
/* The same: where it was compiled, else under its name below the working directory. */
void written_around(struct written *file, const char *path);
/* Where it is, as new memory; NULL: it is not there, or no regular file. */
char *written_find(const struct written_search *search, const char *path);
/* A line, from 1, without tabs, new memory; "" behind the last one.  Very long ones are cut. */
char *written_line(const struct written *file, uint32_t number);
void written_free(struct written *file); /* empties it */
void written_search_free(struct written_search *search);

#endif
