/* poet report: a one-page summary of a run, as a page of text or as tables. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command_source.h"
#include "clients/cli/diagram_output.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/html/html_page.h"
#include "clients/cli/memory.h"
#include "clients/cli/report_page.h"
#include "clients/cli/report_predictions.h"
#include "clients/cli/table_options.h"
#include "clients/cli/terminal.h"
#include "clients/connection/stack_frames.h"
#include "clients/connection/wait_list.h"
#include "clients/metadata/event_text.h"
#include "wire/os_usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tables of what hangs at the end of a run: threads in a deadlock cycle, and threads that no thread
 * can wake. */

/* These functions request the data and return an exit status, after reporting errors. The caller
 * frees the table in any case. */

#define MOST 12u /* maximum number of rows, and of notes below them */

enum { WHAT, THREAD, ABOUT, HELD_BY, TAKEN_AT, WAITED, WHERE, CALLED_BY, EVENT, COLUMNS };

#define CALLERS_SHOWN 2u

static void add_columns(struct result_table *t, const char *title)
{
    static const struct {
        const char *name, *title;
        enum table_kind kind;
    } columns[COLUMNS] = {{"diagnosis", "diagnosis", TABLE_TEXT},
                          {"thread", "thread", TABLE_LINE},
                          {"object", "blocked on", TABLE_LINE},
                          {"held_by", "held by", TABLE_LINE},
                          {"acquired_at", "acquired at", TABLE_PLACE},
                          {"waited_ns", "waited", TABLE_NS},
                          {"location", "location", TABLE_PLACE},
                          {"called_by", "called by", TABLE_TEXT},
                          {"event", "event", TABLE_EVENT}};
    t->title = xstrdup(title);
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct table_column c = {.name = xstrdup(columns[i].name),
                                 .title = xstrdup(columns[i].title),
                                 .unit = xstrdup(columns[i].kind == TABLE_NS ? "ns" : ""),
                                 .kind = (uint8_t)columns[i].kind,
                                 .exact = true,
                                 .detail = i == CALLED_BY,
                                 .source = xstrdup("order")};
        ARRAY_PUSH(t->columns, t->column_count, c);
    }
}

/* Returns whether the thread's program exited by itself, and the thread neither hangs nor is in a
 * deadlock cycle. */
static bool hang_table_is_at_exit(const struct wait_list *w, const struct wait_info *wait)
{
    return wait->at_exit && wait->fate == OUTCOME_OPEN && !wait_list_is_in_cycle(w, wait->thread);
}

static void set_place(struct table_cell *cell, uint32_t process, uint64_t address)
{
    if (address)
        *cell = table_cell_place((struct table_place){process, address});
}

/* Sets the cells of the thread that holds the object.  A note names a thread that keeps the waiter
 * waiting in another way, such as the only reader of a pipe.  Without an object, the thread is what
 * is awaited. */
static void set_holder(const struct wait_info *wait, struct table_cell *cells)
{
    const struct holder_info *holder = wait->holders;
    if (!wait->holder_count ||
        (wait->about && !hold_is_of_lock(holder->how) && holder->how != HOLD_UNIT))
        return;
    cells[HELD_BY] = table_cell_line(holder->thread);
    set_place(&cells[TAKEN_AT], holder->process, holder->site);
}

/* The text of the callers of the function in which a thread waits. */
struct callers_text {
    char *text;
    unsigned frames;
};

static void callers_text_add(void *callers, uint64_t address,
                             const struct symbol_location *function)
{
    struct callers_text *c = callers;
    (void)address;
    if (c->frames++ == 0 || c->frames > CALLERS_SHOWN + 1 || !*function->function)
        return;
    char *text = xasprintf("%s%s%s (%s)", c->text ? c->text : "", c->text ? ", " : "",
                           function->function, function->place);
    free(c->text);
    c->text = text;
}

static struct table_cell callers_cell(struct symbolizer *sites, const struct event_info *event)
{
    struct callers_text callers = {0};
    stack_frames_of_event(sites, event, callers_text_add, &callers);
    return callers.text ? (struct table_cell){.is = CELL_TEXT, .text = callers.text}
                        : (struct table_cell){0};
}

