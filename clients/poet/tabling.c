/* Tables are written as they are wanted (tables.h). */
#define _GNU_SOURCE
#include "clients/poet/awaiting.h"
#include "clients/poet/chartrun.h"
#include "clients/poet/labels.h"
#include "clients/poet/narrow.h"
#include "clients/poet/pager.h"
#include "clients/poet/paper.h"
#include "clients/poet/tableasking.h"
#include "clients/poet/tableforms.h"
#include "clients/poet/tables.h"
#include "clients/source/against.h"
#include "memory/memory.h"
#include "render/table.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_PDF, FORM_SVG, FORM_PNG, FORMS };

/* Where the tables of one command go. */
struct writing {
    const struct tables *tables;
    struct subject *subject;
    enum form form;
    FILE *f; /* of text, JSON and CSV */
    struct sheet *sheets; /* of a picture */
    uint32_t sheet_count;
    bool some; /* one was written */
};

/* Asks the other run the same, and sets what it says beside it. */
static int ask_other(const struct tables *o, const struct tables_section *section,
                     struct subject *subject, struct shown_table *t)
{
    struct subject other;
    struct shown_table theirs = {0}, both;
    if (!subject_open(o->command, &other, o->against, tables_lines(o), subject->labels))
        return EXIT_FAILED;
    int status = tables_ask(o, section, &other, &theirs);
    if (status == EXIT_DONE) {
        struct table_names names = {&subject->source.book, subject->sites},
                           theirs_names = {&other.source.book, other.sites};
        against_make(&both, t, &names, &theirs, &theirs_names);
        shown_table_free(t);
        *t = both;
    }
    shown_table_free(&theirs);
    subject_close(&other);
    return status;
}

/* ---- writing ---- */

/* A page says the run above all; else each table's title does. */
static void set_title(struct sheet *sheet, const struct tables_section *section,
                      const struct table_names *names, const struct shown_table *t)
{
    const char *title = section->title ? section->title : t->title;
    free(sheet->title);
    sheet->title = section->page ? memory_copied(title)
                                 : memory_printed("%s: %s", names->book->run.name, title);
}

/* The first title says which run it is about; on a terminal, how old that is. */
static void date_title(struct sheet *sheet, const struct source *source, bool age)
{
    char *begun = subject_begun(source, age),
         *title = memory_printed("%s; run of %s", sheet->title, begun);
    free(begun);
    free(sheet->title);
    sheet->title = title;
}

static void write_sheet(struct writing *w, const struct tables_section *section,
                        const struct table_names *names, const struct shown_table *t,
                        const uint32_t *columns, uint32_t count)
{
    struct sheet sheet = {0};
    if (section->rare && !t->row_count && !(section->words && t->total))
        return;
    if (section->words) {
        section->words(&sheet, names, t);
    } else {
        table_sheet(&sheet, names, t, columns, count);
        set_title(&sheet, section, names, t);
    }
    if (!w->some && !w->sheet_count && !section->page)
        date_title(&sheet, &w->subject->source,
                   w->form == FORM_TEXT && w->f == stdout && pager_is_terminal());
    if (w->form != FORM_TEXT) {
        PUSH(w->sheets, w->sheet_count, sheet);
        return;
    }
    if (!section->words)
        narrow_sheet(&sheet);
    tableforms_text(w->f, &sheet, !w->some);
    sheet_free(&sheet);
}

/* The differences stand behind the columns that they are of: whoever names these means them, too.  The caller's to free. */
static char *with_differences(const struct shown_table *t, const char *list)
{
    char *words = memory_copied(list), *all = memory_copied(""), *rest = words, *word;
    while ((word = strsep(&rest, ","))) {
        uint32_t k = table_find(t, word), end = k + 1;
        char *more = memory_printed("%s%s%s", all, *all ? "," : "", word);
        free(all);
        for (all = more; end < t->column_count && end < k + 3; end++) {
            const char *name = t->columns[end].name;
            if (!strstr(name, end == k + 1 ? "_diff" : "_percent"))
                break;
            more = memory_printed("%s,%s", all, name);
            free(all);
            all = more;
        }
    }
    free(words);
    return all;
}

static int write_table(struct writing *w, const struct tables_section *section,
                       const struct shown_table *t)
{
    struct table_names names = {&w->subject->source.book, w->subject->sites};
    bool data = w->form == FORM_JSON || w->form == FORM_CSV;
    const char *list = section->columns && !data ? section->columns : w->tables->columns;
    bool all = !list && data;
    char *unknown = NULL, *both = list && w->tables->against ? with_differences(t, list) : NULL;
    uint32_t count, *columns = table_choose(t, all ? "all" : both ? both : list, &count, &unknown);
    free(both);
    if (!columns) {
        int status = tableasking_no_column(w->tables, t, "--columns", unknown);
        free(unknown);
        return status;
    }
    if (w->form == FORM_JSON)
        tableforms_json(w->f, section->what, &names, t, columns, count);
    else if (w->form == FORM_CSV)
        tableforms_csv(w->f, &names, t, columns, count);
    else
        write_sheet(w, section, &names, t, columns, count);
    w->some = true;
    free(columns);
    return EXIT_DONE;
}

/* (The notes that came with an answer have no room for more.) */
static void add_note(struct shown_table *t, const char *note)
{
    t->notes = memory_resized(t->notes, t->note_count + 1, sizeof *t->notes);
    t->notes[t->note_count++] = memory_copied(note);
}

