/* Output of tables in the requested format (table_options.h). */
#define _GNU_SOURCE
#include "clients/cli/table_progress.h"
#include "clients/cli/chart_output.h"
#include "clients/cli/label_option.h"
#include "clients/cli/narrow_table.h"
#include "clients/cli/pager.h"
#include "clients/cli/paper_size.h"
#include "clients/cli/table_request.h"
#include "clients/cli/table_formats.h"
#include "clients/cli/table_options.h"
#include "clients/connection/table_diff.h"
#include "base/alloc.h"
#include "render/table_page.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum table_output_form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_PDF, FORM_SVG, FORM_PNG, FORMS };

/* The output of one command. */
struct table_writer {
    const struct table_settings *tables;
    struct command_source *subject;
    enum table_output_form form;
    FILE *f; /* for text, JSON and CSV */
    struct text_table *sheets; /* for an image */
    uint32_t sheet_count;
    bool some; /* a table was written */
};

/* Requests the same table of the baseline run, and replaces the table by their difference. */
static int table_output_request_other(const struct table_settings *o,
                                      const struct table_section *section,
                                      struct command_source *subject, struct result_table *t)
{
    struct command_source other;
    struct result_table theirs = {0}, both;
    if (!command_source_open(o->command, &other, o->baseline, table_request_session_lines(o),
                             subject->labels))
        return EXIT_FAILED;
    int status = table_request_run(o, section, &other, &theirs);
    if (status == EXIT_DONE) {
        struct table_names names = {&subject->source.book, subject->sites},
                           theirs_names = {&other.source.book, other.sites};
        table_diff_make(&both, t, &names, &theirs, &theirs_names);
        result_table_free(t);
        *t = both;
    }
    result_table_free(&theirs);
    command_source_close(&other);
    return status;
}

/* ---- writing ---- */

/* Sets the title, with the name of the run unless the page has a heading about it. */
static void set_title(struct text_table *sheet, const struct table_section *section,
                      const struct table_names *names, const struct result_table *t)
{
    const char *title = section->title ? section->title : t->title;
    free(sheet->title);
    sheet->title =
        section->page ? xstrdup(title) : xasprintf("%s: %s", names->book->run.name, title);
}

/* Appends the start of the run to the first title; on a terminal also its age. */
static void date_title(struct text_table *sheet, const struct session *source, bool age)
{
    char *begun = command_source_begin_named(source, age),
         *title = xasprintf("%s; run of %s", sheet->title, begun);
    free(begun);
    free(sheet->title);
    sheet->title = title;
}

static void write_sheet(struct table_writer *w, const struct table_section *section,
                        const struct table_names *names, const struct result_table *t,
                        const uint32_t *columns, uint32_t count)
{
    struct text_table sheet = {0};
    if (section->rare && !t->row_count && !(section->words && t->total))
        return;
    if (section->words) {
        section->words(&sheet, names, t);
    } else {
        result_table_to_text(&sheet, names, t, columns, count);
        set_title(&sheet, section, names, t);
    }
    if (!w->some && !w->sheet_count && !section->page)
        date_title(&sheet, &w->subject->source,
                   w->form == FORM_TEXT && w->f == stdout && pager_is_terminal());
    if (w->form != FORM_TEXT) {
        ARRAY_PUSH(w->sheets, w->sheet_count, sheet);
        return;
    }
    if (!section->words)
        narrow_table_shorten(&sheet);
    table_format_text(w->f, &sheet, !w->some);
    text_table_free(&sheet);
}

/* Difference columns follow the columns that they belong to: naming the latter selects both. The
 * caller frees the result. */
static char *with_differences(const struct result_table *t, const char *list)
{
    char *words = xstrdup(list), *all = xstrdup(""), *rest = words, *word;
    while ((word = strsep(&rest, ","))) {
        uint32_t k = result_table_find_column(t, word), end = k + 1;
        char *more = xasprintf("%s%s%s", all, *all ? "," : "", word);
        free(all);
        for (all = more; end < t->column_count && end < k + 3; end++) {
            const char *name = t->columns[end].name;
            if (!strstr(name, end == k + 1 ? "_diff" : "_percent"))
                break;
            more = xasprintf("%s,%s", all, name);
            free(all);
            all = more;
        }
    }
    free(words);
    return all;
}

