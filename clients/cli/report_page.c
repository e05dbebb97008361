#define _GNU_SOURCE
#include "clients/cli/report_page.h"

#include "base/alloc.h"
#include "clients/cli/memory.h"
#include "clients/cli/rule_violations.h"
#include "clients/connection/finding_choice.h"
#include "clients/metadata/event_text.h"
#include "wire/thread_state_names.h"

#include <stdlib.h>
#include <string.h>

#define HANGS 6 /* the most that are listed of each section */
#define FINDINGS 5
#define ADVISED 2 /* findings with their advice */
#define THREADS 7
#define WAITS 3
#define SEGMENTS 3
#define FEW 2 /* findings and waits of a run that hangs */
#define HANG_NOTES 3 /* notes about the objects at which threads wait */
#define BAR 32
#define NAME 18 /* width of a thread's name, at most */
#define SLEEPERS 3
#define OPEN_WAITS 4
#define VIOLATIONS 3

struct report_page {
    FILE *f;
    const struct table_names *names;
    const struct result_table *tables; /* by enum report_table */
    const char *source;
    bool hangs;
    bool few; /* the diagnosis takes more room: fewer findings and waits */
};

/* ---- cells ---- */

/* Returns a cell as text, "" if it is unknown; in new memory. */
static char *report_page_cell_text(const struct report_page *p, const struct result_table *t,
                                   uint32_t row, const char *name)
{
    const struct table_cell *cell = report_cell(t, row, name);
    if (cell->is == CELL_NULL)
        return xstrdup("");
    char *text =
        result_table_cell_text(p->names, &t->columns[result_table_find_column(t, name)], cell);
    if (strcmp(text, "-") == 0)
        *text = 0;
    return text;
}

/* ---- the heading ---- */

/* Returns "2 threads" or "1 thread", in new memory. */
static char *report_page_count_text(int64_t n, const char *what)
{
    return xasprintf("%lld %s%s", (long long)n, what, n == 1 ? "" : "s");
}

static char *report_page_figures_text(const struct result_table *t)
{
    char took[60], lost[60] = "none lost", processes[60] = "";
    duration_text(took, sizeof took, report_cell_number(t, 0, "duration_ns"));
    char *threads = report_page_count_text(report_cell_number(t, 0, "threads"), "thread"),
         *events = report_page_count_text(report_cell_number(t, 0, "events"), "event");
    const char *began = report_cell_string(t, 0, "start");
    if (report_cell_number(t, 0, "processes") > 1)
        snprintf(processes, sizeof processes, "%lld processes, ",
                 (long long)report_cell_number(t, 0, "processes"));
    if (report_cell_number(t, 0, "lost"))
        snprintf(lost, sizeof lost, "%lld lost", (long long)report_cell_number(t, 0, "lost"));
    char *all = xasprintf("%s%s%s%s; %s%s, %s (%s)", began, *began ? ", " : "",
                          report_cell_number(t, 0, "connected") ? "running for " : "duration ",
                          took, processes, threads, events, lost);
    free(threads);
    free(events);
    return all;
}

void report_page_header(struct text_table *sheet, const struct table_names *names,
                        const struct result_table *t)
{
    const char *program = report_cell_string(t, 0, "program"),
               *arguments = report_cell_string(t, 0, "arguments");
    sheet->head = true;
    sheet->title = xasprintf("Run report: %s", names->book->run.name);
    if (*program)
        text_table_add_note(sheet, xasprintf("%s%s%s", program, *arguments ? " " : "", arguments));
    text_table_add_note(sheet, report_page_figures_text(t));
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(sheet, xstrdup(t->notes[i]));
}

static void report_page_write_header(const struct report_page *p)
{
    struct text_table sheet = {0};
    report_page_header(&sheet, p->names, &p->tables[REPORT_RUN]);
    report_line_print(p->f, xstrdup(sheet.title));
    for (uint32_t i = 0; i < sheet.note_count; i++)
        report_line_indent(p->f, 0, xstrdup(sheet.notes[i]));
    text_table_free(&sheet);
}

/* ---- diagnosis ---- */

/* Prints "T:a waits for M:m at f (x.c:5), held by T:b, acquired at g (x.c:3)"; if it waits for
 * another thread itself, such as the end of a child process, "T:a waits for T:b at f (x.c:5)". */
