/* poet report: a one-page summary of a run, whose sections are tables. */
#include "clients/metadata/hang_text.h"
#include "clients/cli/hang_table.h"
#include "clients/cli/leak_summary.h"
#include "clients/cli/table_options.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- heading ---- */

static const struct table_cell *report_find_cell(const struct result_table *t, const char *name)
{
    static const struct table_cell nothing = {0};
    uint32_t column = result_table_find_column(t, name);
    return t->row_count && column < t->column_count ? &result_table_cells(t, 0)[column] : &nothing;
}

static const char *report_cell_text(const struct result_table *t, const char *name)
{
    const struct table_cell *cell = report_find_cell(t, name);
    return cell->is == CELL_TEXT ? cell->text : "";
}

static unsigned long long report_cell_number(const struct result_table *t, const char *name)
{
    const struct table_cell *cell = report_find_cell(t, name);
    return cell->is == CELL_NUMBER && cell->number > 0 ? (unsigned long long)cell->number : 0;
}

/* Returns "2 threads" or "1 thread", in new memory. */
static char *report_count_text(unsigned long long n, const char *what)
{
    return xasprintf("%llu %s%s", n, what, n == 1 ? "" : "s");
}

static char *report_figures_text(const struct result_table *t)
{
    char took[60], lost[60] = "none lost", processes[60] = "";
    duration_text(took, sizeof took, (int64_t)report_cell_number(t, "duration_ns"));
    char *threads = report_count_text(report_cell_number(t, "threads"), "thread"),
         *events = report_count_text(report_cell_number(t, "events"), "event");
    const char *began = report_cell_text(t, "start");
    if (report_cell_number(t, "processes") > 1)
        snprintf(processes, sizeof processes, "%llu processes, ",
                 report_cell_number(t, "processes"));
    if (report_cell_number(t, "lost"))
        snprintf(lost, sizeof lost, "%llu lost", report_cell_number(t, "lost"));
    char *all = xasprintf("%s%s%s%s; %s%s, %s (%s)", began, *began ? ", " : "",
                          report_cell_number(t, "connected") ? "running for " : "duration ", took,
                          processes, threads, events, lost);
    free(threads);
    free(events);
    return all;
}

static void report_write_header(struct text_table *sheet, const struct table_names *names,
                                const struct result_table *t)
{
    const char *program = report_cell_text(t, "program"),
               *arguments = report_cell_text(t, "arguments");
    sheet->head = true;
    sheet->title = xasprintf("Run report: %s", names->book->run.name);
    if (*program)
        text_table_add_note(sheet, xasprintf("%s%s%s", program, *arguments ? " " : "", arguments));
    text_table_add_note(sheet, report_figures_text(t));
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(sheet, xstrdup(t->notes[i]));
}

/* ---- the page ---- */

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
static const struct table_section sections[] = {
    {.what = "run", .words = report_write_header, .page = true},
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

static error_t report_parse_option(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static int report_run(const struct command *command, int argc, char **argv)
{
    struct table_settings tables = {.command = command, .paper = true};
    int first, status = command_read(command, argc, argv, &tables, &first);
    if (status != OPTIONS_READ)
        return status;
    return table_output_command(&tables, argc, argv, first, sections,
                                sizeof sections / sizeof *sections);
}

static const struct argp argp = {
    .parser = report_parse_option,
    .args_doc = "[SOURCE]",
    .doc = "Print a one-page summary of a run: command and duration; deadlocks and hangs; key "
           "findings; leaks (if memory was traced); time per thread state; longest waits and their "
           "causes; top functions (if profiled); critical path with what-if gains.  A PDF is one "
           "page of A4.",
    .children = tables_children};

const struct command command_report = {.name = "report",
                                       .summary = "print a one-page summary of a run",
                                       .run = report_run,
                                       .argp = &argp};
