#include "clients/cli/assertion_check.h"

#include "base/alloc.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/output_format.h"
#include "clients/cli/pattern_request.h"
#include "clients/cli/table_options.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define ASSERTION_LISTED "10" /* violations of one assertion */

struct assertion_check {
    const struct command *command;
    struct command_source *subject;
    const char *source;
    enum assertion_output output;
    FILE *f;
    struct run_findings *findings;
};

/* ---- requests ---- */

static int assertion_check_request(const struct assertion_check *c, const struct assertion *a,
                                   struct result_table *t)
{
    static char pattern[] = "pattern", limit[] = "limit", listed[] = ASSERTION_LISTED,
                unmatched[] = "unmatched", yes[] = "1", counted[] = "counted";
    char *text = pattern_request_text(c->command, c->subject, a->text, a->pattern);
    char *more = xasprintf("%llu", (unsigned long long)a->most + 1000000);
    struct table_option options[5] = {{pattern, text}, {limit, listed}, {counted, more}, {0}};
    if (a->kind == ASSERTION_ALWAYS)
        options[3] = (struct table_option){unmatched, yes};
    struct table_settings plain = {.command = c->command};
    struct table_section section = {.what = "matches", .options = options};
    int status = text ? table_request_run(&plain, &section, c->subject, t) : EXIT_USAGE;
    free(text);
    free(more);
    return status == EXIT_DONE ? EXIT_DONE : EXIT_USAGE;
}

static uint64_t assertion_check_total(const struct result_table *t, const char *name)
{
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count && t->total && t->total[column].is == CELL_NUMBER
               ? (uint64_t)t->total[column].number
               : 0;
}

/* ---- output ---- */

static const struct table_cell *assertion_check_cell(const struct result_table *t, uint32_t row,
                                                     const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &nothing;
}

/* Returns the text of a cell in new memory; NULL if it has none. */
static char *assertion_check_cell_text(const struct assertion_check *c,
                                       const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *cell = assertion_check_cell(t, row, name);
    char event[48];
    switch (cell->is) {
    case CELL_TEXT:
        return xstrdup(cell->text);
    case CELL_LINE:
        return xstrdup(metadata_label(&c->subject->source.book, cell->line));
    case CELL_EVENT:
        event_id_print(event, sizeof event, cell->event);
        return xstrdup(event);
    case CELL_PLACE:
        return xstrdup(command_source_place(c->subject, cell->place.process, cell->place.address));
    default:
        return NULL;
    }
}

static void assertion_check_print_event(const struct assertion_check *c,
                                        const struct result_table *t, uint32_t row)
{
    static const char *const columns[] = {"name", "type", "event", "thread", "object", "location"};
    static const char *const before[] = {"    ", ": ", " ", " of ", " about ", " at "};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char *text = assertion_check_cell_text(c, t, row, columns[i]);
        if (text && *text)
            fprintf(c->f, "%s%s", before[i], text);
        free(text);
    }
    fputc('\n', c->f);
}

static struct json_object *assertion_check_event_json(const struct assertion_check *c,
                                                      const struct result_table *t, uint32_t row)
{
    static const char *const columns[] = {"name", "type", "event", "thread", "object", "location"};
    struct json_object *o = json_object_new_object();
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_object_object_add(o, columns[i],
                               json_take_text(assertion_check_cell_text(c, t, row, columns[i])));
    const struct table_cell *time = assertion_check_cell(t, row, "time_ns");
    json_object_object_add(o, "time_ns",
                           time->is == CELL_NUMBER ? json_object_new_int64(time->number) : NULL);
    return o;
}

/* Prints one assertion: {"file", "assertion", "ok", "violations", "uncertain", "matches": [[event,
 * ...], ...]}. */
static void assertion_check_print_json(const struct assertion_check *c, const struct assertion *a,
                                       const struct result_table *t, uint64_t count)
{
    struct json_object *o = json_object_new_object(), *matches = json_object_new_array(),
                       *match = NULL;
    for (uint32_t i = 0; i < t->row_count && count; i++) {
        if (!t->rows[i].depth)
            json_object_array_add(matches, match = json_object_new_array());
        json_object_array_add(match, assertion_check_event_json(c, t, i));
    }
    json_add_text(o, "file", c->source);
    json_add_text(o, "assertion", a->name);
    json_object_object_add(o, "ok", json_object_new_boolean(count == 0));
    json_object_object_add(o, "violations", json_object_new_uint64(count));
    json_object_object_add(o, "uncertain",
                           json_object_new_uint64(assertion_check_total(t, "uncertain")));
    json_object_object_add(o, "matches", matches);
    json_write(c->f, o);
    fputc('\n', c->f);
}

