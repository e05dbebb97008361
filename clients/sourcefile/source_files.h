/* Source files: where the one is that debug information names, and its lines, as far as they can be
 * shown.
 *
 * Whoever made the program may have named anything: only regular files of a bounded size are read,
 * and what is in them is made readable.  Debug information names where a file was when it was
 * compiled; where it is now, maps and directories say. */
#ifndef CLIENTS_SOURCEFILE_SOURCE_FILES_H
#define CLIENTS_SOURCEFILE_SOURCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FILE_LINES_MAX (8u << 20) /* bytes of a file that are read */

/* Where to look.  Zero-initialised: where it was compiled.  The texts are borrowed. */
struct source_file_search {
    struct source_path_map {
        const char *from, *to; /* begins of paths; from NULL: `to` is a directory to look in */
    } *items; /* the first that leads to a file counts */
    uint32_t count;
};

struct source_file_text {
    char *path; /* that was read, or would have been; never NULL */
    char *problem; /* NULL: it was read */
    int64_t changed_ns; /* when it was last written, since 1970 */
    const char **lines; /* begins of them */
    uint32_t line_count;
    char *text;
};

/* "FROM=TO", or a directory: kept as it is.  The value must stay. */
void source_files_open_search(struct source_file_search *search, char *value);
/* Never fails: see problem. */
void source_files_read(struct source_file_text *file, const struct source_file_search *search,
                       const char *path);
/* The same: where it was compiled, else under its name below the working directory. */
void source_files_excerpt(struct source_file_text *file, const char *path);
/* Where it is, as new memory; NULL: it is not there, or no regular file. */
char *source_files_find(const struct source_file_search *search, const char *path);
/* A line, from 1, without tabs, new memory; "" behind the last one.  Very long ones are cut. */
char *source_files_line(const struct source_file_text *file, uint32_t number);
void source_files_free(struct source_file_text *file); /* empties it */
void source_files_search_free(struct source_file_search *search);

#endif
