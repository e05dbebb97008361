#include "config/assertion_file.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ASSERTIONS_BYTES_MAX (1u << 20)
#define ASSERTIONS_MAX 1000u

struct assertion_reader {
    const char *file, *at;
    int line;
    FILE *errors;
};

__attribute__((format(printf, 3, 4))) static bool assertion_fail(const struct assertion_reader *r,
                                                                 int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(r->errors, "%s:%d: ", r->file, line);
    vfprintf(r->errors, format, arguments);
    fputc('\n', r->errors);
    va_end(arguments);
    return false;
}

/* Skips white space and comments. */
static void assertion_skip_space(struct assertion_reader *r)
{
    while (isspace((unsigned char)*r->at) || *r->at == '#') {
        if (*r->at == '#')
            r->at += strcspn(r->at, "\n");
        else
            r->line += *r->at++ == '\n';
    }
}

/* Reads a word of letters, digits, '-', '_' and '.'; returns its length. */
static size_t assertion_read_word(struct assertion_reader *r, const char **word)
{
    assertion_skip_space(r);
    *word = r->at;
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("-_.", *r->at)))
        r->at++;
    return (size_t)(r->at - *word);
}

static bool assertion_word_is(const char *word, size_t size, const char *text)
{
    return strlen(text) == size && memcmp(word, text, size) == 0;
}

/* Reads "never", "always" or "at most N". */
static bool assertion_read_kind(struct assertion_reader *r, struct assertion *a)
{
    const char *word;
    char *end;
    size_t n = assertion_read_word(r, &word);
    a->line = r->line;
    if (assertion_word_is(word, n, "never") || assertion_word_is(word, n, "always")) {
        a->kind = *word == 'n' ? ASSERTION_NEVER : ASSERTION_ALWAYS;
        return true;
    }
    bool at = assertion_word_is(word, n, "at");
    n = at ? assertion_read_word(r, &word) : 0;
    if (!at || !assertion_word_is(word, n, "most"))
        return assertion_fail(r, r->line, "expected never, always or at most");
    n = assertion_read_word(r, &word);
    a->kind = ASSERTION_AT_MOST;
    a->most = strtoull(word, &end, 10);
    return (n && isdigit((unsigned char)*word) && end == word + n && a->most < UINT32_MAX) ||
           assertion_fail(r, r->line, "expected a number after \"at most\"");
}

/* Skips a text in quotes, which may contain braces. */
static void assertion_skip_quoted(struct assertion_reader *r)
{
    r->at++;
    while (*r->at && *r->at != '"' && *r->at != '\n')
        r->at += 1 + (*r->at == '\\' && r->at[1] && r->at[1] != '\n');
    r->at += *r->at == '"';
}

/* Reads a pattern in braces. */
static bool assertion_read_pattern(struct assertion_reader *r, struct assertion *a)
{
    struct pattern_error error;
    assertion_skip_space(r);
    if (*r->at != '{')
        return assertion_fail(r, r->line, "expected a pattern in braces");
    const char *begin = ++r->at;
    int line = r->line;
    while (*r->at && *r->at != '}') {
        if (*r->at == '#') { /* a comment may contain braces */
            r->at += strcspn(r->at, "\n");
            continue;
        }
        if (*r->at == '"')
            assertion_skip_quoted(r);
        else
            r->line += *r->at++ == '\n';
    }
    if (!*r->at)
        return assertion_fail(r, line, "missing } at the end of the pattern");
    a->text = xstrndup(begin, (size_t)(r->at++ - begin));
    a->pattern = event_pattern_read(a->text, &error);
    if (a->pattern)
        return true;
    uint32_t column = error.column;
    for (const char *c = a->text; *c && c < a->text + error.column - 1; c++)
        if (*c == '\n') {
            line++;
            column = error.column - (uint32_t)(c - a->text) - 1;
        }
    return assertion_fail(r, line, "pattern: column %u: %s", column, error.text);
}

static bool assertion_read(struct assertion_reader *r, struct assertion *a)
{
    const char *word;
    if (!assertion_read_kind(r, a))
        return false;
    size_t n = assertion_read_word(r, &word);
    a->name = n ? xstrndup(word, n) : xasprintf("line-%d", a->line);
    return assertion_read_pattern(r, a);
}

bool assertions_read(const char *text, const char *file, FILE *errors, struct assertions *all)
{
    struct assertion_reader r = {.file = file, .at = text, .line = 1, .errors = errors};
    *all = (struct assertions){0};
    for (assertion_skip_space(&r); *r.at; assertion_skip_space(&r)) {
        struct assertion a = {0};
        bool good = all->count < ASSERTIONS_MAX
                        ? assertion_read(&r, &a)
                        : assertion_fail(&r, r.line, "more than %u assertions", ASSERTIONS_MAX);
        ARRAY_PUSH(all->items, all->count, a);
        if (!good)
            return false;
    }
    return all->count || assertion_fail(&r, 1, "no assertion");
}

bool assertions_load(const char *file, FILE *errors, struct assertions *all)
{
    char *text = xcalloc(ASSERTIONS_BYTES_MAX + 1, 1);
    FILE *f = fopen(file, "re");
    size_t n = f ? fread(text, 1, ASSERTIONS_BYTES_MAX, f) : 0;
    bool good = f && !ferror(f);
    *all = (struct assertions){0};
    if (!good)
        fprintf(errors, "%s: %s\n", file, strerror(errno));
    else if (strlen(text) != n || n == ASSERTIONS_BYTES_MAX)
        good = fprintf(errors, "%s: not a text file, or too long\n", file) < 0;
    if (f)
        fclose(f);
    good = good && assertions_read(text, file, errors, all);
    free(text);
    return good;
}

void assertions_add_target(struct assertions *all, const struct target *target)
{
    struct pattern_error ignored; /* the description was checked */
    for (size_t i = 0; i < target->assertion_count; i++) {
        const struct target_assertion *from = &target->assertions[i];
        struct assertion a = {.kind = (enum assertion_kind)from->kind,
                              .most = (uint64_t)from->most,
                              .name = xstrdup(from->name),
                              .text = xstrdup(from->text),
                              .pattern = event_pattern_read(from->text, &ignored),
                              .line = from->source.line};
        ARRAY_PUSH(all->items, all->count, a);
    }
}

void assertions_free(struct assertions *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        event_pattern_free(all->items[i].pattern);
        free(all->items[i].name);
        free(all->items[i].text);
    }
    free(all->items);
    *all = (struct assertions){0};
}
