/* poet memory: heap allocations that were not freed. */
#include "clients/cli/memory.h"

#include "base/alloc.h"
#include "clients/cli/run_findings.h"
#include "clients/cli/table_options.h"
#include "clients/connection/stack_frames.h"
#include "config/options.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_EACH = 1 };

struct memory_options {
    struct table_settings tables;
    bool each;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"each", OPTION_EACH, NULL, 0,
     "list every block that was not freed: address, allocation time, preceding event", 1},
    {0}};

static const struct option_row memory_rows[] = {
    OPTION_CHILD_INPUT(struct memory_options, tables),
    OPTION_SETS(OPTION_EACH, struct memory_options, each),
    {0}};

static error_t memory_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(memory_rows, key, value, state);
}

/* ---- rows by function or file, of which only the client knows the names ---- */

struct memory_merge {
    struct result_table *table;
    uint32_t scope, thread, library, program, most, fault;
    bool files;
    struct symbolizer *sites;
};

static void memory_clear_cell(struct table_cell *cell)
{
    if (cell->is == CELL_TEXT)
        free(cell->text);
    *cell = (struct table_cell){0};
}

/* Replaces the scope of a row by the name of its function or file. */
static void memory_name_scope(const struct memory_merge *m, struct table_cell *cell)
{
    if (cell->is != CELL_PLACE)
        return;
    struct symbol_location is = symbolize(m->sites, cell->place.process, cell->place.address);
    const char *name = m->files ? is.path : is.function;
    *cell = (struct table_cell){.is = CELL_TEXT, .text = xstrdup(*name ? name : is.place)};
}

static const char *text_view_of(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? cell->text : "";
}

static bool memory_is_same_row(const struct memory_merge *m, const struct table_cell *a,
                               const struct table_cell *b)
{
    return a[m->fault].is == CELL_NULL && b[m->fault].is == CELL_NULL &&
           strcmp(text_view_of(&a[m->scope]), text_view_of(&b[m->scope])) == 0 &&
           strcmp(text_view_of(&a[m->program]), text_view_of(&b[m->program])) == 0;
}

/* Removes the call context of a row that several stacks were merged into. */
static void memory_drop_context(const struct memory_merge *m, const struct table_cell *cells)
{
    struct table_row *row =
        &m->table->rows[(size_t)(cells - m->table->cells) / m->table->column_count];
    free(row->context);
    row->context = NULL;
    row->context_count = 0;
}

static void memory_add_row_values(const struct memory_merge *m, struct table_cell *into,
                                  const struct table_cell *cells)
{
    for (uint32_t i = 0; i < m->table->column_count; i++)
        if (m->table->columns[i].kind == TABLE_COUNT && into[i].is == CELL_NUMBER &&
            cells[i].is == CELL_NUMBER)
            into[i].number += cells[i].number;
    memory_drop_context(m, into);
    memory_clear_cell(&into[m->most]); /* the maxima were not simultaneous */
    if (strcmp(text_view_of(&into[m->library]), text_view_of(&cells[m->library])) != 0)
        memory_clear_cell(&into[m->library]);
}

static void memory_drop_row(struct table_row *row)
{
    free(row->lines);
    free(row->context);
    *row = (struct table_row){0};
}

static void memory_forget_row(struct result_table *t, uint32_t i)
{
    struct table_cell *cells = result_table_cells(t, i);
    for (uint32_t k = 0; k < t->column_count; k++)
        memory_clear_cell(&cells[k]);
    memory_drop_row(&t->rows[i]);
}

static void memory_keep_row(const struct memory_merge *m, uint32_t i, uint32_t to)
{
    struct result_table *t = m->table;
    if (i != to) {
        memcpy(result_table_cells(t, to), result_table_cells(t, i),
               t->column_count * sizeof *t->cells);
        t->rows[to] = t->rows[i];
    }
    if (result_table_cells(t, to)[m->fault].is == CELL_NULL)
        memory_clear_cell(&result_table_cells(t, to)[m->thread]); /* several threads */
}

