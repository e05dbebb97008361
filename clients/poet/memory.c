/* poet memory: what a program took from its heap and never gave back. */
#include "clients/poet/tables.h"

#include "clients/source/frames.h"
#include "memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_EACH = 1 };

struct wanted {
    struct tables tables;
    bool each;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"each", OPTION_EACH, NULL, 0,
     "each block that was never freed: its address, when it was taken, after which event", 1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wanted *w = state->input;
    (void)value;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &w->tables;
        return 0;
    case OPTION_EACH:
        w->each = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- by function, by file: names are known here, not to the server ---- */

struct merging {
    struct shown_table *table;
    uint32_t scope, thread, library, program, most, fault;
    bool files;
    struct sites *sites;
};

static void empty(struct table_cell *cell)
{
    if (cell->is == CELL_TEXT)
        free(cell->text);
    *cell = (struct table_cell){0};
}

/* The scope becomes the name of its function or file. */
static void rename_scope(const struct merging *m, struct table_cell *cell)
{
    if (cell->is != CELL_PLACE)
        return;
    struct site_is is = sites_call(m->sites, cell->place.process, cell->place.address);
    const char *name = m->files ? is.path : is.function;
    *cell = (struct table_cell){.is = CELL_TEXT, .text = memory_copied(*name ? name : is.place)};
}

static const char *text_of(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? cell->text : "";
}

static bool is_same(const struct merging *m, const struct table_cell *a, const struct table_cell *b)
{
    return a[m->fault].is == CELL_NULL && b[m->fault].is == CELL_NULL &&
           strcmp(text_of(&a[m->scope]), text_of(&b[m->scope])) == 0 &&
           strcmp(text_of(&a[m->program]), text_of(&b[m->program])) == 0;
}

/* The row stands for several stacks. */
static void drop_context(const struct merging *m, const struct table_cell *cells)
{
    struct table_row *row =
        &m->table->rows[(size_t)(cells - m->table->cells) / m->table->column_count];
    free(row->context);
    row->context = NULL;
    row->context_count = 0;
}

static void add(const struct merging *m, struct table_cell *into, const struct table_cell *cells)
{
    for (uint32_t i = 0; i < m->table->column_count; i++)
        if (m->table->columns[i].kind == TABLE_COUNT && into[i].is == CELL_NUMBER &&
            cells[i].is == CELL_NUMBER)
            into[i].number += cells[i].number;
    drop_context(m, into);
    empty(&into[m->most]); /* each had its most at a time of its own */
    if (strcmp(text_of(&into[m->library]), text_of(&cells[m->library])) != 0)
        empty(&into[m->library]);
}

static void drop_row(struct table_row *row)
{
    free(row->lines);
    free(row->context);
    *row = (struct table_row){0};
}

static void forget_row(struct shown_table *t, uint32_t i)
{
    struct table_cell *cells = table_cells(t, i);
    for (uint32_t k = 0; k < t->column_count; k++)
        empty(&cells[k]);
    drop_row(&t->rows[i]);
}

static void keep_row(const struct merging *m, uint32_t i, uint32_t to)
{
    struct shown_table *t = m->table;
    if (i != to) {
        memcpy(table_cells(t, to), table_cells(t, i), t->column_count * sizeof *t->cells);
        t->rows[to] = t->rows[i];
    }
    if (table_cells(t, to)[m->fault].is == CELL_NULL)
        empty(&table_cells(t, to)[m->thread]); /* of all of them */
}

static void merge(const struct merging *m)
{
    struct shown_table *t = m->table;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint32_t same = 0;
        rename_scope(m, &table_cells(t, i)[m->scope]);
        while (same < kept && !is_same(m, table_cells(t, same), table_cells(t, i)))
            same++;
        if (same < kept) {
            add(m, table_cells(t, same), table_cells(t, i));
            forget_row(t, i);
        } else {
            keep_row(m, i, kept++);
        }
    }
    t->row_count = kept;
}

