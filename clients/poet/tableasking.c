#define _GNU_SOURCE
#include "clients/poet/tableasking.h"

#include "clients/poet/awaiting.h"
#include "clients/poet/exists.h"
#include "clients/source/categories.h"
#include "config/values.h"
#include "memory/memory.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum source_lines tables_lines(const struct tables *o)
{
    return o->lines ? SOURCE_ALL_LINES : SOURCE_NAMED_LINES;
}

/* One word of a list of lines: a number, or a pattern on names. */
static bool add_lines(struct table_request *r, struct subject *subject, const char *word)
{
    const struct book *book = &subject->source.book;
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    bool exact = *word && !*end, any = false;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        bool is = exact ? i == number
                        : book_drawn(book, i) && label_is_called(book, subject->sites, i, word);
        if (is)
            PUSH(r->lines, r->line_count, i);
        any |= is;
    }
    return any;
}

bool tables_name_lines(const struct tables *o, struct table_request *r, struct subject *subject)
{
    char *copy = memory_copied(o->lines), *rest = copy;
    bool good = true;
    for (char *word; good && (word = strsep(&rest, ",")) != NULL;) {
        good = add_lines(r, subject, word);
        if (!good)
            command_usage(o->command, "--lines: there is no line \"%s\": see poet dump", word);
    }
    free(copy);
    return good;
}

static void add_option(struct table_request *r, const char *key, const char *value)
{
    struct table_option option = {memory_copied(key), memory_copied(value)};
    PUSH(r->options, r->option_count, option);
}

/* False: said why. */
static bool make_request(const struct tables *o, const struct tables_section *section,
                         struct subject *subject, struct table_request *r)
{
    const char *sort = o->sort ? o->sort : section->sort ? section->sort : "";
    *r = (struct table_request){.what = memory_copied(section->what),
                                .by = memory_copied(o->by ? o->by : ""),
                                .from = o->from,
                                .to = o->to,
                                .past_of = o->past_of,
                                .sort = memory_copied(sort),
                                .top = section->top ? section->top : o->top,
                                .flags = (o->backwards ? TABLE_BACKWARDS : 0u) |
                                         (o->tree ? TABLE_TREE : 0u) | (o->raw ? TABLE_RAW : 0u)};
    for (const struct table_option *option = section->options; option && option->key; option++)
        add_option(r, option->key, option->value);
    return !o->lines || tables_name_lines(o, r, subject);
}

/* ---- the answer ---- */

/* With and without what a name may leave out. */
static char *nearest_column(const struct shown_table *t, const char *word)
{
    const char *names[2 * LIMIT_TABLE_COLUMNS + 1] = {NULL};
    char *shorter[LIMIT_TABLE_COLUMNS];
    for (uint32_t i = 0; i < t->column_count; i++) {
        const char *name = t->columns[i].name;
        size_t n = strlen(name);
        bool ns = n > 3 && strcmp(name + n - 3, "_ns") == 0;
        names[2 * i] = name;
        names[2 * i + 1] = shorter[i] = memory_copied_part(name, ns ? n - 3 : n);
    }
    const char *near = nearest(word, names);
    char *copy = near ? memory_copied(near) : NULL;
    for (uint32_t i = 0; i < t->column_count; i++)
        free(shorter[i]);
    return copy;
}

int tableasking_no_column(const struct tables *o, const struct shown_table *t, const char *option,
                          const char *word)
{
    char *near = nearest_column(t, word);
    char *all = memory_copied("");
    for (uint32_t i = 0; !near && i < t->column_count; i++) {
        char *more = memory_printed("%s%s%s", all, i ? ", " : "", t->columns[i].name);
        free(all);
        all = more;
    }
    command_usage(o->command,
                  near ? "%s: there is no column \"%s\": did you mean \"%s\"?"
                       : "%s: there is no column \"%s\": there are %s",
                  option, word, near ? near : all);
    free(all);
    free(near);
    return EXIT_USAGE;
}

static int judge(const struct tables *o, const struct shown_table *t)
{
    if (t->problem)
        return command_usage(o->command, "%s", t->problem);
    if (o->sort && table_find(t, o->sort) == t->column_count)
        return tableasking_no_column(o, t, o->sort == o->width_of ? "--width-of" : "--sort",
                                     o->sort);
    return EXIT_DONE;
}

/* Events that options name, as other commands say it.  False: said which there is not. */
static bool are_there(const struct tables *o, struct subject *subject)
{
    const struct ref named[] = {o->from.is == TABLE_AT_EVENT ? o->from.event : (struct ref){0},
                                o->to.is == TABLE_AT_EVENT ? o->to.event : (struct ref){0},
                                o->past_of};
    struct error error;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].line && !exists_event(subject, named[i], &error)) {
            command_fail(o->command, "%s", error.text);
            return false;
        }
    return true;
}

/* ---- categories ---- */

/* What waits for, and paths are of, may be of a category by the names of functions, which are known here alone. */
static bool wants_categories(const struct tables *o, const struct tables_section *section,
                             const struct subject *subject)
{
    bool by = o->by && strcmp(o->by, "category") == 0,
         any = strcmp(section->what, "waits") == 0 || strcmp(section->what, "path") == 0;
    return any && (by || strcmp(section->what, "waits") == 0) &&
           categories_wanted(&subject->source.book);
}

/* The functions of the run are asked for first; NULL: none is of a category by its name. */
static char *name_categories(const struct tables *o, struct subject *subject)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct tables plain = {.command = o->command};
    struct shown_table t = {0};
    int status = tables_ask(&plain, &(struct tables_section){.what = "calls"}, subject, &t);
    char *said = status == EXIT_DONE ? categories_named(&names, &t) : NULL;
    shown_table_free(&t);
    return said;
}

int tables_ask(const struct tables *o, const struct tables_section *section,
               struct subject *subject, struct shown_table *t)
{
    struct table_request request;
    struct out body = {0};
    if (section->make)
        return section->make(o, subject, t);
    if (!are_there(o, subject))
        return EXIT_FAILED;
    char *categories = wants_categories(o, section, subject) ? name_categories(o, subject) : NULL;
    bool good = make_request(o, section, subject, &request);
    if (good && categories)
        add_option(&request, "category", categories);
    free(categories);
    put_table_request(&body, &request);
    table_request_free(&request);
    if (!good) {
        out_free(&body);
        return EXIT_USAGE;
    }
    return awaiting_table(o->command, subject, &body, t) ? judge(o, t) : EXIT_FAILED;
}
