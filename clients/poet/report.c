/* poet report: one page about a run.  A section is a table that is asked for. */
#include "clients/book/fate.h"
#include "clients/poet/hangs.h"
#include "clients/poet/leaks.h"
#include "clients/poet/tables.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the head ---- */

static const struct table_cell *find(const struct shown_table *t, const char *name)
{
    static const struct table_cell nothing = {0};
    uint32_t column = table_find(t, name);
    return t->row_count && column < t->column_count ? &table_cells(t, 0)[column] : &nothing;
}

static const char *text(const struct shown_table *t, const char *name)
{
    const struct table_cell *cell = find(t, name);
    return cell->is == CELL_TEXT ? cell->text : "";
}

static unsigned long long number(const struct shown_table *t, const char *name)
{
    const struct table_cell *cell = find(t, name);
    return cell->is == CELL_NUMBER && cell->number > 0 ? (unsigned long long)cell->number : 0;
}

/* "2 threads", "1 thread". */
static char *counted(unsigned long long n, const char *what)
{
    return memory_printed("%llu %s%s", n, what, n == 1 ? "" : "s");
}

static char *say_figures(const struct shown_table *t)
{
    char took[60], lost[60] = "none lost", processes[60] = "";
    fate_duration(took, sizeof took, (int64_t)number(t, "took_ns"));
    char *threads = counted(number(t, "threads"), "thread"),
         *events = counted(number(t, "events"), "event");
    const char *began = text(t, "began");
    if (number(t, "processes") > 1)
        snprintf(processes, sizeof processes, "%llu processes, ", number(t, "processes"));
    if (number(t, "lost"))
        snprintf(lost, sizeof lost, "%llu lost", number(t, "lost"));
    char *all = memory_printed("%s%s%s%s; %s%s, %s, %s", began, *began ? ", " : "",
                               number(t, "connected") ? "so far " : "took ", took, processes,
                               threads, events, lost);
    free(threads);
    free(events);
    return all;
}

static void head(struct sheet *sheet, const struct table_names *names, const struct shown_table *t)
{
    const char *program = text(t, "program"), *arguments = text(t, "arguments");
    sheet->head = true;
    sheet->title = memory_printed("Where the time went: %s", names->book->run.name);
    if (*program)
        sheet_note(sheet, memory_printed("%s%s%s", program, *arguments ? " " : "", arguments));
    sheet_note(sheet, say_figures(t));
    for (uint32_t i = 0; i < t->note_count; i++)
        sheet_note(sheet, memory_copied(t->notes[i]));
}

/* ---- the page ---- */

#define WORD(name, word)                                                                           \
    {                                                                                              \
        (char[]){name}, (char[]) { word }                                                          \
    }
/* What is missing of the run is said once, above all. */
#define SAID WORD("missing", "0")
static struct table_option only_said[] = {SAID, {0}},
                           few_causes[] = {WORD("causes", "3"), WORD("chief", "1"), SAID, {0}},
                           with_others[] = {WORD("others", "1"), SAID, {0}},
                           at_zero[] = {WORD("zeros", "2"), SAID, {0}};

/* What stands on it, from top to bottom. */
static const struct tables_section sections[] = {
    {.what = "run", .words = head, .page = true},
    {.make = hangs_ask, .title = "what hangs", .page = true, .rare = true},
    {.make = hangs_asleep,
     .title = "asleep in calls that are not traced",
     .page = true,
     .rare = true},
    {.what = "hints",
     .title = "what to look at first",
     .columns = "hint,thread,about,by,ns,share,waits,where,released_by,event",
     .top = 8,
     .options = only_said,
     .page = true},
    {.what = "memory", .words = leaks_words, .page = true, .rare = true},
    {.make = hangs_at_exit, .title = "waiting at exit", .page = true, .rare = true},
    {.what = "states",
     .title = "where the threads' time went",
     .columns = "thread,ready_ns,running_ns,blocked_ns,system_ns,life_ns",
     .top = 12,
     .options = with_others,
     .page = true,
     .sort = "blocked_ns"},
    {.what = "waits",
     .title = "the longest waits, and why",
     .columns =
         "waited_ns,share,waits,where,type,for,kind,released_by,charge_ns,step,thread,direct",
     .top = 5,
     .note = "the first five: poet waits has all",
     .options = few_causes,
     .page = true},
    {.what = "calls",
     .title = "which functions took the time",
     .columns = "scope,calls,self_ns,self_share,total_ns,cpu_ns,mean_ns,mark",
     .top = 5,
     .note = "the first five: poet calls has all",
     .page = true,
     .by_time = true,
     .rare = true},
    {.what = "path",
     .title = "what decided how long it took",
     .columns = "step,path_ns,share,slack_ns,zero_ns",
     .top = 5,
     .note = "the first five: poet path has all",
     .options = at_zero,
     .page = true},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct tables tables = {.command = command, .paper = true};
    int first, status = command_read(command, argc, argv, &tables, &first);
    if (status != OPTIONS_READ)
        return status;
    return tables_command(&tables, argc, argv, first, sections, sizeof sections / sizeof *sections);
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Print one page about a run: which program ran, when and how long; what hangs, if "
        "anything does; what to look at first; what was never freed, where memory was measured; where the threads' time went; the longest waits "
        "and why; which functions took the time, where calls were measured; what decided how long it took, and what the greatest steps of that would win "
        "if they took no time.  As a PDF it is a page of A4.",
    .children = tables_children};

const struct command command_report = {
    .name = "report", .summary = "print one page: where the time went", .run = run, .argp = &argp};
