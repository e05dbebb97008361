/* poet report: a one-page summary of a run, as a page of text or as tables. */
#define _GNU_SOURCE
#include "clients/cli/report_page.h"
#include "clients/cli/diagram_output.h"
#include "clients/cli/hang_table.h"
#include "clients/cli/label_option.h"
#include "clients/cli/leak_summary.h"
#include "clients/cli/pager.h"
#include "clients/cli/html/html_page.h"
#include "clients/cli/table_options.h"
#include "clients/cli/table_progress.h"
#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables ---- */

#define WORD(name, word)                                                                           \
    {                                                                                              \
        (char[]){name}, (char[]) { word }                                                          \
    }
/* No notes on missing data below each table: the heading has them once. */
#define NO_MISSING_NOTES WORD("missing", "0")
static struct table_option no_missing_notes[] = {NO_MISSING_NOTES, {0}},
                           few_causes[] = {WORD("causes", "3"),
                                           WORD("chief", "1"),
                                           NO_MISSING_NOTES,
                                           {0}},
                           with_others[] = {WORD("others", "1"), NO_MISSING_NOTES, {0}},
                           at_zero[] = {WORD("zeros", "2"), NO_MISSING_NOTES, {0}};

/* The sections, from top to bottom. */
static const struct table_section sections[REPORT_TABLES] = {
    {.what = "run", .words = report_page_header, .page = true},
    {.make = hang_table_request, .title = "Deadlocks and hangs", .page = true, .rare = true},
    {.make = hang_table_sleepers, .title = "Asleep in untraced calls", .page = true, .rare = true},
    {.what = "findings",
     .title = "Key findings",
     .columns = "finding,thread,object,unblocked_by,duration_ns,share,count,location,"
                "unblocked_at,event",
     .top = 8,
     .options = no_missing_notes,
     .page = true},
    {.what = "memory", .words = leak_summary_write, .page = true, .rare = true},
    {.make = hang_table_at_exit, .title = "Waiting at exit", .page = true, .rare = true},
    {.what = "states",
     .title = "Time per thread state",
     .columns = "thread,runnable_ns,running_ns,blocked_ns,other_off_cpu_ns,lifetime_ns",
     .top = 12,
     .options = with_others,
     .page = true,
     .sort = "blocked_ns"},
    {.what = "waits",
     .title = "Longest waits and their causes",
     .columns = "waited_ns,share,count,location,type,object,cause,unblocked_at,"
                "attributed_ns,segment,thread,direct",
     .top = 5,
     .note = "only the top 5; see poet waits",
     .options = few_causes,
     .page = true},
    {.what = "calls",
     .title = "Top functions",
     .columns = "function,calls,self_ns,self_share,total_ns,cpu_ns,mean_ns,flags",
     .top = 5,
     .note = "only the top 5; see poet calls",
     .page = true,
     .by_time = true,
     .rare = true},
    {.what = "path",
     .title = "Critical path",
     .columns = "segment,critical_path_ns,share,slack_ns,whatif_gain_ns",
     .top = 5,
     .note = "only the top 5; see poet path",
     .options = at_zero,
     .page = true},
};

enum { OPTION_ALL = 3000 };

struct report_options {
    struct table_settings tables;
    bool all;
};

/* ---- the page ---- */

#define REPORT_COLUMNS 1000u /* of the picture of a run that is too long for a web page */

/* Returns whether the page is requested, rather than its tables. */
static bool report_wants_page(const struct report_options *o)
{
    const struct table_settings *t = &o->tables;
    bool text = !t->file || diagram_output_format(t->file) == DIAGRAM_HTML ||
                diagram_output_format(t->file) == DIAGRAM_TEXT;
    return text && !o->all && !t->json && !t->csv && !t->follow && !t->chart && !t->baseline &&
           !t->columns && !t->sort && !t->top && !t->by && !t->tree && !t->raw;
}

/* Requests the tables whole, as the page says how much of them it leaves out. */
static int report_request_tables(const struct table_settings *o, struct command_source *subject,
                                 struct result_table tables[REPORT_TABLES])
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < REPORT_TABLES && status == EXIT_DONE; i++) {
        struct table_section section = sections[i];
        section.top = 0;
        if (!section.by_time || !o->past_of.line)
            status = table_request_run(o, &section, subject, &tables[i]);
    }
    return status;
}