/* Returns what a violation of an assertion is, in new memory. */
static char *assertion_check_text(const struct assertion *a, uint64_t count)
{
    const char *first = a->pattern->events[0].name;
    for (uint32_t i = a->pattern->event_count; i-- > 0;)
        first = a->pattern->events[i].absent ? first : a->pattern->events[i].name;
    if (a->kind == ASSERTION_NEVER)
        return xasprintf("%s: %llu match%s, but there must never be one", a->name,
                         (unsigned long long)count, count == 1 ? "" : "es");
    if (a->kind == ASSERTION_ALWAYS)
        return xasprintf("%s: %llu event%s \"%s\" in no match", a->name, (unsigned long long)count,
                         plural_suffix(count), first);
    return xasprintf("%s: %llu match%s, but there must be at most %llu", a->name,
                     (unsigned long long)count, count == 1 ? "" : "es",
                     (unsigned long long)a->most);
}

static void assertion_check_print_text(const struct assertion_check *c, const struct assertion *a,
                                       const struct result_table *t, uint64_t count,
                                       const char *text)
{
    uint64_t uncertain = assertion_check_total(t, "uncertain"), listed = 0;
    fprintf(c->f, "%s: assertion %s%s\n", c->source, count ? text : a->name, count ? "" : ": OK");
    for (uint32_t i = 0; i < t->row_count && count; i++) {
        if (!t->rows[i].depth && listed++)
            fputs("    --\n", c->f);
        assertion_check_print_event(c, t, i);
    }
    if (count > listed)
        fprintf(c->f, "    ... and %llu more\n", (unsigned long long)(count - listed));
    if (uncertain)
        fprintf(c->f,
                "    %llu further violation%s possible: an order is unknown, or events are "
                "missing\n",
                (unsigned long long)uncertain, uncertain == 1 ? " is" : "s are");
}

/* ---- one assertion ---- */

/* Adds a finding for each violation that is listed; an assertion about a number has one. */
static void assertion_check_add_findings(const struct assertion_check *c, const struct assertion *a,
                                         const struct result_table *t, const char *text)
{
    for (uint32_t i = 0; i < t->row_count; i++)
        if (!t->rows[i].depth) {
            run_findings_add_match(c->findings, c->subject, xstrdup(text), t, i);
            if (a->kind == ASSERTION_AT_MOST)
                return;
        }
}

static int assertion_check_one(const struct assertion_check *c, const struct assertion *a)
{
    struct result_table t = {0};
    int status = assertion_check_request(c, a, &t);
    uint64_t count = status == EXIT_DONE ? assertion_check_total(&t, "match") : 0;
    if (a->kind == ASSERTION_AT_MOST && count <= a->most)
        count = 0;
    char *text = assertion_check_text(a, count);
    if (count)
        assertion_check_add_findings(c, a, &t, text);
    bool shown = count || c->output != ASSERTION_JSON_VIOLATIONS;
    if (status == EXIT_DONE && shown && c->output >= ASSERTION_JSON && c->output < ASSERTION_SILENT)
        assertion_check_print_json(c, a, &t, count);
    else if (status == EXIT_DONE &&
             (c->output == ASSERTION_TEXT || (c->output == ASSERTION_VIOLATIONS && count)))
        assertion_check_print_text(c, a, &t, count, text);
    free(text);
    result_table_free(&t);
    return status == EXIT_DONE && count ? EXIT_FAILED : status;
}

int assertion_check_run(const struct command *command, struct command_source *subject,
                        const struct assertions *all, const char *source,
                        enum assertion_output output, FILE *f, struct run_findings *findings)
{
    struct assertion_check c = {command, subject, source, output, f, findings};
    int status = EXIT_DONE;
    for (uint32_t i = 0; i < all->count && status != EXIT_USAGE; i++) {
        int one = assertion_check_one(&c, &all->items[i]);
        status = one == EXIT_DONE ? status : one;
    }
    return status;
}

int assertion_check_source(const struct command *command, const char *source, const char *file,
                           bool json, struct run_findings *findings)
{
    struct command_source subject;
    struct assertions all;
    bool good = assertions_load(file, stderr, &all);
    if (!good || !command_source_open(command, &subject, source, SESSION_ALL_LINES, LABELS_NAME)) {
        assertions_free(&all);
        return good ? EXIT_FAILED : EXIT_USAGE;
    }
    enum assertion_output output = finding_options_replace_text() ? ASSERTION_SILENT
                                   : json                         ? ASSERTION_JSON
                                                                  : ASSERTION_TEXT;
    int status = assertion_check_run(command, &subject, &all, source ? source : subject.source.name,
                                     output, stdout, findings);
    command_source_close(&subject);
    assertions_free(&all);
    return status;
}

int assertion_check_described(const struct command *command, struct command_source *subject,
                              const char *source, bool json, struct run_findings *findings)
{
    struct assertions all = {0};
    for (size_t t = 0; t < subject->source.book.target_count; t++)
        assertions_add_target(&all, subject->source.book.targets[t]);
    enum assertion_output output = finding_options_replace_text() ? ASSERTION_SILENT
                                   : json                         ? ASSERTION_JSON_VIOLATIONS
                                                                  : ASSERTION_VIOLATIONS;
    int status = assertion_check_run(command, subject, &all, source, output, stdout, findings);
    assertions_free(&all);
    return status;
}