static void memory_merge_rows(const struct memory_merge *m)
{
    struct result_table *t = m->table;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint32_t same = 0;
        memory_name_scope(m, &result_table_cells(t, i)[m->scope]);
        while (same < kept &&
               !memory_is_same_row(m, result_table_cells(t, same), result_table_cells(t, i)))
            same++;
        if (same < kept) {
            memory_add_row_values(m, result_table_cells(t, same), result_table_cells(t, i));
            memory_forget_row(t, i);
        } else {
            memory_keep_row(m, i, kept++);
        }
    }
    t->row_count = kept;
}

/* ---- sorting ---- */

static int64_t value_of(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? cell->number : INT64_MIN;
}

static void swap_rows(struct result_table *t, uint32_t a, uint32_t b)
{
    struct table_row row = t->rows[a];
    t->rows[a] = t->rows[b];
    t->rows[b] = row;
    for (uint32_t i = 0; i < t->column_count; i++) {
        struct table_cell cell = result_table_cells(t, a)[i];
        result_table_cells(t, a)[i] = result_table_cells(t, b)[i];
        result_table_cells(t, b)[i] = cell;
    }
}

static bool is_before(const struct result_table *t, uint32_t a, uint32_t b, uint32_t column,
                      bool backwards)
{
    int64_t x = value_of(&result_table_cells(t, a)[column]),
            y = value_of(&result_table_cells(t, b)[column]);
    return backwards ? x < y : x > y;
}

/* Sorts rows, and drops those beyond --top; stable insertion sort, since there are at most as many
 * rows as functions. */
static void memory_sort_rows(struct result_table *t, uint32_t column,
                             const struct table_settings *tables)
{
    for (uint32_t i = 1; column < t->column_count && i < t->row_count; i++)
        for (uint32_t k = i; k && is_before(t, k, k - 1, column, tables->backwards); k--)
            swap_rows(t, k, k - 1);
    for (; tables->top && t->row_count > tables->top; t->row_count--)
        memory_forget_row(t, t->row_count - 1);
}

static int memory_make_table(const struct table_settings *tables, struct command_source *subject,
                             struct result_table *t)
{
    char path[] = "path";
    struct table_settings places = *tables;
    struct table_section section = {.what = "memory"};
    places.by = path;
    places.top = 0;
    int status = table_request_run(&places, &section, subject, t);
    if (status != EXIT_DONE || t->problem)
        return status;
    struct memory_merge m = {.table = t,
                             .scope = result_table_find_column(t, "function"),
                             .thread = result_table_find_column(t, "thread"),
                             .library = result_table_find_column(t, "library"),
                             .program = result_table_find_column(t, "program"),
                             .most = result_table_find_column(t, "peak_bytes"),
                             .fault = result_table_find_column(t, "error"),
                             .files = strcmp(tables->by, "file") == 0,
                             .sites = subject->sites};
    t->columns[m.scope].kind = TABLE_TEXT;
    if (m.files) {
        free(t->columns[m.scope].title);
        t->columns[m.scope].title = xstrdup("file");
    }
    memory_merge_rows(&m);
    memory_sort_rows(t, result_table_find_column(t, tables->sort ? tables->sort : "unfreed_bytes"),
                     tables);
    return status;
}

/* ---- tree, with inlined functions ---- */

static int make_tree(const struct table_settings *tables, struct command_source *subject,
                     struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct table_section section = {.what = "memory"};
    int status = table_request_run(tables, &section, subject, t);
    if (status == EXIT_DONE && !t->problem)
        stack_frames_tree(t, &names, result_table_find_column(t, "function"));
    return status;
}

/* ---- the command ---- */