static int write_table(struct table_writer *w, const struct table_section *section,
                       const struct result_table *t)
{
    struct table_names names = {&w->subject->source.book, w->subject->sites};
    bool data = w->form == FORM_JSON || w->form == FORM_CSV;
    const char *list = section->columns && !data ? section->columns : w->tables->columns;
    bool all = !list && data;
    char *unknown = NULL, *both = list && w->tables->baseline ? with_differences(t, list) : NULL;
    uint32_t count, *columns = result_table_choose_columns(t,
                                                           all    ? "all"
                                                           : both ? both
                                                                  : list,
                                                           &count, &unknown);
    free(both);
    if (!columns) {
        int status = table_request_missing_column(w->tables, t, "--columns", unknown);
        free(unknown);
        return status;
    }
    if (w->form == FORM_JSON)
        table_format_json(w->f, section->what, &names, t, columns, count);
    else if (w->form == FORM_CSV)
        table_format_csv(w->f, &names, t, columns, count);
    else
        write_sheet(w, section, &names, t, columns, count);
    w->some = true;
    free(columns);
    return EXIT_DONE;
}

static void add_note(struct result_table *t, const char *note)
{
    t->notes = xreallocarray(t->notes, t->note_count + 1, sizeof *t->notes);
    t->notes[t->note_count++] = xstrdup(note);
}

static int write_section(struct table_writer *w, const struct table_section *section)
{
    struct result_table table = {0};
    if (section->page && section->by_time && w->tables->past_of.line)
        return EXIT_DONE;
    int status = table_request_run(w->tables, section, w->subject, &table);
    if (status == EXIT_DONE && w->tables->baseline && !section->make)
        status = table_output_request_other(w->tables, section, w->subject, &table);
    if (status == EXIT_DONE && section->note)
        add_note(&table, section->note);
    if (status == EXIT_DONE)
        status = write_table(w, section, &table);
    result_table_free(&table);
    return status;
}

/* ---- output file ---- */

/* Returns the format by the suffix of a file name; FORMS: none. */
static enum table_output_form form_named(const char *file)
{
    static const char *const endings[FORMS] = {".txt", ".json", ".csv", ".pdf", ".svg", ".png"};
    size_t n = strlen(file);
    for (int i = 0; i < FORMS; i++)
        if (n > strlen(endings[i]) && strcasecmp(file + n - strlen(endings[i]), endings[i]) == 0)
            return (enum table_output_form)i;
    return FORMS;
}

bool table_output_may_be_named(const char *file) { return form_named(file) != FORMS; }

static enum table_output_form form_of(const struct table_settings *o)
{
    if (o->json || o->csv)
        return o->json ? FORM_JSON : FORM_CSV;
    return o->file ? form_named(o->file) : FORM_TEXT;
}

static int write_picture(const struct table_writer *w)
{
    struct document_options page = w->tables->page;
    const struct trace_metadata *book = &w->subject->source.book;
    page.format = w->form == FORM_PDF   ? DOCUMENT_PDF
                  : w->form == FORM_SVG ? DOCUMENT_SVG
                                        : DOCUMENT_PNG;
    page.date = (time_t)(book->run.wall_ns / 1000000000u);
    page.title = w->sheet_count ? w->sheets[0].title : NULL;
    if (w->tables->paper && w->form == FORM_PDF && page.width_pt <= 0)
        paper_size_is_portrait(&page);
    const char *why = table_page_write(w->sheets, w->sheet_count, &page, w->tables->file);
    return why ? command_fail(w->tables->command, "%s: %s", w->tables->file, why) : EXIT_DONE;
}