static void report_page_write_hang(const struct report_page *p, uint32_t row)
{
    const struct result_table *t = &p->tables[REPORT_HANGS];
    char *thread = report_page_cell_text(p, t, row, "thread"),
         *object = report_page_cell_text(p, t, row, "object"),
         *place = report_page_cell_text(p, t, row, "location"),
         *callers = report_page_cell_text(p, t, row, "called_by"),
         *holder = report_page_cell_text(p, t, row, "held_by"),
         *since = report_page_cell_text(p, t, row, "acquired_at");
    bool own = strcmp(object, thread) == 0; /* it waits for what other threads do on its line */
    const char *awaited = own       ? ""
                          : *object ? object
                                    : holder,
               *by = *object ? holder : "", *at = *object ? since : "";
    report_line_indent(p->f, 4,
                       xasprintf("%s waits%s%s%s%s%s%s%s%s%s%s", thread, *awaited ? " for " : "",
                                 awaited, *place ? " at " : "", place,
                                 *callers ? ", called by " : "", callers, *by ? ", held by " : "",
                                 by, *at ? ", acquired at " : "", at));
    free(thread);
    free(object);
    free(place);
    free(callers);
    free(holder);
    free(since);
}

static bool report_page_has_diagnosis(const struct result_table *t, uint32_t row,
                                      const char *diagnosis)
{
    return strcmp(report_cell_string(t, row, "diagnosis"), diagnosis) == 0;
}

/* Returns the number of threads with a diagnosis; sets *selves to the number of those that wait for
 * what they hold themselves. */
static uint32_t report_page_count_hangs(const struct result_table *t, const char *diagnosis,
                                        uint32_t *selves)
{
    uint32_t count = 0;
    *selves = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        bool counts = report_page_has_diagnosis(t, i, diagnosis);
        count += counts;
        *selves +=
            counts && report_cell(t, i, "thread")->line == report_cell(t, i, "held_by")->line;
    }
    return count;
}

/* Prints the title, with the number of rows that are left out, and the rules that the program
 * broke: what else happened may be due to that. */
static void report_page_begin_diagnosis(const struct report_page *p, uint32_t more)
{
    report_line_title(p->f, "Diagnosis", more, "blocked", p->source);
    rule_violations_write(p->f, 2, p->names, &p->tables[REPORT_VIOLATIONS], VIOLATIONS);
}

/* Prints what is known of the objects; lines that explain "HANG: ..." are indented below it. */
static void report_page_write_hang_notes(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_HANGS];
    for (uint32_t i = 0; i < t->note_count && i < HANG_NOTES; i++)
        report_line_indent(p->f, strstr(t->notes[i], "HANG: ") ? 2 : 4, xstrdup(t->notes[i]));
}

static void report_page_write_hangs(const struct report_page *p)
{
    static const char *const kinds[][3] = {
        {"deadlock", "DEADLOCK: %s wait for each other", "DEADLOCK: %s in self-deadlock"},
        {"never resumes", "HANG: %s will never resume"},
        {"likely never resumes", "LIKELY HANG: %s will likely never resume"}};
    const struct result_table *t = &p->tables[REPORT_HANGS];
    uint32_t shown = 0;
    report_page_begin_diagnosis(p, t->row_count > HANGS ? t->row_count - HANGS : 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t selves, count = report_page_count_hangs(t, kinds[i][0], &selves);
        char *threads = report_page_count_text(count, "thread");
        const char *text = kinds[i][kinds[i][2] && selves == count ? 2 : 1],
                   *rest = strstr(text, "%s");
        if (count)
            report_line_indent(p->f, 2,
                               xasprintf("%.*s%s%s", (int)(rest - text), text, threads, rest + 2));
        free(threads);
        for (uint32_t row = 0; row < t->row_count && shown < HANGS; row++) {
            if (!report_page_has_diagnosis(t, row, kinds[i][0]))
                continue;
            report_page_write_hang(p, row);
            shown++;
        }
    }
    report_page_write_hang_notes(p);
}