static void set_cells(struct symbolizer *sites, const struct wait_list *w,
                      const struct wait_info *wait, struct table_cell *cells)
{
    bool likely = wait->fate == OUTCOME_POSSIBLE;
    const char *what = !likely && wait_list_is_in_cycle(w, wait->thread) ? "deadlock"
                       : hang_table_is_at_exit(w, wait)                  ? "waiting"
                       : wait->fate == OUTCOME_NEVER                     ? "never resumes"
                                                                         : "likely never resumes";
    int64_t waited = w->now.now_ns - wait->since_ns;
    cells[WHAT] = (struct table_cell){.is = CELL_TEXT, .text = xstrdup(what)};
    cells[THREAD] = table_cell_line(wait->thread);
    cells[ABOUT] = table_cell_line(wait->about);
    set_holder(wait, cells);
    if (w->now.now_ns >= 0 && waited >= 0)
        cells[WAITED] = table_cell_number(waited);
    if (!wait->end)
        set_place(&cells[WHERE], wait->event.process, wait->event.site);
    if (!wait->end)
        cells[CALLED_BY] = callers_cell(sites, &wait->event);
    cells[EVENT] = table_cell_event(wait->event.at);
}

static void add_row(struct symbolizer *sites, const struct wait_list *w,
                    const struct wait_info *wait, struct result_table *t)
{
    struct table_row row = {.event = wait->event.at};
    ARRAY_PUSH(row.lines, row.line_count, wait->thread);
    if (wait->about)
        ARRAY_PUSH(row.lines, row.line_count, wait->about);
    ARRAY_PUSH(t->rows, t->row_count, row);
    set_cells(sites, w, wait, result_table_cells(t, t->row_count - 1));
}

/* Adds a note for each step of a cycle that more than the columns says: another kind of holder than
 * that of a mutex, or a signal handler. */
static void add_cycle_notes(const struct trace_metadata *book, const struct wait_list *w,
                            const struct cycle_info *cycle, struct result_table *t)
{
    for (uint32_t i = 0; i < cycle->count && t->note_count < MOST; i++) {
        const struct wait_info *wait = wait_list_of_thread(w, cycle->steps[i].thread);
        char *handler = handler_text(book, wait);
        if (handler || cycle->steps[i].how != HOLD_LOCK)
            ARRAY_PUSH(t->notes, t->note_count, deadlock_edge_text(book, cycle, i, wait));
        free(handler);
    }
    for (unsigned bit = 1; bit; bit <<= 1)
        if (cycle->doubts & bit && *uncertainty_sentence(bit))
            ARRAY_PUSH(t->notes, t->note_count, xstrdup(uncertainty_sentence(bit)));
}

/* Adds a note for each lock of a holder that has exited, and for each line of a diagnosis. */
static void add_notes(const struct trace_metadata *book, const struct wait_list *w,
                      struct result_table *t)
{
    const struct wait_info *lock = NULL;
    for (size_t i = 0; i < w->cycle_count && t->note_count < MOST; i++)
        add_cycle_notes(book, w, &w->cycles[i], t);
    while ((lock = wait_list_abandoned_lock(w, lock)) != NULL && t->note_count < MOST) {
        char *text = abandoned_lock_text(book, lock);
        text[strcspn(text, "\n")] = 0;
        ARRAY_PUSH(t->notes, t->note_count, text);
    }
    for (size_t i = 0; i < w->verdict_count && t->note_count < MOST; i++) {
        bool explained = wait_list_is_explained(w, &w->verdicts[i]);
        char *text = explained ? NULL : diagnosis_text(book, &w->verdicts[i]), *rest = text;
        for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;)
            if (*line)
                ARRAY_PUSH(t->notes, t->note_count, xstrdup(line));
        free(text);
    }
}

/* Returns the wait of a thread that sleeps at a futex. It borrows the sleeper. */
static struct wait_info hang_table_futex_wait(struct sleeper_info *s)
{
    struct wait_info wait = {.thread = s->thread,
                             .event = s->event,
                             .holders = &s->holder,
                             .holder_count = s->holder.thread != 0,
                             .fate = s->fate,
                             .since_ns = s->since_ns};
    if (s->site) {
        wait.event.site = s->site;
        wait.event.stack.count = 0; /* that is of another call */
    }
    return wait;
}

/* Adds a wait if it is in a deadlock cycle or, without `cycles`, in none, but hangs. */
static void hang_table_add_hang(struct symbolizer *sites, const struct wait_list *w,
                                const struct wait_info *wait, bool cycles, struct result_table *t)
{
    if (t->row_count < MOST && wait_list_is_in_cycle(w, wait->thread) == cycles &&
        (cycles || wait->fate != OUTCOME_OPEN))
        add_row(sites, w, wait, t);
}