static int write_all(struct table_writer *w, const struct table_section *sections, size_t count)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = write_section(w, &sections[i]);
    return status;
}

/* Writes to FILE.part and renames it, so that an error leaves no partial file. */
static int write_file(struct table_writer *w, const struct table_section *sections, size_t count)
{
    const char *file = w->tables->file;
    char *part = xasprintf("%s.part", file);
    table_progress_set_file(part);
    w->f = fopen(part, "we");
    int status = w->f ? write_all(w, sections, count)
                      : command_fail(w->tables->command, "%s: %s", file, strerror(errno));
    if (w->f) {
        bool bad = ferror(w->f);
        bad |= fclose(w->f) != 0;
        if (status == EXIT_DONE && (bad || rename(part, file) < 0))
            status = command_fail(w->tables->command, "%s: %s", file, strerror(errno));
        if (status != EXIT_DONE)
            unlink(part);
    }
    table_progress_set_file(NULL);
    free(part);
    return status;
}

/* ---- following a live run ---- */

#define AGAIN_NS 400000000

static void table_output_receive_connected(void *user, const struct response_chunk *answer)
{
    uint32_t *connected = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *connected = answer->in->error ? 0 : stat.connected;
    stat_info_free(&stat);
}

/* Writes the tables repeatedly as long as a program is connected. */
static int table_output_follow_run(struct table_writer *w, const struct table_section *sections,
                                   size_t count)
{
    uint32_t connected;
    int status;
    do {
        connected = 0;
        if (!command_source_request(w->tables->command, w->subject, REQUEST_STAT, NULL,
                                    table_output_receive_connected, &connected))
            return EXIT_FAILED;
        if (w->some && isatty(STDOUT_FILENO))
            fputs("\033[H\033[2J", stdout);
        status = write_all(w, sections, count);
        fflush(stdout);
        if (connected && status == EXIT_DONE)
            nanosleep(&(struct timespec){0, AGAIN_NS}, NULL);
    } while (connected && status == EXIT_DONE && !ferror(stdout));
    return status;
}

int table_output_run(const struct table_settings *o, struct command_source *subject,
                     const struct table_section *sections, size_t count)
{
    struct table_writer w = {.tables = o, .subject = subject, .form = form_of(o), .f = stdout};
    int status;
    if (o->follow && (o->file || o->chart))
        return command_usage(o->command, "--follow cannot be combined with %s",
                             o->file ? "-o" : "--chart");
    if (!o->follow && !o->file)
        pager_begin();
    if (chart_output_wanted(o, sections, count))
        return chart_output_run(o, subject, sections, count);
    if (w.form == FORMS)
        return command_usage(o->command, "-o %s: " TABLES_NAMES, o->file);
    if (o->file && w.form < FORM_PDF)
        return write_file(&w, sections, count);
    status =
        o->follow ? table_output_follow_run(&w, sections, count) : write_all(&w, sections, count);
    if (status == EXIT_DONE && w.form >= FORM_PDF)
        status = write_picture(&w);
    for (uint32_t i = 0; i < w.sheet_count; i++)
        text_table_free(&w.sheets[i]);
    free(w.sheets);
    return status;
}

int table_output_command(struct table_settings *o, int argc, char **argv, int first,
                         const struct table_section *sections, size_t count)
{
    struct command_source subject;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(o->command, "extra operand: %s", argv[first]);
    table_progress_begin(o->command);
    if (!command_source_open(o->command, &subject, source, table_request_session_lines(o),
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(o->command, &subject);
    int status = table_output_run(o, &subject, sections, count);
    command_source_close(&subject);
    return status;
}

/* ---- commands without other options ---- */

error_t table_output_parse_only(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

int table_output_only(const struct command *command, int argc, char **argv, const char *what)
{
    struct table_settings tables = {.command = command};
    int first, status = command_read(command, argc, argv, &tables, &first);
    if (status != OPTIONS_READ)
        return status;
    struct table_section section = {.what = what};
    return table_output_command(&tables, argc, argv, first, &section, 1);
}