static bool report_page_is_open(const struct report_page *p, uint32_t row)
{
    return strncmp(report_cell_string(&p->tables[REPORT_FINDINGS], row, "finding"), "blocked", 7) ==
           0;
}

/* Prints that no hang is known, and which threads were blocked at the end of the trace. */
static void report_page_write_open_waits(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_FINDINGS];
    uint32_t count = 0, shown = 0;
    for (uint32_t i = 0; i < t->row_count; i++)
        count += report_page_is_open(p, i);
    char *threads = report_page_count_text(count, "thread");
    report_page_begin_diagnosis(p, count > OPEN_WAITS ? count - OPEN_WAITS : 0);
    report_line_indent(p->f, 2,
                       count ? xasprintf("no deadlock was found; %s blocked at the end of the "
                                         "trace may resume:",
                                         threads)
                             : xstrdup("no deadlock and no hang was found"));
    for (uint32_t i = 0; i < t->row_count && shown < OPEN_WAITS; i++) {
        if (!report_page_is_open(p, i))
            continue;
        char *thread = report_page_cell_text(p, t, i, "thread"),
             *object = report_page_cell_text(p, t, i, "object"),
             *place = report_page_cell_text(p, t, i, "location"),
             *took = report_line_duration(report_cell_number(t, i, "duration_ns"));
        const struct line_metadata *line =
            metadata_line(p->names->book, report_cell(t, i, "object")->line);
        report_line_indent(p->f, 4,
                           xasprintf("%s waits%s%s%s%s%s for %s", thread, *object ? " for " : "",
                                     object, line && line->is.closed ? ", which was deleted," : "",
                                     *place ? " at " : "", place, took));
        shown++;
        free(thread);
        free(object);
        free(place);
        free(took);
    }
    free(threads);
}

/* Prints "threads were blocked 71.6 % of their time, running 20.1 %, ...", the largest first. */
static void report_page_write_shares(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_STATES];
    int64_t all = report_cell_number(t, REPORT_TOTAL, "lifetime_ns");
    bool told[THREAD_STATES] = {[THREAD_STATE_CREATED] = true, [THREAD_STATE_EXITED] = true};
    char *text = xstrdup("");
    for (unsigned n = 0; all && n < THREAD_STATES; n++) {
        int64_t most_ns = 0;
        unsigned most = 0;
        for (unsigned i = 0; i < THREAD_STATES; i++) {
            int64_t ns =
                told[i] ? 0 : report_cell_number(t, REPORT_TOTAL, thread_state_words[i].column);
            most = ns > most_ns ? i : most;
            most_ns = ns > most_ns ? ns : most_ns;
        }
        if (most_ns < all / 200) /* less than a percent */
            break;
        told[most] = true;
        char *longer =
            xasprintf("%s%s%s %.0f %%", text, n ? ", " : "", thread_state_words[most].short_name,
                      100.0 * (double)most_ns / (double)all);
        free(text);
        text = longer;
    }
    if (*text)
        report_line_indent(p->f, 2, xasprintf("thread time: %s", text));
    free(text);
}

static void report_page_write_leaks(const struct report_page *p)
{
    struct text_table sheet = {0};
    const struct result_table *t = &p->tables[REPORT_MEMORY];
    if (!t->row_count || !report_cell_number(t, REPORT_TOTAL, "unfreed_blocks"))
        return;
    leak_summary_write(&sheet, p->names, t);
    for (uint32_t i = 0; i < sheet.note_count; i++)
        report_line_indent(p->f, 2, xasprintf("%s: %s (poet memory)", sheet.title, sheet.notes[i]));
    text_table_free(&sheet);
}

static void report_page_write_sleeper(const struct report_page *p, uint32_t row)
{
    const struct result_table *t = &p->tables[REPORT_SLEEPERS];
    char *thread = report_page_cell_text(p, t, row, "thread"),
         *place = report_page_cell_text(p, t, row, "location"),
         *event = report_page_cell_text(p, t, row, "event");
    report_line_print(p->f, xasprintf("    %s, %s, after event %s%s%s", thread,
                                      report_cell_string(t, row, "diagnosis"), event,
                                      *place ? " at " : "", place));
    free(thread);
    free(place);
    free(event);
}

