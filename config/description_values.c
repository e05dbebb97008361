#define _GNU_SOURCE
#include "config/description_values.h"

#include "base/alloc.h"
#include "wire/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void description_complain(struct description_reader *reader, const char *file, int line,
                          const char *format, ...)
{
    va_list ap;
    reader->mistakes++;
    if (!reader->complaints)
        return;
    char text[1024];
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    text_mask(text); /* it quotes the file */
    fprintf(reader->complaints, "%s:%d: %s\n", file, line, text);
}

int description_setting_line(const config_setting_t *s)
{
    return (int)config_setting_source_line(s);
}

bool description_parse_text(struct description_reader *reader, config_t *config, const char *text)
{
    if (strcasestr(text, "@include"))
        description_complain(reader, reader->file, 1, "@include is not supported");
    else if (!config_read_string(config, text))
        description_complain(reader, reader->file, config_error_line(config), "%s",
                             config_error_text(config));
    else
        return true;
    return false;
}

char *description_copy_text(struct description_reader *reader, const char *s)
{
    char *readable = xcheck(text_readable(s, SIZE_MAX, true), 1);
    char *kept = arena_text(reader->texts, readable);
    free(readable);
    return kept;
}

#define KEYS_MAX 63u /* of a group */

/* ---- words ---- */

static size_t description_values_min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the edit distance: the number of deletions, insertions, changes and swaps of adjacent
 * characters; 99 if b is too long. */
static size_t description_values_edit_distance(const char *a, const char *b)
{
    size_t rows[3][64] = {{0}}, *last = rows[0], *row = rows[1], *older = rows[2], n = strlen(b);
    if (n >= 63)
        return 99;
    for (size_t j = 0; j <= n; j++)
        last[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = description_values_min_size(
                change, description_values_min_size(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = description_values_min_size(row[j], older[j - 2] + 1);
        }
        size_t *oldest = older;
        older = last;
        last = row;
        row = oldest;
    }
    return last[n];
}

const char *nearest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t least = strlen(word) / 2 + 1;
    if (least > 4)
        least = 4;
    for (; *words; words++) {
        size_t d = description_values_edit_distance(word, *words);
        if (d < least) {
            least = d;
            best = *words;
        }
    }
    return best;
}

void description_check_keys(struct description_reader *reader, const config_setting_t *group,
                            const char *known)
{
    const char *names[KEYS_MAX + 1] = {0};
    char *words = xstrdup(known), *rest = words;
    for (size_t n = 0; n < KEYS_MAX && (names[n] = strsep(&rest, " ")) != NULL;)
        n++;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(s), *near;
        size_t k = 0;
        while (names[k] && strcmp(name, names[k]) != 0)
            k++;
        if (names[k])
            continue;
        if ((near = nearest_word(name, names)) != NULL)
            WRONG(s, "unknown key \"%s\"; did you mean \"%s\"?", name, near);
        else
            WRONG(s, "unknown key \"%s\"", name);
    }
    free(words);
}

/* ---- values ---- */

const char *description_get_text(struct description_reader *reader, const config_setting_t *group,
                                 const char *key, bool needed)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!s) {
        if (needed)
            WRONG(group, "\"%s\" is missing", key);
        return NULL;
    }
    if (config_setting_type(s) != CONFIG_TYPE_STRING) {
        WRONG(s, "\"%s\" must be a string", key);
        return NULL;
    }
    const char *text = config_setting_get_string(s);
    if (needed && !*text)
        WRONG(s, "\"%s\" is empty", key);
    return text;
}

void description_get_copy(struct description_reader *reader, const config_setting_t *group,
                          const char *key, char **value)
{
    const char *text = description_get_text(reader, group, key, false);
    if (text)
        *value = description_copy_text(reader, text);
}

void description_get_bool(struct description_reader *reader, const config_setting_t *group,
                          const char *key, bool *value)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!s)
        return;
    if (config_setting_type(s) == CONFIG_TYPE_BOOL)
        *value = config_setting_get_bool(s);
    else
        WRONG(s, "\"%s\" must be true or false", key);
}

int description_get_word(struct description_reader *reader, const config_setting_t *group,
                         const char *key, const char *const *words, int otherwise)
{
    const char *text = description_get_text(reader, group, key, false);
    if (!text)
        return otherwise;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    const config_setting_t *s = config_setting_get_member(group, key);
    const char *near = nearest_word(text, words);
    WRONG(s, "invalid value \"%s\" for \"%s\"; did you mean \"%s\"?", text, key,
          near ? near : words[0]);
    return otherwise;
}

void description_get_color(struct description_reader *reader, const config_setting_t *group,
                           struct target_color *value)
{
    const char *text = description_get_text(reader, group, "color", false);
    unsigned red = 0, green = 0, blue = 0;
    char rest;
    if (!text)
        return;
    if (strlen(text) != 7 || sscanf(text, "#%2x%2x%2x%c", &red, &green, &blue, &rest) != 3)
        WRONG(config_setting_get_member(group, "color"), "invalid color \"%s\"; use \"#RRGGBB\"",
              text);
    *value = (struct target_color){red / 255.0, green / 255.0, blue / 255.0};
}

bool description_get_names(struct description_reader *reader, const config_setting_t *group,
                           const char *key, struct target_names *names, bool *first)
{
    const config_setting_t *s = config_setting_get_member(group, key);
    if (!s)
        return false;
    if (!config_setting_is_array(s) && !config_setting_is_list(s)) {
        WRONG(s, "\"%s\" must be a list of names: [\"a\", \"b\"]", key);
        return false;
    }
    size_t n = (size_t)config_setting_length(s);
    if (first)
        *first = false;
    *names = (struct target_names){.items = arena_bytes(reader->texts, n * sizeof *names->items)};
    for (size_t i = 0; i < n; i++) {
        const config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
        if (config_setting_type(item) != CONFIG_TYPE_STRING)
            WRONG(item, "\"%s\" must hold names only", key);
        else if (!*config_setting_get_string(item) && first)
            *first = true;
        else
            names->items[names->count++] =
                description_copy_text(reader, config_setting_get_string(item));
    }
    return true;
}

bool description_get_name_or_names(struct description_reader *reader, const config_setting_t *group,
                                   const char *key, struct target_names *names)
{
    const char *one;
    if (!config_setting_lookup_string(group, key, &one))
        return description_get_names(reader, group, key, names, NULL);
    *names = (struct target_names){.items = arena_bytes(reader->texts, sizeof *names->items)};
    names->items[names->count++] = description_copy_text(reader, one);
    return true;
}

const config_setting_t *description_get_groups(struct description_reader *reader,
                                               const config_setting_t *root, const char *key)
{
    const config_setting_t *s = config_setting_get_member(root, key);
    if (!s)
        return NULL;
    if (!config_setting_is_list(s)) {
        WRONG(s, "\"%s\" must be a list of groups: ( { ... }, { ... } )", key);
        return NULL;
    }
    for (int i = 0; i < config_setting_length(s); i++) {
        const config_setting_t *item = config_setting_get_elem(s, (unsigned)i);
        if (!config_setting_is_group(item)) {
            WRONG(item, "\"%s\" must hold groups only: { ... }", key);
            return NULL;
        }
    }
    return s;
}