/* Makes the text of the page; returns an exit status, after reporting errors. */
static int report_make_text(const struct table_settings *o, struct command_source *subject,
                            const char *source, char **text)
{
    struct result_table tables[REPORT_TABLES] = {0};
    struct table_names names = {&subject->source.book, subject->sites};
    size_t size;
    int status = report_request_tables(o, subject, tables);
    FILE *f = status == EXIT_DONE ? open_memstream(text, &size) : NULL;
    if (f) {
        report_page_write(f, &names, tables, source);
        fclose(f);
    }
    for (size_t i = 0; i < REPORT_TABLES; i++)
        result_table_free(&tables[i]);
    return status;
}

/* Writes the text and the diagram as one web page; of a run that is too long its end, where a hang
 * is seen. */
static int report_write_html(const struct table_settings *o, struct command_source *subject,
                             const char *text)
{
    struct event_diagram picture = {.command = o->command, .fold = 0, .labels = LABELS_NAME};
    bool part = subject->source.book.run.events > WEBPAGE_EVENTS;
    picture.last = part ? REPORT_COLUMNS : 0;
    char *page = xasprintf(
        "%s%s", text, part ? "\nThe diagram shows the end of the run; all of it: poet view\n" : "");
    int status = event_diagram_request(o->command, &picture, subject)
                     ? diagram_output_add_page(o->command, &picture, subject, page, false, o->file)
                     : EXIT_FAILED;
    event_diagram_free(&picture);
    free(page);
    return status;
}

static int report_write_text(const struct table_settings *o, const char *text)
{
    if (!o->file) {
        pager_begin();
        fputs(text, stdout);
        return EXIT_DONE;
    }
    FILE *f = fopen(o->file, "we");
    bool bad = !f || fputs(text, f) < 0;
    bad |= f && fclose(f) != 0;
    return bad ? command_fail(o->command, "%s: %s", o->file, strerror(errno)) : EXIT_DONE;
}

static int report_run_page(const struct table_settings *o, int argc, char **argv, int first)
{
    struct command_source subject;
    char *text = NULL;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(o->command, "extra operand: %s", argv[first]);
    table_progress_begin(o->command);
    if (!command_source_open(o->command, &subject, source, SESSION_ALL_LINES,
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(o->command, &subject);
    int status = report_make_text(o, &subject, source, &text);
    if (status == EXIT_DONE)
        status = o->file && diagram_output_format(o->file) == DIAGRAM_HTML
                     ? report_write_html(o, &subject, text)
                     : report_write_text(o, text);
    free(text);
    command_source_close(&subject);
    return status;
}

/* ---- the command ---- */

bool report_may_be_named(const char *file)
{
    return table_output_may_be_named(file) || diagram_output_format(file) == DIAGRAM_HTML;
}

static error_t report_parse_option(int key, char *value, struct argp_state *state)
{
    struct report_options *o = state->input;
    (void)value;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->tables;
        return 0;
    case OPTION_ALL:
        o->all = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int report_run(const struct command *command, int argc, char **argv)
{
    struct report_options o = {.tables = {.command = command, .paper = true}};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    if (o.tables.file && !report_may_be_named(o.tables.file))
        return command_usage(command, "-o %s: " REPORT_NAMES, o.tables.file);
    if (report_wants_page(&o))
        return report_run_page(&o.tables, argc, argv, first);
    return table_output_command(&o.tables, argc, argv, first, sections, REPORT_TABLES);
}

static const struct argp_option report_options[] = {
    {"all", OPTION_ALL, NULL, 0, "the tables of the page, with more rows and all their notes", 1},
    {0}};

static const struct argp argp = {
    .options = report_options,
    .parser = report_parse_option,
    .args_doc = "[SOURCE]",
    .doc = "Print a summary of a run on one page of 80 columns: the diagnosis of deadlocks and "
           "hangs; at most five key findings, those with the largest estimated gain first; where "
           "the time of each thread went; the longest waits and their causes; the critical path; "
           "each with the command that shows more.  -o FILE.html writes the page with the diagram "
           "into one web page that loads nothing, for a bug report.  A PDF, JSON, CSV and --all "
           "have the tables: command and duration, deadlocks and hangs, key findings, leaks (if "
           "memory was traced), time per thread state, longest waits, top functions (if profiled), "
           "critical path with what-if gains.",
    .children = tables_children};

const struct command command_report = {.name = "report",
                                       .summary = "print a one-page summary of a run",
                                       .run = report_run,
                                       .argp = &argp};
