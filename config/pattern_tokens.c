#include "config/pattern_tokens.h"

#include "base/alloc.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer ones before their beginnings. */
static const struct pattern_symbol {
    const char *text;
    enum pattern_token token;
} pattern_symbols[] = {{"->", TOKEN_BEFORE}, {"||", TOKEN_CONCURRENT}, {"!=", TOKEN_UNEQUAL},
                       {"!~", TOKEN_UNLIKE}, {"<=", TOKEN_AT_MOST},    {">=", TOKEN_AT_LEAST},
                       {"..", TOKEN_WITHIN}, {"=", TOKEN_EQUAL},       {"~", TOKEN_LIKE},
                       {"<", TOKEN_LESS},    {">", TOKEN_GREATER},     {"!", TOKEN_NOT},
                       {"|", TOKEN_OR},      {".", TOKEN_DOT},         {",", TOKEN_COMMA},
                       {":", TOKEN_COLON},   {"(", TOKEN_OPEN},        {")", TOKEN_CLOSE},
                       {"*", TOKEN_ANY},     {";", TOKEN_SEMICOLON},   {"\n", TOKEN_SEMICOLON}};

static bool pattern_is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool pattern_is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

__attribute__((format(printf, 3, 4))) void pattern_fail_at(struct pattern_reader *r, uint32_t at,
                                                           const char *format, ...)
{
    if (r->failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error->text, sizeof r->error->text, format, arguments);
    va_end(arguments);
    r->error->column = at + 1;
    r->failed = true;
}

void pattern_skip_space(struct pattern_reader *r)
{
    uint32_t from = r->end;
    while (pattern_is_space(r->text[r->end]))
        r->end++;
    if (r->text[r->end] == '#')
        r->end += (uint32_t)strcspn(r->text + r->end, "\n");
    r->spaced = r->end > from;
    r->begin = r->end;
}

void pattern_read_quoted(struct pattern_reader *r)
{
    char quote = r->text[r->end++];
    while (r->text[r->end] && r->text[r->end] != quote)
        r->end += 1 + (r->text[r->end] == '\\' && r->text[r->end + 1]);
    if (!r->text[r->end])
        pattern_fail_at(r, r->begin, "missing %c at the end of the text", quote);
    else
        r->end++;
    r->token = TOKEN_STRING;
}

void pattern_next(struct pattern_reader *r)
{
    pattern_skip_space(r);
    const char *at = r->text + r->begin;
    r->token = TOKEN_OTHER;
    if (!*at) {
        r->token = TOKEN_END;
    } else if (isalpha((unsigned char)*at) || *at == '_') {
        while (pattern_is_word(r->text[r->end]))
            r->end++;
        r->token = TOKEN_NAME;
    } else if (isdigit((unsigned char)*at)) {
        while (pattern_is_word(r->text[r->end]) ||
               (r->text[r->end] == '.' && isdigit((unsigned char)r->text[r->end + 1])))
            r->end++;
        r->token = TOKEN_NUMBER;
    } else if (*at == '"') {
        pattern_read_quoted(r);
    } else {
        size_t i = 0, n = sizeof pattern_symbols / sizeof *pattern_symbols;
        while (i < n && strncmp(at, pattern_symbols[i].text, strlen(pattern_symbols[i].text)) != 0)
            i++;
        r->end += i < n ? (uint32_t)strlen(pattern_symbols[i].text) : 1;
        r->token = i < n ? pattern_symbols[i].token : TOKEN_OTHER;
    }
}

void pattern_fail(struct pattern_reader *r, const char *expected)
{
    int length = (int)(r->end - r->begin);
    if (r->token == TOKEN_END)
        pattern_fail_at(r, r->begin, "expected %s at the end", expected);
    else if (r->text[r->begin] == '\n')
        pattern_fail_at(r, r->begin, "expected %s before the end of the line", expected);
    else
        pattern_fail_at(r, r->begin, "expected %s instead of \"%.*s\"", expected,
                        length < 40 ? length : 40, r->text + r->begin);
}

bool pattern_accept(struct pattern_reader *r, enum pattern_token token)
{
    if (r->failed || r->token != token)
        return false;
    pattern_next(r);
    return true;
}

void pattern_expect(struct pattern_reader *r, enum pattern_token token, const char *expected)
{
    if (!pattern_accept(r, token))
        pattern_fail(r, expected);
}

bool pattern_is_name(const struct pattern_reader *r, const char *name)
{
    size_t n = strlen(name);
    return r->token == TOKEN_NAME && r->end - r->begin == n &&
           strncmp(r->text + r->begin, name, n) == 0;
}

char *pattern_unquote(const char *text, size_t size)
{
    char *copy = xstrndup(text + 1, size - 2), *to = copy;
    for (const char *from = copy; *from; from++) {
        if (from[0] == '\\' && (from[1] == text[0] || (from[1] == '\\' && text[0] == '"')))
            from++;
        *to++ = *from;
    }
    *to = 0;
    return copy;
}

/* ---- numbers with units ---- */

bool pattern_time_parse(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0 && isfinite(value) && value * units[i].ns < 9e18) {
            *ns = (int64_t)(value * units[i].ns + 0.5);
            return true;
        }
    return false;
}

int64_t pattern_time(struct pattern_reader *r)
{
    char *text = xstrndup(r->text + r->begin, r->end - r->begin);
    int64_t ns = 0;
    if (r->token != TOKEN_NUMBER || !pattern_time_parse(text, &ns))
        pattern_fail(r, "a time, as in 5ms (ns, us, ms, s, min)");
    free(text);
    if (!r->failed)
        pattern_next(r);
    return ns;
}