static int memory_run_command(const struct command *command, int argc, char **argv)
{
    struct memory_options w = {.tables = {.command = command, .findings = FINDINGS_OF_MEMORY}};
    char yes[] = "yes", each[] = "each";
    struct table_option chosen[] = {{each, yes}, {0}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    bool named = w.tables.by && !w.tables.tree && !w.each &&
                 (strcmp(w.tables.by, "function") == 0 || strcmp(w.tables.by, "file") == 0);
    bool tree = w.tables.tree && !w.each;
    struct table_section section = {.what = "memory",
                                    .make = named  ? memory_make_table
                                            : tree ? make_tree
                                                   : NULL,
                                    .options = w.each ? chosen : NULL};
    return table_output_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .options = options,
    .parser = memory_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show heap blocks that were allocated and not freed, by allocation site (the innermost "
        "one outside of the C and C++ libraries) and thread; blocks freed by another thread; "
        "free(NULL); double frees, invalid frees and mismatched deallocation.  Requires poet "
        "record -m memory.  Rows can also be call stacks (--by path, --tree), functions, files, "
        "threads, libraries, or single blocks (--each).  Blocks that libc and the dynamic loader "
        "allocate for themselves are shown only --by library.",
    .children = tables_finding_children};

const struct command command_memory = {
    .name = "memory",
    .summary = "show heap allocations that were not freed, and invalid frees",
    .run = memory_run_command,
    .argp = &argp};

#define CALLS_MOST 4 /* innermost calls of a path that are shown */

static int64_t leak_summary_cell_number(const struct result_table *t,
                                        const struct table_cell *cells, const char *name)
{
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count && cells[column].is == CELL_NUMBER ? cells[column].number : 0;
}

static char *leak_summary_amount_text(const struct result_table *t, const struct table_cell *cells)
{
    int64_t blocks = leak_summary_cell_number(t, cells, "unfreed_blocks"),
            bytes = leak_summary_cell_number(t, cells, "unfreed_bytes");
    return xasprintf("%lld block%s, %lld byte%s", (long long)blocks, blocks == 1 ? "" : "s",
                     (long long)bytes, bytes == 1 ? "" : "s");
}

/* Fills in the calls of a path, innermost first; returns how many. *all: whether all fit. */
static uint32_t leak_summary_list_calls(const struct table_names *names,
                                        const struct table_row *row, char *calls[CALLS_MOST],
                                        bool *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->context_count; i++) {
        uint32_t frames = stack_frames_count(names, row->context[i]);
        for (uint32_t k = 0; k < frames; k++) {
            if (count == CALLS_MOST) {
                *all = false;
                return count;
            }
            calls[count++] = stack_frames_text(names, row->context[i], k);
        }
    }
    *all = true;
    return count;
}

/* Returns "main (leak.c:20) > keep (leak.c:6)", the caller first, in new memory. */
static char *leak_summary_path_text(const struct table_names *names, const struct table_row *row)
{
    char *calls[CALLS_MOST];
    bool all;
    uint32_t n = leak_summary_list_calls(names, row, calls, &all);
    char *path = xstrdup(all ? "" : "... > ");
    for (uint32_t i = n; i-- > 0;) {
        char *longer = xasprintf("%s%s%s", path, calls[i], i ? " > " : "");
        free(path);
        free(calls[i]);
        path = longer;
    }
    return path;
}

/* Describes the first row: rows are sorted by what was not freed. */
static char *leak_summary_largest_leak_text(const struct table_names *names,
                                            const struct result_table *t)
{
    const struct table_cell *cells = result_table_cells(t, 0);
    uint32_t thread = result_table_find_column(t, "thread");
    const char *name = thread < t->column_count && cells[thread].is == CELL_LINE
                           ? metadata_label(names->book, cells[thread].line)
                           : "";
    char *most = leak_summary_amount_text(t, cells),
         *path = leak_summary_path_text(names, &t->rows[0]),
         *text = xasprintf("%s%s%s, %s", most, *name ? " by " : "", name, path);
    free(most);
    free(path);
    return text;
}

void leak_summary_write(struct text_table *sheet, const struct table_names *names,
                        const struct result_table *t)
{
    bool some = t->total && leak_summary_cell_number(t, t->total, "unfreed_blocks") > 0;
    sheet->title = xstrdup("Memory not freed");
    int64_t taken = t->total ? leak_summary_cell_number(t, t->total, "allocations") : 0;
    if (!some) {
        text_table_add_note(sheet, taken ? xasprintf("none of %lld block%s", (long long)taken,
                                                     taken == 1 ? "" : "s")
                                         : xstrdup("none (no allocations)"));
        return;
    }
    char *all = leak_summary_amount_text(t, t->total),
         *most = t->row_count &&
                         leak_summary_cell_number(t, result_table_cells(t, 0), "unfreed_blocks") > 0
                     ? leak_summary_largest_leak_text(names, t)
                     : NULL;
    text_table_add_note(sheet,
                        xasprintf("%s%s%s", all, most ? "; largest leak: " : "", most ? most : ""));
    free(all);
    free(most);
}
