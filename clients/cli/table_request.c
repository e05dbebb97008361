#define _GNU_SOURCE
#include "clients/cli/table_request.h"

#include "clients/cli/table_progress.h"
#include "clients/connection/function_categories.h"
#include "config/description_values.h"
#include "base/alloc.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum session_lines table_request_session_lines(const struct table_settings *o)
{
    return o->threads ? SESSION_ALL_LINES : SESSION_NAMED_LINES;
}

/* Adds the lines that one word of --threads selects: a number, or a pattern of labels. */
static bool add_lines(struct table_request *r, struct command_source *subject, const char *word)
{
    const struct trace_metadata *book = &subject->source.book;
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    bool exact = *word && !*end, any = false;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        bool is = exact ? i == number
                        : metadata_line_is_visible(book, i) &&
                              line_label_matches(book, subject->sites, i, word);
        if (is)
            ARRAY_PUSH(r->lines, r->line_count, i);
        any |= is;
    }
    return any;
}

bool table_request_label_lines(const struct table_settings *o, struct table_request *r,
                               struct command_source *subject)
{
    char *copy = xstrdup(o->threads), *rest = copy;
    bool good = true;
    for (char *word; good && (word = strsep(&rest, ",")) != NULL;) {
        good = add_lines(r, subject, word);
        if (!good)
            command_usage(o->command, "--threads: no line \"%s\"; see poet dump", word);
    }
    free(copy);
    return good;
}

static void add_option(struct table_request *r, const char *key, const char *value)
{
    struct table_option option = {xstrdup(key), xstrdup(value)};
    ARRAY_PUSH(r->options, r->option_count, option);
}

/* Returns false after reporting an error. */
static bool make_request(const struct table_settings *o, const struct table_section *section,
                         struct command_source *subject, struct table_request *r)
{
    const char *sort = o->sort ? o->sort : section->sort ? section->sort : "";
    *r = (struct table_request){.what = xstrdup(section->what),
                                .by = xstrdup(o->by ? o->by : ""),
                                .from = o->from,
                                .to = o->to,
                                .past_of = o->past_of,
                                .sort = xstrdup(sort),
                                .top = section->top ? section->top : o->top,
                                .flags = (o->backwards ? TABLE_BACKWARDS : 0u) |
                                         (o->tree ? TABLE_TREE : 0u) | (o->raw ? TABLE_RAW : 0u)};
    for (const struct table_option *option = section->options; option && option->key; option++)
        add_option(r, option->key, option->value);
    return !o->threads || table_request_label_lines(o, r, subject);
}

/* ---- the response ---- */

/* Returns the column name closest to a word; _ns may be omitted. The caller frees it. */
static char *nearest_column(const struct result_table *t, const char *word)
{
    const char *names[2 * LIMIT_TABLE_COLUMNS + 1] = {NULL};
    char *shorter[LIMIT_TABLE_COLUMNS];
    for (uint32_t i = 0; i < t->column_count; i++) {
        const char *name = t->columns[i].name;
        size_t n = strlen(name);
        bool ns = n > 3 && strcmp(name + n - 3, "_ns") == 0;
        names[2 * i] = name;
        names[2 * i + 1] = shorter[i] = xstrndup(name, ns ? n - 3 : n);
    }
    const char *near = nearest_word(word, names);
    char *copy = near ? xstrdup(near) : NULL;
    for (uint32_t i = 0; i < t->column_count; i++)
        free(shorter[i]);
    return copy;
}

int table_request_missing_column(const struct table_settings *o, const struct result_table *t,
                                 const char *option, const char *word)
{
    char *near = nearest_column(t, word);
    char *all = xstrdup("");
    for (uint32_t i = 0; !near && i < t->column_count; i++) {
        char *more = xasprintf("%s%s%s", all, i ? ", " : "", t->columns[i].name);
        free(all);
        all = more;
    }
    command_usage(o->command,
                  near ? "%s: unknown column \"%s\"; did you mean \"%s\"?"
                       : "%s: unknown column \"%s\"; valid: %s",
                  option, word, near ? near : all);
    free(all);
    free(near);
    return EXIT_USAGE;
}

static int table_request_check(const struct table_settings *o, const struct result_table *t)
{
    if (t->problem)
        return command_usage(o->command, "%s", t->problem);
    if (o->sort && result_table_find_column(t, o->sort) == t->column_count)
        return table_request_missing_column(o, t, o->sort == o->width_of ? "--width-of" : "--sort",
                                            o->sort);
    return EXIT_DONE;
}

/* Returns whether the events named by options exist, after reporting the first that does not. */
static bool table_request_events_exist(const struct table_settings *o,
                                       struct command_source *subject)
{
    const struct event_id named[] = {
        o->from.is == TABLE_AT_EVENT ? o->from.event : (struct event_id){0},
        o->to.is == TABLE_AT_EVENT ? o->to.event : (struct event_id){0}, o->past_of};
    struct error error;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].line && !command_source_has_event(subject, named[i], &error)) {
            command_fail(o->command, "%s", error.text);
            return false;
        }
    return true;
}

/* ---- categories ---- */

/* Returns whether the request needs categories by function names, which only the client knows. */
static bool table_request_wants_categories(const struct table_settings *o,
                                           const struct table_section *section,
                                           const struct command_source *subject)
{
    bool by = o->by && strcmp(o->by, "category") == 0,
         any = strcmp(section->what, "waits") == 0 || strcmp(section->what, "path") == 0;
    return any && (by || strcmp(section->what, "waits") == 0) &&
           function_categories_wanted(&subject->source.book);
}

/* Requests the functions of the run, and returns their categories; NULL: none has one. */
static char *table_request_name_categories(const struct table_settings *o,
                                           struct command_source *subject)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct table_settings plain = {.command = o->command};
    struct result_table t = {0};
    int status = table_request_run(&plain, &(struct table_section){.what = "calls"}, subject, &t);
    char *text = status == EXIT_DONE ? function_categories_named(&names, &t) : NULL;
    result_table_free(&t);
    return text;
}

int table_request_run(const struct table_settings *o, const struct table_section *section,
                      struct command_source *subject, struct result_table *t)
{
    struct table_request request;
    struct encoder body = {0};
    if (section->make)
        return section->make(o, subject, t);
    if (!table_request_events_exist(o, subject))
        return EXIT_FAILED;
    char *categories = table_request_wants_categories(o, section, subject)
                           ? table_request_name_categories(o, subject)
                           : NULL;
    bool good = make_request(o, section, subject, &request);
    if (good && categories)
        add_option(&request, "category", categories);
    free(categories);
    encode_table_request(&body, &request);
    table_request_free(&request);
    if (!good) {
        encoder_free(&body);
        return EXIT_USAGE;
    }
    return table_progress_request(o->command, subject, &body, t) ? table_request_check(o, t)
                                                                 : EXIT_FAILED;
}
