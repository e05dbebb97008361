#define PCRE2_CODE_UNIT_WIDTH 8
#include "clients/connection/pattern_names.h"

#include "base/alloc.h"
#include "clients/connection/line_labels.h"

#include <inttypes.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool pattern_names_is_place(const struct pattern_condition *c)
{
    return c->attribute == PATTERN_PLACE;
}

bool pattern_names_lines(const struct event_pattern *p)
{
    for (uint32_t i = 0; i < p->condition_count; i++)
        if (pattern_attribute_is_line(p->conditions[i].attribute))
            return true;
    return false;
}

bool pattern_names_places(const struct event_pattern *p)
{
    for (uint32_t i = 0; i < p->condition_count; i++)
        if (pattern_names_is_place(&p->conditions[i]))
            return true;
    return false;
}

/* ---- one name ---- */

struct pattern_name {
    const struct pattern_condition *condition;
    pcre2_code *expression; /* NULL: it is compared */
    pcre2_match_data *match;
    FILE *numbers;
    size_t count;
};

static bool pattern_names_expression_matches(const struct pattern_name *name, const char *text)
{
    return pcre2_match(name->expression, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, name->match,
                       NULL) >= 0;
}

static void pattern_names_add_lines(struct pattern_name *name, const struct trace_metadata *book,
                                    struct symbolizer *symbols)
{
    const char *value = name->condition->value;
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    bool is_number = *value && !*end;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        bool is =
            name->expression ? metadata_line(book, i) &&
                                   pattern_names_expression_matches(name, metadata_label(book, i))
            : is_number ? i == number
                        : metadata_line(book, i) && line_label_matches(book, symbols, i, value);
        if (is)
            fprintf(name->numbers, "%s%" PRIu32, name->count++ ? "|" : "", i);
    }
}

/* Returns whether a value names a place: "file.c:12", "file.c" or the function. */
static bool pattern_names_is_at(const struct symbol_location *at, const char *value)
{
    size_t n = strcspn(at->place, ":");
    return strcmp(at->place, value) == 0 || strcmp(at->function, value) == 0 ||
           (strlen(value) == n && strncmp(at->place, value, n) == 0);
}

static void pattern_names_add_places(struct pattern_name *name, struct symbolizer *symbols,
                                     const struct pattern_site *sites, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct symbol_location at = symbolize(symbols, sites[i].process, sites[i].address);
        bool is = pattern_names_is_at(&at, name->condition->value);
        if (name->expression) {
            char *words = xasprintf("%s %s", at.function, at.place);
            is = pattern_names_expression_matches(name, words);
            free(words);
        }
        if (is)
            fprintf(name->numbers, "%s%" PRIu32 ":%" PRIu64, name->count++ ? "|" : "",
                    sites[i].process, sites[i].address);
    }
}

static bool pattern_names_compile(struct pattern_name *name, struct pattern_error *error)
{
    const struct pattern_condition *c = name->condition;
    int code;
    PCRE2_SIZE where;
    PCRE2_UCHAR why[100];
    if (c->test != PATTERN_LIKE && c->test != PATTERN_UNLIKE)
        return true;
    name->expression = pcre2_compile((PCRE2_SPTR)c->value, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &where, NULL);
    if (name->expression) {
        name->match = pcre2_match_data_create(1, NULL);
        return name->match != NULL;
    }
    pcre2_get_error_message(code, why, sizeof why);
    error->column = c->column;
    snprintf(error->text, sizeof error->text, "regular expression: %s", (char *)why);
    return false;
}

/* ---- the text ---- */

static bool pattern_names_write(struct pattern_name *name, const struct trace_metadata *book,
                                struct symbolizer *symbols, const struct pattern_site *sites,
                                size_t site_count, struct pattern_error *error)
{
    const struct pattern_condition *c = name->condition;
    bool place = pattern_names_is_place(c);
    bool negated = c->test == PATTERN_UNEQUAL || c->test == PATTERN_UNLIKE;
    if (!pattern_names_compile(name, error))
        return false;
    if (place)
        pattern_names_add_places(name, symbols, sites, site_count);
    else
        pattern_names_add_lines(name, book, symbols);
    pcre2_code_free(name->expression);
    pcre2_match_data_free(name->match);
    if (name->count)
        return true;
    if (negated || place) { /* a place that no event has matches none */
        fputs(place ? "0:0" : "0", name->numbers);
        return true;
    }
    error->column = c->column;
    snprintf(error->text, sizeof error->text, "no trace line is labeled \"%s\"; see poet dump",
             c->value);
    return false;
}

/* Copies a part of the text, and replaces the operator before a value: names that match a regular
 * expression are equal to one of the numbers. */
static void pattern_names_copy(FILE *out, const char *text, size_t from, size_t end,
                               const struct pattern_condition *c)
{
    while (end > from && strchr(" \t\r\n", text[end - 1]))
        end--;
    size_t symbol = c->test == PATTERN_EQUAL || c->test == PATTERN_LIKE ? 1 : 2;
    fwrite(text + from, 1, end - from - symbol, out);
    fputs(symbol == 1 ? "=" : "!=", out);
}

static int pattern_names_by_begin(const void *a, const void *b)
{
    const struct pattern_condition *x = *(const struct pattern_condition *const *)a,
                                   *y = *(const struct pattern_condition *const *)b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

char *pattern_names_replace(const char *text, const struct event_pattern *p,
                            const struct trace_metadata *book, struct symbolizer *symbols,
                            const struct pattern_site *sites, size_t site_count,
                            struct pattern_error *error)
{
    const struct pattern_condition *named[PATTERN_CLAUSES_MAX];
    char *result = NULL;
    size_t size, count = 0, at = 0;
    bool good = true;
    FILE *out = open_memstream(&result, &size);
    if (!out)
        out_of_memory(0);
    for (uint32_t i = 0; i < p->condition_count; i++)
        if (pattern_names_is_place(&p->conditions[i]) ||
            pattern_attribute_is_line(p->conditions[i].attribute))
            named[count++] = &p->conditions[i];
    qsort(named, count, sizeof *named, pattern_names_by_begin);
    for (size_t i = 0; i < count && good; i++) {
        struct pattern_name name = {.condition = named[i], .numbers = out};
        pattern_names_copy(out, text, at, named[i]->begin, named[i]);
        at = named[i]->end;
        good = pattern_names_write(&name, book, symbols, sites, site_count, error);
    }
    fputs(text + at, out);
    fclose(out);
    if (good && size > PATTERN_BYTES_MAX) {
        *error =
            (struct pattern_error){.text = "its names match too many lines or places", .column = 1};
        good = false;
    }
    if (good)
        return result;
    free(result);
    return NULL;
}