static void report_page_write_diagnosis(const struct report_page *p)
{
    const struct result_table *asleep = &p->tables[REPORT_SLEEPERS],
                              *at_exit = &p->tables[REPORT_AT_EXIT];
    if (p->hangs)
        report_page_write_hangs(p);
    else
        report_page_write_open_waits(p);
    for (uint32_t i = 0; i < asleep->note_count; i++)
        report_line_indent(p->f, 2, xstrdup(asleep->notes[i]));
    for (uint32_t i = 0; i < asleep->row_count && i < SLEEPERS; i++)
        report_page_write_sleeper(p, i);
    if (at_exit->row_count) {
        char *threads = report_page_count_text(at_exit->row_count, "thread");
        report_line_indent(p->f, 2,
                           xasprintf("%s still waited when the program exited by itself", threads));
        free(threads);
    }
    report_page_write_leaks(p);
    report_page_write_shares(p);
}

/* ---- key findings ---- */

/* What the diagnosis has is not repeated, nor what is due to a hang. */
static bool report_page_finding_wanted(const struct report_page *p, uint32_t row)
{
    return !report_page_is_open(p, row) &&
           (!p->hangs || report_cell(&p->tables[REPORT_FINDINGS], row, "gain_ns")->is);
}

/* Returns the estimated gain of a finding; 0 if it is unknown.  That of a thread on the critical
 * path is the largest what-if gain there. */
static int64_t report_page_gain(const struct report_page *p, uint32_t row)
{
    const struct result_table *t = &p->tables[REPORT_FINDINGS], *path = &p->tables[REPORT_PATH];
    int64_t gain = report_cell_number(t, row, "gain_ns");
    bool on_path = strstr(report_cell_string(t, row, "finding"), "critical path") != NULL;
    for (uint32_t i = 0; on_path && i < path->row_count; i++) {
        int64_t if_ns = report_cell_number(path, i, "whatif_gain_ns");
        gain = if_ns > gain ? if_ns : gain;
    }
    return gain;
}

/* Returns the advice for a finding, which the table has as a note "NAME: advice"; NULL: none. */
static const char *report_page_advice(const struct result_table *t, const char *finding)
{
    for (uint32_t i = 0; i < t->note_count; i++) {
        size_t name = strcspn(t->notes[i], ":");
        if (t->notes[i][name] && strncmp(finding, t->notes[i], name) == 0)
            return t->notes[i] + name + 2;
    }
    return NULL;
}

/* Writes that the holder of a lock had no CPU while another thread ran there. */
static void report_page_write_preempted_holder(const struct report_page *p, uint32_t row)
{
    const struct result_table *t = &p->tables[REPORT_FINDINGS];
    char *thread = report_page_cell_text(p, t, row, "thread"),
         *holder = report_page_cell_text(p, t, row, "unblocked_by"),
         *object = report_page_cell_text(p, t, row, "object"),
         *place = report_page_cell_text(p, t, row, "location"),
         *other = report_page_cell_text(p, t, row, "on_cpu");
    report_line_wrap(
        p->f, report_line_time_column(report_page_gain(p, row)),
        xasprintf("preempted lock holder: %s held %s and was runnable for %.0f of %.0f ms while %s "
                  "ran on its CPU; %s waited at %s",
                  holder, object, (double)report_cell_number(t, row, "duration_ns") / 1e6,
                  (double)report_cell_number(t, row, "wait_ns") / 1e6, other, thread, place));
    free(thread);
    free(holder);
    free(object);
    free(place);
    free(other);
}

static void report_page_write_finding(const struct report_page *p, uint32_t row, bool advised)
{
    const struct result_table *t = &p->tables[REPORT_FINDINGS];
    const char *finding = report_cell_string(t, row, "finding"),
               *advice = advised ? report_page_advice(t, finding) : NULL;
    char *thread = report_page_cell_text(p, t, row, "thread"),
         *object = report_page_cell_text(p, t, row, "object"),
         *place = report_page_cell_text(p, t, row, "location"),
         *gain = report_line_time_column(report_page_gain(p, row));
    int name = (int)strcspn(finding, ":");
    bool several = memmem(finding, (size_t)name, " threads", 8) != NULL, placed = *object || *place;
    report_line_wrap(p->f, gain,
                     xasprintf("%.*s%s%s%s%s%s%s", name, finding,
                               several && !placed ? ", mostly " : ": ",
                               several && placed ? "" : thread, !several && placed ? ", " : "",
                               object, *object && *place ? " at " : "", place));
    if (advice)
        report_line_indent(p->f, 12, xstrdup(advice));
    free(thread);
    free(object);
    free(place);
}

