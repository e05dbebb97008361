#define _GNU_SOURCE
#include "clients/connection/breakpoint_file.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/symbols/safe_open.h"
#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (1u << 20)
#define BREAKS_MOST 1000u

static void file_of(const char *trace, char *path, size_t size)
{
    size_t length = strlen(trace);
    bool poet = length > 5 && strcmp(trace + length - 5, ".poet") == 0;
    snprintf(path, size, "%s%s", trace, poet ? "-breaks" : ".poet-breaks");
}

void breakpoint_file_read(struct breakpoint_list *breaks, const char *trace)
{
    char path[PATH_MAX], *rest = NULL;
    *breaks = (struct breakpoint_list){0};
    file_of(trace, path, sizeof path);
    char *text = safe_open_read(path, FILE_BYTES, NULL);
    size_t room = 0;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL;
         line && breaks->count < BREAKS_MOST; line = strtok_r(NULL, "\n", &rest)) {
        breaks->items =
            array_reserve(breaks->items, &room, breaks->count + 1, sizeof *breaks->items);
        breaks->items[breaks->count++] = xstrdup(line);
    }
    free(text);
}

void breakpoint_file_free(struct breakpoint_list *breaks)
{
    for (size_t i = 0; i < breaks->count; i++)
        free(breaks->items[i]);
    free(breaks->items);
    *breaks = (struct breakpoint_list){0};
}

/* Writes the list without one item, and with another (either may be NULL), to a new file that
 * replaces the old one. */
static bool write_all(const struct breakpoint_list *breaks, const char *without, const char *with,
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

bool breakpoint_file_toggle(const char *trace, const char *what, bool *set, struct error *error)
{
    char path[PATH_MAX];
    struct breakpoint_list breaks;
    file_of(trace, path, sizeof path);
    breakpoint_file_read(&breaks, trace);
    *set = true;
    for (size_t i = 0; i < breaks.count; i++)
        if (strcmp(breaks.items[i], what) == 0)
            *set = false;
    bool done = write_all(&breaks, *set ? NULL : what, *set ? what : NULL, path);
    if (!done)
        error_set(error, "%s: %s", path, strerror(errno));
    breakpoint_file_free(&breaks);
    return done;
}

/* ---- parsing ---- */

/* Returns the next word with quotes and backslashes removed as by a shell, and moves *text behind
 * it; NULL: no further word, or an unterminated quote. The caller frees it. */
static char *next_word(const char **text)
{
    const char *s = *text + strspn(*text, " \t");
    char *word = *s ? xstrdup(s) : NULL, *end = word;
    char quote = 0;
    for (; word && *s && (quote || (*s != ' ' && *s != '\t')); s++) {
        if (quote ? *s == quote : *s == '\'' || *s == '"')
            quote = quote ? 0 : *s;
        else if (*s == '\\' && quote != '\'' && s[1])
            *end++ = *++s;
        else
            *end++ = *s;
    }
    *text = s;
    if (!word || !quote) {
        if (word)
            *end = 0;
        return word;
    }
    free(word);
    return NULL;
}

static bool parse_number(const char *word, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && !errno;
}

/* Parses any number of "thread N" and "arrival N". */
static bool parse_options(struct breakpoint_spec *is, const char *rest)
{
    for (char *word; (word = next_word(&rest));) {
        char *value = next_word(&rest);
        bool thread = strcmp(word, "thread") == 0,
             known = value && (thread || (strcmp(word, "arrival") == 0 &&
                                          parse_number(value, &is->arrival) && is->arrival));
        free(word);
        if (thread && known) {
            free(is->thread);
            is->thread = value;
        } else {
            free(value);
        }
        if (!known)
            return false;
    }
    return !rest[strspn(rest, " \t")];
}

bool breakpoint_parse(struct breakpoint_spec *is, const char *words)
{
    const char *rest = words;
    *is = (struct breakpoint_spec){0};
    if (event_id_parse(words, &is->at))
        return true;
    is->at = (struct event_id){0};
    is->site = next_word(&rest);
    if (is->site && strchr(is->site, ':') && parse_options(is, rest))
        return true;
    breakpoint_free(is);
    return false;
}

void breakpoint_free(struct breakpoint_spec *is)
{
    free(is->site);
    free(is->thread);
    *is = (struct breakpoint_spec){0};
}

bool breakpoint_is_at_site(const struct breakpoint_spec *is, const char *place)
{
    size_t length = place ? strlen(place) : 0, wanted = is->site ? strlen(is->site) : 0;
    if (!wanted || length < wanted || strcmp(place + length - wanted, is->site) != 0)
        return false;
    return length == wanted || place[length - wanted - 1] == '/';
}

bool breakpoint_is_for_thread(const struct breakpoint_spec *is, uint32_t line, const char *name)
{
    uint64_t number;
    if (!is->thread || (parse_number(is->thread, &number) && number == line))
        return true;
    return name && (strcmp(name, is->thread) == 0 ||
                    (strlen(name) > 2 && strcmp(name + 2, is->thread) == 0));
}
