/* Source files: finding the file that debug information names, and reading its lines in printable
 * form.
 *
 * The names are untrusted: only regular files of a bounded size are read, and their contents are
 * sanitized. Debug information has the path at compile time; maps and directories translate it to
 * the current one. */
#ifndef CLIENTS_SOURCEFILE_SOURCE_FILES_H
#define CLIENTS_SOURCEFILE_SOURCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FILE_LINES_MAX (8u << 20) /* maximum bytes of a file */

/* The search path. Zeroed: the compile-time path only. The texts are borrowed. */
struct source_file_search {
    struct source_path_map {
        const char *from, *to; /* path prefixes; from NULL: `to` is a directory to search */
    } *items; /* the first that leads to a file is used */
    uint32_t count;
};

struct source_file_text {
    char *path; /* that was read, or would have been; never NULL */
    char *problem; /* NULL: it was read */
    int64_t changed_ns; /* modification time, since 1970 */
    const char **lines; /* their starts */
    uint32_t line_count;
    char *text;
};

/* Adds "FROM=TO", or a directory. The value is modified and must stay valid. */
void source_files_open_search(struct source_file_search *search, char *value);
/* Never fails: see problem. */
void source_files_read(struct source_file_text *file, const struct source_file_search *search,
                       const char *path);
/* Reads the file at the compile-time path, else that of its name below the working directory. */
void source_files_excerpt(struct source_file_text *file, const char *path);
/* Returns its path in new memory; NULL if it does not exist, or is not a regular file. */
char *source_files_find(const struct source_file_search *search, const char *path);
/* Returns a line, from 1, with tabs expanded, in new memory; "" after the last one. Very long lines
 * are cut. */
char *source_files_line(const struct source_file_text *file, uint32_t number);
void source_files_free(struct source_file_text *file); /* leaves it empty */
void source_files_search_free(struct source_file_search *search);

#endif