static void report_page_write_findings(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_FINDINGS];
    uint32_t wanted = 0, most = p->few ? FEW : FINDINGS, chosen[FINDINGS];
    int64_t *gains_ns = xcalloc(t->row_count + 1, sizeof *gains_ns);
    for (uint32_t i = 0; i < t->row_count; i++) {
        wanted += report_page_finding_wanted(p, i);
        gains_ns[i] = report_page_finding_wanted(p, i) ? report_page_gain(p, i) : -1;
    }
    if (wanted)
        report_line_title(p->f, "Key findings (estimated gain)", wanted > most ? wanted - most : 0,
                          "report --all", p->source);
    uint32_t count = finding_choice_make(t, gains_ns, most, chosen);
    for (uint32_t n = 0; n < count; n++)
        if (report_cell(t, chosen[n], "on_cpu")->is == CELL_LINE)
            report_page_write_preempted_holder(p, chosen[n]);
        else
            report_page_write_finding(p, chosen[n], n < ADVISED);
    free(gains_ns);
}

/* ---- where the time went ---- */

/* Returns the mark of a state in the bars, a blank before the start and after the exit. */
static char report_page_state_mark(unsigned state)
{
    return state == THREAD_STATE_CREATED || state == THREAD_STATE_EXITED
               ? ' '
               : thread_state_words[state].letter;
}

/* Prints a bar as long as the lifetime is, of the longest one, and the main state. */
static void report_page_write_bar(const struct report_page *p, uint32_t row, int64_t longest_ns,
                                  int width)
{
    const struct result_table *t = &p->tables[REPORT_STATES];
    char bar[BAR + 1] = "", *name = report_page_cell_text(p, t, row, "thread"),
                   *life = report_line_duration(report_cell_number(t, row, "lifetime_ns"));
    int64_t sum_ns = 0, most_ns = 0, life_ns = report_cell_number(t, row, "lifetime_ns");
    unsigned most = 0, filled = 0;
    for (unsigned i = 0; i < THREAD_STATES; i++) {
        int64_t ns = report_cell_number(t, row, thread_state_words[i].column);
        sum_ns += ns;
        while (filled < BAR && (double)filled + 0.5 <= BAR * (double)sum_ns / (double)longest_ns)
            bar[filled++] = report_page_state_mark(i);
        most = ns > most_ns ? i : most;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    int pad = width - (int)text_table_width(name);
    report_line_print(p->f,
                      xasprintf("  %s%*s|%-*s| %s %.0f %% of %s", name, pad > 0 ? pad : 0, "", BAR,
                                bar, thread_state_words[most].short_name,
                                life_ns ? 100.0 * (double)most_ns / (double)life_ns : 0, life));
    free(name);
    free(life);
}

static void report_page_write_key(const struct report_page *p, int width)
{
    static const uint8_t states[] = {THREAD_STATE_RUNNING, THREAD_STATE_RUNNABLE,
                                     THREAD_STATE_BLOCKED, THREAD_STATE_OFF_CPU};
    char *text = xasprintf("  %*s", width, "");
    for (size_t i = 0; i < sizeof states; i++) {
        char *more =
            xasprintf("%s%s %c %s%s", text, i ? " " : "", report_page_state_mark(states[i]),
                      thread_state_words[states[i]].short_name,
                      states[i] == THREAD_STATE_RUNNABLE ? " (no CPU)" : "");
        free(text);
        text = more;
    }
    report_line_print(p->f, text);
}

static void report_page_write_states(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_STATES];
    uint32_t shown = t->row_count < THREADS ? t->row_count : THREADS;
    int64_t longest_ns = 1;
    int width = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t ns = report_cell_number(t, i, "lifetime_ns");
        char *name = i < shown ? report_page_cell_text(p, t, i, "thread") : xstrdup("");
        longest_ns = ns > longest_ns ? ns : longest_ns;
        if ((int)text_table_width(name) > width)
            width = (int)text_table_width(name);
        free(name);
    }
    width = 1 + (width < NAME ? width : NAME);
    report_line_title(p->f, "Where the time went", t->row_count - shown, "states", p->source);
    for (uint32_t i = 0; i < shown; i++)
        report_page_write_bar(p, i, longest_ns, width);
    report_page_write_key(p, width);
}