static int write_section(struct writing *w, const struct tables_section *section)
{
    struct shown_table table = {0};
    if (section->page && section->by_time && w->tables->past_of.line)
        return EXIT_DONE;
    int status = tables_ask(w->tables, section, w->subject, &table);
    if (status == EXIT_DONE && w->tables->against && !section->make)
        status = ask_other(w->tables, section, w->subject, &table);
    if (status == EXIT_DONE && section->note)
        add_note(&table, section->note);
    if (status == EXIT_DONE)
        status = write_table(w, section, &table);
    shown_table_free(&table);
    return status;
}

/* ---- where it goes ---- */

/* By the end of its name; FORMS: it is none. */
static enum form form_named(const char *file)
{
    static const char *const endings[FORMS] = {".txt", ".json", ".csv", ".pdf", ".svg", ".png"};
    size_t n = strlen(file);
    for (int i = 0; i < FORMS; i++)
        if (n > strlen(endings[i]) && strcasecmp(file + n - strlen(endings[i]), endings[i]) == 0)
            return (enum form)i;
    return FORMS;
}

bool tables_may_be_named(const char *file) { return form_named(file) != FORMS; }

static enum form form_of(const struct tables *o)
{
    if (o->json || o->csv)
        return o->json ? FORM_JSON : FORM_CSV;
    return o->file ? form_named(o->file) : FORM_TEXT;
}

static int write_picture(const struct writing *w)
{
    struct page_options page = w->tables->page;
    const struct book *book = &w->subject->source.book;
    page.format = w->form == FORM_PDF ? PAGE_PDF : w->form == FORM_SVG ? PAGE_SVG : PAGE_PNG;
    page.date = (time_t)(book->run.wall_ns / 1000000000u);
    page.title = w->sheet_count ? w->sheets[0].title : NULL;
    if (w->tables->paper && w->form == FORM_PDF && page.width_pt <= 0)
        paper_upright(&page);
    const char *why = render_table_write(w->sheets, w->sheet_count, &page, w->tables->file);
    return why ? command_fail(w->tables->command, "%s: %s", w->tables->file, why) : EXIT_DONE;
}

static int write_all(struct writing *w, const struct tables_section *sections, size_t count)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = write_section(w, &sections[i]);
    return status;
}

/* Text under another name first, so that an error leaves no half one. */
static int write_file(struct writing *w, const struct tables_section *sections, size_t count)
{
    const char *file = w->tables->file;
    char *part = memory_printed("%s.part", file);
    awaiting_file(part);
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
    awaiting_file(NULL);
    free(part);
    return status;
}

/* ---- again and again ---- */

#define AGAIN_NS 400000000

static void take_connected(void *user, const struct answer *answer)
{
    uint32_t *connected = user;
    struct shown_stat stat;
    if (answer->part != PART_STAT)
        return;
    get_stat(answer->in, &stat);
    *connected = answer->in->error ? 0 : stat.connected;
    shown_stat_free(&stat);
}

/* As long as a program is connected: what is there by now, then again once it may be more. */
static int follow(struct writing *w, const struct tables_section *sections, size_t count)
{
    uint32_t connected;
    int status;
    do {
        connected = 0;
        if (!subject_ask(w->tables->command, w->subject, ASK_STAT, NULL, take_connected,
                         &connected))
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

int tables_run(const struct tables *o, struct subject *subject,
               const struct tables_section *sections, size_t count)
{
    struct writing w = {.tables = o, .subject = subject, .form = form_of(o), .f = stdout};
    int status;
    if (o->follow && (o->file || o->chart))
        return command_usage(o->command, "--follow prints again and again: without %s",
                             o->file ? "-o" : "--chart");
    if (!o->follow && !o->file)
        pager_begin();
    if (chartrun_wanted(o, sections, count))
        return chartrun(o, subject, sections, count);
    if (w.form == FORMS)
        return command_usage(o->command, "-o %s: " TABLES_NAMES, o->file);
    if (o->file && w.form < FORM_PDF)
        return write_file(&w, sections, count);
    status = o->follow ? follow(&w, sections, count) : write_all(&w, sections, count);
    if (status == EXIT_DONE && w.form >= FORM_PDF)
        status = write_picture(&w);
    for (uint32_t i = 0; i < w.sheet_count; i++)
        sheet_free(&w.sheets[i]);
    free(w.sheets);
    return status;
}

int tables_command(struct tables *o, int argc, char **argv, int first,
                   const struct tables_section *sections, size_t count)
{
    struct subject subject;
    const char *source = subject_named(argc, argv, &first);
    if (argc != first)
        return command_usage(o->command, "%s: one SOURCE is enough", argv[first]);
    awaiting_begin(o->command);
    if (!subject_open(o->command, &subject, source, tables_lines(o), labels_wanted(LABELS_NAME)))
        return EXIT_FAILED;
    subject_renewed(o->command, &subject);
    int status = tables_run(o, &subject, sections, count);
    subject_close(&subject);
    return status;
}

/* ---- commands that have nothing of their own ---- */

error_t tables_parse_only(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

int tables_only(const struct command *command, int argc, char **argv, const char *what)
{
    struct tables tables = {.command = command};
    int first, status = command_read(command, argc, argv, &tables, &first);
    if (status != OPTIONS_READ)
        return status;
    struct tables_section section = {.what = what};
    return tables_command(&tables, argc, argv, first, &section, 1);
}
