#define _GNU_SOURCE
#include "clients/source/breaks.h"

#include "clients/site/regular.h"
#include "memory/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20)
#define BREAKS_MOST 1000u

static void file_of(const char *trace, char *path, size_t size)
{
    size_t length = strlen(trace);
    bool poet = length > 5 && strcmp(trace + length - 5, ".poet") == 0;
    snprintf(path, size, "%s%s", trace, poet ? "-breaks" : ".poet-breaks");
}

void breaks_read(struct breaks *breaks, const char *trace)
{
    char path[PATH_MAX], *rest = NULL;
    *breaks = (struct breaks){0};
    file_of(trace, path, sizeof path);
    char *text = regular_read(path, FILE_BYTES, NULL);
    size_t room = 0;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL;
         line && breaks->count < BREAKS_MOST; line = strtok_r(NULL, "\n", &rest)) {
        breaks->items = grow(breaks->items, &room, breaks->count + 1, sizeof *breaks->items);
        breaks->items[breaks->count++] = memory_copied(line);
    }
    free(text);
}

void breaks_free(struct breaks *breaks)
{
    for (size_t i = 0; i < breaks->count; i++)
        free(breaks->items[i]);
    free(breaks->items);
    *breaks = (struct breaks){0};
}

/* As a whole, in the place of the one before. */
static bool write_all(const struct breaks *breaks, const char *without, const char *with,
                      const char *path)
{
    char other[PATH_MAX + 8];
    snprintf(other, sizeof other, "%s.new", path);
    FILE *f = fopen(other, "we");
    for (size_t i = 0; f && i < breaks->count; i++)
        if (!without || strcmp(breaks->items[i], without) != 0)
            fprintf(f, "%s\n", breaks->items[i]);
    if (f && with)
        fprintf(f, "%s\n", with);
    bool written = f && !ferror(f);
    if (f && fclose(f))
        written = false;
    return written && rename(other, path) == 0;
}

bool breaks_toggle(const char *trace, const char *what, bool *set, struct error *error)
{
    char path[PATH_MAX];
    struct breaks breaks;
    file_of(trace, path, sizeof path);
    breaks_read(&breaks, trace);
    *set = true;
    for (size_t i = 0; i < breaks.count; i++)
        if (strcmp(breaks.items[i], what) == 0)
            *set = false;
    bool done = write_all(&breaks, *set ? NULL : what, *set ? what : NULL, path);
    if (!done)
        error_set(error, "%s: %s", path, strerror(errno));
    breaks_free(&breaks);
    return done;
}