/* ---- waits ---- */

/* Returns the row of depth 0 after a row; the number of rows if there is none. */
static uint32_t report_page_next_group(const struct result_table *t, uint32_t row)
{
    while (++row < t->row_count && t->rows[row].depth)
        ;
    return row;
}

static void report_page_write_wait(const struct report_page *p, uint32_t row)
{
    const struct result_table *t = &p->tables[REPORT_WAITS];
    char *place = report_page_cell_text(p, t, row, "location"),
         *object = report_page_cell_text(p, t, row, "object"),
         *took = report_line_time_column(report_cell_number(t, row, "waited_ns"));
    int64_t count = report_cell_number(t, row, "count");
    char *times = count > 1 ? xasprintf("%lldx ", (long long)count) : xstrdup("");
    const char *cause = report_cell_string(t, row, "cause");
    report_line_wrap(p->f, took,
                     xasprintf("%s%s%s%s%s%s%s%.*s", times, report_cell_string(t, row, "type"),
                               *object ? " " : "", object, *place ? " at " : "", place,
                               *cause ? ": " : "", (int)strcspn(cause, ","), cause));
    free(place);
    free(object);
    free(times);
    if (row + 1 >= t->row_count || !t->rows[row + 1].depth)
        return;
    char *segment = report_page_cell_text(p, t, row + 1, "segment"),
         *thread = report_page_cell_text(p, t, row + 1, "thread"),
         *share = report_page_cell_text(p, t, row + 1, "share");
    report_line_print(p->f, xasprintf("            %s caused by %s%s%s", share, thread,
                                      *thread ? ": " : "", segment));
    free(segment);
    free(thread);
    free(share);
}

static void report_page_write_waits(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_WAITS];
    uint32_t groups = 0, most = p->few ? FEW : WAITS, n = 0;
    for (uint32_t i = 0; i < t->row_count; i = report_page_next_group(t, i))
        groups++;
    if (!groups)
        return;
    report_line_title(p->f, "Longest waits and their causes", groups > most ? groups - most : 0,
                      "waits", p->source);
    for (uint32_t i = 0; i < t->row_count && n < most; i = report_page_next_group(t, i), n++)
        report_page_write_wait(p, i);
}

/* ---- critical path ---- */

static void report_page_write_path(const struct report_page *p)
{
    const struct result_table *t = &p->tables[REPORT_PATH];
    uint32_t shown = t->row_count < SEGMENTS ? t->row_count : SEGMENTS;
    if (!shown)
        return;
    report_line_title(p->f, "Critical path (time, share, what-if gain)", t->row_count - shown,
                      "path", p->source);
    for (uint32_t i = 0; i < shown; i++) {
        char *segment = report_page_cell_text(p, t, i, "segment"),
             *share = report_page_cell_text(p, t, i, "share"),
             *took = report_line_time_column(report_cell_number(t, i, "critical_path_ns")),
             *gain = report_line_time_column(report_cell_number(t, i, "whatif_gain_ns"));
        report_line_wrap(p->f, xasprintf("%s%7s%s", took, share, gain), segment);
        free(share);
        free(took);
        free(gain);
    }
}

void report_page_write(FILE *f, const struct table_names *names,
                       const struct result_table tables[REPORT_TABLES], const char *source)
{
    struct report_page p = {f, names, tables, source, tables[REPORT_HANGS].row_count > 0, false};
    p.few = p.hangs || tables[REPORT_SLEEPERS].row_count;
    for (uint32_t i = 0; i < tables[REPORT_FINDINGS].row_count; i++)
        p.few |= report_page_is_open(&p, i);
    report_page_write_header(&p);
    report_page_write_diagnosis(&p);
    report_page_write_findings(&p);
    report_page_write_states(&p);
    report_page_write_waits(&p);
    report_page_write_path(&p);
}
