#define _GNU_SOURCE
#include "clients/sourcefile/source_files.h"

#include "base/clock.h"
#include "clients/symbols/safe_open.h"
#include "base/alloc.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_MOST 400u /* maximum length in bytes of a displayed line */
#define TAB 8u

/* ---- file lookup ---- */

void source_files_open_search(struct source_file_search *search, char *value)
{
    char *sign = strchr(value, '=');
    struct source_path_map map = {NULL, value};
    if (sign) {
        *sign = 0;
        map = (struct source_path_map){value, sign + 1};
    }
    ARRAY_PUSH(search->items, search->count, map);
}

static bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Replaces a leading directory, as gdb's substitute-path does; NULL: the path is elsewhere. */
static char *source_files_map_path(const struct source_path_map *map, const char *path)
{
    size_t n = strlen(map->from);
    while (n > 1 && map->from[n - 1] == '/')
        n--;
    if (strncmp(path, map->from, n) != 0 || (path[n] && path[n] != '/' && path[n - 1] != '/'))
        return NULL;
    return xasprintf("%s%s", map->to, path + n);
}

/* Finds the longest trailing part of a path in a directory, at least the file name; NULL: none. */
static char *in_directory(const char *directory, const char *path)
{
    for (const char *tail = path; tail;) {
        char *found = xasprintf("%s%s%s", directory, *tail == '/' ? "" : "/", tail);
        if (is_there(found))
            return found;
        free(found);
        tail = strchr(tail + 1, '/');
    }
    return NULL;
}

char *source_files_find(const struct source_file_search *search, const char *path)
{
    for (uint32_t i = 0; search && *path && i < search->count; i++) {
        const struct source_path_map *map = &search->items[i];
        char *found = map->from ? source_files_map_path(map, path) : in_directory(map->to, path);
        if (found && is_there(found))
            return found;
        free(found);
    }
    return *path && is_there(path) ? xstrdup(path) : NULL;
}

/* ---- contents ---- */

static void cut_lines(struct source_file_text *file, size_t size)
{
    char *end = file->text + size;
    for (char *line = file->text; line < end;) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        ARRAY_PUSH(file->lines, file->line_count, line);
        line = next ? next + 1 : end;
    }
    ARRAY_PUSH(file->lines, file->line_count, end); /* end of the last line */
    file->line_count--;
}

static char *why_not(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return xstrdup("no regular file: not read");
    if (errno == EFBIG)
        return xasprintf("larger than %u MiB: not read", SOURCE_FILE_LINES_MAX >> 20);
    return xstrdup(errno == ENOENT ? "not found" : strerror(errno));
}

void source_files_read(struct source_file_text *file, const struct source_file_search *search,
                       const char *path)
{
    struct stat st;
    size_t size = 0;
    *file = (struct source_file_text){.path = source_files_find(search, path)};
    if (!file->path)
        file->path = xstrdup(path);
    errno = ENOENT;
    file->text = *path ? safe_open_read(file->path, SOURCE_FILE_LINES_MAX, &size) : NULL;
    if (!file->text) {
        file->problem = why_not(file->path);
        return;
    }
    if (stat(file->path, &st) == 0)
        file->changed_ns = (int64_t)timespec_ns(st.st_mtim);
    cut_lines(file, size);
}

void source_files_excerpt(struct source_file_text *file, const char *path)
{
    struct source_path_map here = {NULL, "."};
    struct source_file_search around = {&here, 1};
    char *there = source_files_find(NULL, path);
    source_files_read(file, there ? NULL : &around, path);
    free(there);
}

/* Expands tabs to the next multiple of TAB columns; the caller frees the result. */
static char *without_tabs(const char *text)
{
    size_t n = strlen(text), column = 0;
    char *to = xmalloc(TAB * n + 1), *end = to;
    for (; *text; text++) {
        size_t fill = TAB - column % TAB;
        if (*text == '\t') {
            memset(end, ' ', fill);
            end += fill;
            column += fill;
        } else {
            *end++ = *text;
            column += ((unsigned char)*text & 0xc0) != 0x80;
        }
    }
    *end = 0;
    return to;
}

char *source_files_line(const struct source_file_text *file, uint32_t number)
{
    if (!number || number > file->line_count)
        return xstrdup("");
    const char *line = file->lines[number - 1];
    size_t n = (size_t)(file->lines[number] - line);
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' '))
        n--;
    if (n > LINE_MOST)
        n = text_cut(line, LINE_MOST);
    char *readable = xcheck(text_readable(line, n, true), n);
    char *shown = without_tabs(readable);
    free(readable);
    return shown;
}

void source_files_free(struct source_file_text *file)
{
    free(file->path);
    free(file->problem);
    free(file->lines);
    free(file->text);
    *file = (struct source_file_text){0};
}

void source_files_search_free(struct source_file_search *search)
{
    free(search->items);
    *search = (struct source_file_search){0};
}