/* ---- in order ---- */

static int64_t value_of(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? cell->number : INT64_MIN;
}

static void swap_rows(struct shown_table *t, uint32_t a, uint32_t b)
{
    struct table_row row = t->rows[a];
    t->rows[a] = t->rows[b];
    t->rows[b] = row;
    for (uint32_t i = 0; i < t->column_count; i++) {
        struct table_cell cell = table_cells(t, a)[i];
        table_cells(t, a)[i] = table_cells(t, b)[i];
        table_cells(t, b)[i] = cell;
    }
}

static bool is_before(const struct shown_table *t, uint32_t a, uint32_t b, uint32_t column,
                      bool backwards)
{
    int64_t x = value_of(&table_cells(t, a)[column]), y = value_of(&table_cells(t, b)[column]);
    return backwards ? x < y : x > y;
}

/* Those that are equal stay as they are; there are as many as functions at most. */
static void arrange(struct shown_table *t, uint32_t column, const struct tables *tables)
{
    for (uint32_t i = 1; column < t->column_count && i < t->row_count; i++)
        for (uint32_t k = i; k && is_before(t, k, k - 1, column, tables->backwards); k--)
            swap_rows(t, k, k - 1);
    for (; tables->top && t->row_count > tables->top; t->row_count--)
        forget_row(t, t->row_count - 1);
}

static int make(const struct tables *tables, struct subject *subject, struct shown_table *t)
{
    char path[] = "path";
    struct tables places = *tables;
    struct tables_section section = {.what = "memory"};
    places.by = path;
    places.top = 0;
    int status = tables_ask(&places, &section, subject, t);
    if (status != EXIT_DONE || t->problem)
        return status;
    struct merging m = {.table = t,
                        .scope = table_find(t, "scope"),
                        .thread = table_find(t, "thread"),
                        .library = table_find(t, "library"),
                        .program = table_find(t, "program"),
                        .most = table_find(t, "most_bytes"),
                        .fault = table_find(t, "fault"),
                        .files = strcmp(tables->by, "file") == 0,
                        .sites = subject->sites};
    t->columns[m.scope].kind = TABLE_TEXT;
    merge(&m);
    arrange(t, table_find(t, tables->sort ? tables->sort : "bytes"), tables);
    return status;
}

/* ---- as a tree: what was inlined is known here, too ---- */

static int make_tree(const struct tables *tables, struct subject *subject, struct shown_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct tables_section section = {.what = "memory"};
    int status = tables_ask(tables, &section, subject, t);
    if (status == EXIT_DONE && !t->problem)
        frames_tree(t, &names, table_find(t, "scope"));
    return status;
}

/* ---- the command ---- */

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted w = {.tables = {.command = command}};
    char yes[] = "yes", each[] = "each";
    struct table_option chosen[] = {{each, yes}, {0}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    bool named = w.tables.by && !w.tables.tree && !w.each &&
                 (strcmp(w.tables.by, "function") == 0 || strcmp(w.tables.by, "file") == 0);
    bool tree = w.tables.tree && !w.each;
    struct tables_section section = {.what = "memory",
                                     .make = named  ? make
                                             : tree ? make_tree
                                                    : NULL,
                                     .options = w.each ? chosen : NULL};
    return tables_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Say what a program that was started with poet record -m memory took from its heap and "
        "never freed, by the place that called (the innermost one outside of the C and C++ "
        "libraries) and the thread; which blocks another thread freed; where free got NULL; what "
        "was freed twice, or was never given out, or otherwise than it was taken.  A row may also "
        "stand for a call stack (--by path, --tree), a function, a file, a thread, a library, or "
        "each block (--each).  Blocks that the C library and the loader keep for themselves are "
        "left out, but for --by library.",
    .children = tables_children};

const struct command command_memory = {.name = "memory",
                                       .summary =
                                           "say what was taken from the heap and never freed",
                                       .run = run,
                                       .argp = &argp};