/* Adds deadlocked threads first, since the others may wait for them. */
static void add_rows(const struct command_source *subject, const struct wait_list *w,
                     struct result_table *t)
{
    t->cells = xcalloc((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (unsigned cycles = 2; cycles-- > 0;) {
        for (size_t i = 0; i < w->count; i++)
            hang_table_add_hang(subject->sites, w, &w->items[i], cycles, t);
        for (size_t i = 0; i < w->sleeper_count; i++) {
            struct wait_info wait = hang_table_futex_wait(&w->sleepers[i]);
            hang_table_add_hang(subject->sites, w, &wait, cycles, t);
        }
    }
    if (t->row_count)
        add_notes(&subject->source.book, w, t);
}

static void hang_table_add_at_exit(const struct command_source *subject, const struct wait_list *w,
                                   struct result_table *t)
{
    size_t count = 0;
    t->cells = xcalloc((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < w->count; i++)
        if (hang_table_is_at_exit(w, &w->items[i]) && count++ < MOST)
            add_row(subject->sites, w, &w->items[i], t);
    if (count > MOST)
        ARRAY_PUSH(t->notes, t->note_count,
                   xasprintf("%zu threads wait; only the first %u are listed", count, MOST));
}

static void set_sleeper(const struct wait_list *w, const struct sleeper_info *s,
                        struct table_cell *cells)
{
    const char *call = sleep_call_name(s->call);
    cells[WHAT] = (struct table_cell){.is = CELL_TEXT,
                                      .text = xasprintf("asleep%s%s", *call ? ": " : "", call)};
    cells[THREAD] = table_cell_line(s->thread);
    if (w->now.now_ns >= s->since_ns)
        cells[WAITED] = table_cell_number(w->now.now_ns - s->since_ns);
    set_place(&cells[WHERE], s->event.process, s->site ? s->site : s->event.site);
    cells[EVENT] = table_cell_event(s->event.at);
}

/* What they wait for is not known: the sentence below says all that is. */
static void add_sleepers(const struct command_source *subject, const struct wait_list *w,
                         struct result_table *t)
{
    (void)subject;
    char *all = wait_list_sleepers(w);
    t->cells = xcalloc((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < w->sleeper_count && t->row_count < MOST; i++) {
        struct table_row row = {.event = w->sleepers[i].event.at};
        ARRAY_PUSH(row.lines, row.line_count, w->sleepers[i].thread);
        ARRAY_PUSH(t->rows, t->row_count, row);
        set_sleeper(w, &w->sleepers[i], result_table_cells(t, t->row_count - 1));
    }
    if (all)
        ARRAY_PUSH(t->notes, t->note_count, all);
}

static void hang_table_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(user, answer);
}

static bool hang_table_request_waits(const struct table_settings *o, struct command_source *subject,
                                     struct wait_list *waits)
{
    struct encoder judged = {0};
    *waits = (struct wait_list){0};
    encode_u8(&judged, 1);
    return command_source_request(o->command, subject, REQUEST_WAITS, &judged,
                                  hang_table_receive_waits, waits);
}

/* Makes a table of the blocked threads that `fill` selects. */
static int hang_table_make(const struct table_settings *o, struct command_source *subject,
                           struct result_table *t, const char *title,
                           void (*fill)(const struct command_source *subject,
                                        const struct wait_list *waits, struct result_table *table))
{
    struct wait_list waits;
    bool ok = hang_table_request_waits(o, subject, &waits);
    add_columns(t, title);
    if (ok)
        fill(subject, &waits, t);
    wait_list_free(&waits);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

/* Threads that wait although their program ended by itself: not an error. */
static int hang_table_at_exit(const struct table_settings *o, struct command_source *subject,
                              struct result_table *t)
{
    return hang_table_make(o, subject, t, "waiting_at_exit", hang_table_add_at_exit);
}

/* Threads that sleep in untraced calls. */
static int hang_table_sleepers(const struct table_settings *o, struct command_source *subject,
                               struct result_table *t)
{
    return hang_table_make(o, subject, t, "asleep", add_sleepers);
}

/* Threads in a deadlock cycle, and threads that no thread can wake. */
static int hang_table_request(const struct table_settings *o, struct command_source *subject,
                              struct result_table *t)
{
    return hang_table_make(o, subject, t, "hangs", add_rows);
}

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
    {.what = "violations", .title = "Rules violated", .page = true, .rare = true},
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
    bool text = !t->file || diagram_output_format(t->file) == OUTPUT_HTML ||
                diagram_output_format(t->file) == OUTPUT_TEXT;
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
        report_races_write(f, o, subject, source);
        report_predictions_write(f, o, subject, source);
        fclose(f);
    }
    for (size_t i = 0; i < REPORT_TABLES; i++)
        result_table_free(&tables[i]);
    return status;
}

/* Requests the diagram of the range, by default of the run; if that has too many events for a web
 * page, its end, where a hang is seen. *part: it is the end. */
static bool report_request_diagram(const struct table_settings *o, struct command_source *subject,
                                   struct event_diagram *picture, bool *part)
{
    *picture = (struct event_diagram){.command = o->command,
                                      .from = o->from,
                                      .to = o->to,
                                      .fold = 0,
                                      .labels = LABELS_NAME,
                                      .may_be_empty = true};
    bool range = diagram_range_is_set(picture);
    *part = !range && subject->source.book.run.events > WEBPAGE_EVENTS;
    picture->last = *part ? REPORT_COLUMNS : 0;
    if (!event_diagram_request(o->command, picture, subject))
        return false;
    bool cut = range && !o->to.is && picture->window.more_right;
    if (picture->window.event_count <= WEBPAGE_EVENTS && !cut)
        return true;
    *part = true;
    if (!cut)
        return event_diagram_columns(o->command, picture, subject,
                                     picture->window.last - (int32_t)REPORT_COLUMNS + 1,
                                     REPORT_COLUMNS);
    event_diagram_free(picture);
    *picture = (struct event_diagram){
        .command = o->command, .last = REPORT_COLUMNS, .fold = 0, .labels = LABELS_NAME};
    return event_diagram_request(o->command, picture, subject);
}

/* Returns what the page says about its diagram; part: it is the end of the range, or of the run. */
static const char *report_diagram_note(const struct table_settings *o,
                                       const struct event_diagram *picture, bool part)
{
    bool range = o->from.is || o->to.is;
    return range && !picture->window.event_count
               ? "\nNo event is in the range: the diagram is empty\n"
           : !part ? ""
           : range ? "\nThe diagram shows the end of the range; all of it: poet view\n"
                   : "\nThe diagram shows the end of the run; all of it: poet view\n";
}

/* Writes the text and the diagram as one web page. */
static int report_write_html(const struct table_settings *o, struct command_source *subject,
                             const char *text)
{
    struct event_diagram picture;
    bool part;
    int status = EXIT_FAILED;
    if (report_request_diagram(o, subject, &picture, &part)) {
        char *page = xasprintf("%s%s", text, report_diagram_note(o, &picture, part));
        status = diagram_output_add_page(o->command, &picture, subject, page, false, o->file);
        free(page);
    }
    event_diagram_free(&picture);
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
    int status = finding_options_check(o->command, o->findings);
    if (status != EXIT_DONE)
        return status;
    table_progress_begin(o->command);
    if (!command_source_open(o->command, &subject, source, SESSION_ALL_LINES,
                             label_option_selected(LABELS_NAME)))
        return finding_options_status(EXIT_FAILED);
    command_source_warn_updated(o->command, &subject);
    bool page = o->file || !finding_options_replace_text();
    if (page)
        status = report_make_text(o, &subject, source, &text);
    if (page && status == EXIT_DONE)
        status = o->file && diagram_output_format(o->file) == OUTPUT_HTML
                     ? report_write_html(o, &subject, text)
                     : report_write_text(o, text);
    free(text);
    status =
        finding_options_judge(o->command, &subject, o->findings, NULL, subject.source.name, status);
    command_source_close(&subject);
    return status;
}

/* ---- the command ---- */

bool report_may_be_named(const char *file)
{
    return table_output_may_be_named(file) || diagram_output_format(file) == OUTPUT_HTML;
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
    struct report_options o = {.tables = {.command = command,
                                          .paper = true,
                                          .findings = FINDINGS_OF_HANGS | FINDINGS_OF_RULES |
                                                      FINDINGS_OF_PREDICTION | FINDINGS_OF_ORDERS |
                                                      FINDINGS_OF_RACES | FINDINGS_OF_MEMORY}};
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
    {"all", OPTION_ALL, NULL, 0, "print the tables of which the page is a summary", 1}, {0}};

static const struct argp argp = {
    .options = report_options,
    .parser = report_parse_option,
    .args_doc = "[SOURCE]",
    .doc = "Print a summary of a run on one page of 80 columns: the diagnosis of deadlocks and "
           "hangs; at most five key findings, those with the largest estimated gain first; where "
           "the time of each thread went; the longest waits and their causes; the critical path; "
           "potential bugs or, if there are none, orders that no synchronization enforces; each "
           "with the command that shows more.  -o FILE.html writes the page and the diagram to one "
           "self-contained web page, for a bug report.  --all, PDF, JSON and CSV have full tables "
           "instead: command and duration, deadlocks and hangs, key findings, leaks (if "
           "memory was traced), time per thread state, longest waits, top functions (if profiled), "
           "critical path with what-if gains.",
    .children = tables_finding_children};

const struct command command_report = {.name = "report",
                                       .summary = "print a one-page summary of a run",
                                       .run = report_run,
                                       .argp = &argp};
