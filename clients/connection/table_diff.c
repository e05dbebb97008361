#include "clients/connection/table_diff.h"

#include "base/map.h"
#include "base/alloc.h"
#include "base/text_hash.h"

#include <stdlib.h>
#include <string.h>

struct table_diff_builder {
    struct result_table *both;
    const struct result_table *here, *there;
    const struct table_names *here_names, *there_names;
    char **here_keys, **there_keys; /* by row: text that identifies it */
    uint8_t *taken; /* by row of `there`: it is matched */
    bool own_units; /* values have units of their own in each row */
    struct table_cell absent; /* each number of a row that a table lacks */
};

static bool is_number(const struct table_column *c)
{
    return c->kind == TABLE_NS || c->kind == TABLE_FINE || c->kind == TABLE_COUNT ||
           c->kind == TABLE_SHARE;
}

/* ---- matching rows ---- */

/* Returns whether a column identifies a row, rather than holding results that may differ between
 * runs. */
static bool table_diff_is_key(const struct table_column *c)
{
    static const char *const findings[] = {"kind",   "class",    "cause",     "wait_class",
                                           "value",  "max_text", "mean_text", "unblocked_at",
                                           "source", "address",  NULL};
    for (size_t i = 0; findings[i]; i++)
        if (strcmp(findings[i], c->name) == 0)
            return false;
    return !is_number(c) && c->kind != TABLE_EVENT;
}

static bool is_column(const struct table_column *c, const char *const *names)
{
    while (*names && strcmp(*names, c->name) != 0)
        names++;
    return *names != NULL;
}

/* Removes the process number, and the name of the run's program, from a key, since both may differ
 * between runs: "a.out[12]" becomes "". */
static void table_diff_cut_process(const struct table_names *names, const struct table_column *c,
                                   char *word)
{
    static const char *const programs[] = {"program", "library", NULL};
    if (!is_column(c, programs))
        return;
    char *number = strrchr(word, '[');
    if (number && number[1 + strspn(number + 1, "0123456789")] == ']')
        *number = 0;
    if (names->book->run.name && strcmp(word, names->book->run.name) == 0)
        *word = 0;
}

/* Removes the line number of a function, since it differs between versions of a program:
 * "f (a.c:10)" becomes "f (a.c". */
static void table_diff_cut_line(const struct table_column *c, char *word)
{
    static const char *const functions[] = {"function", "caller", NULL};
    char *colon = is_column(c, functions) ? strrchr(word, ':') : NULL;
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (digits && strcmp(colon + 1 + digits, ")") == 0)
        *colon = 0;
}

/* Returns the texts of all cells that identify a row. */
static char *table_diff_row_text(const struct result_table *t, const struct table_names *names,
                                 uint32_t row)
{
    char *all = xstrdup("");
    for (uint32_t k = 0; k < t->column_count; k++) {
        const struct table_column *c = &t->columns[k];
        if (!table_diff_is_key(c))
            continue;
        char *word = result_table_cell_text(names, c, &result_table_cells(t, row)[k]);
        table_diff_cut_process(names, c, word);
        table_diff_cut_line(c, word);
        char *more = xasprintf("%s\t%s", all, word);
        free(word);
        free(all);
        all = more;
    }
    return all;
}

#define DEPTHS 256

static char **table_diff_make_keys(const struct result_table *t, const struct table_names *names)
{
    char **keys = xcalloc(t->row_count, sizeof *keys);
    const char *above[DEPTHS] = {""};
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        char *own = table_diff_row_text(t, names, i);
        const char *parent = depth && above[depth - 1] ? above[depth - 1] : "";
        keys[i] = xasprintf("%s\n%s", parent, own);
        above[depth] = keys[i];
        free(own);
    }
    return keys;
}

static void free_keys(char **keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(keys[i]);
    free(keys);
}

/* Indexes rows by keys: (hash, number of earlier rows with that hash) -> 1 + row. */
static struct map index_rows(char **keys, uint32_t count)
{
    struct map index = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t h = text_hash_add(TEXT_HASH_EMPTY, keys[i], strlen(keys[i])), n = 0;
        while (map_get(&index, h, n))
            n++;
        map_put(&index, h, n, (void *)(uintptr_t)(i + 1));
    }
    return index;
}

/* Returns the first unmatched row with that key; row_count: none. */
static uint32_t find_row(const struct table_diff_builder *m, const struct map *index,
                         const char *key)
{
    uint64_t h = text_hash_add(TEXT_HASH_EMPTY, key, strlen(key));
    uintptr_t row;
    for (uint64_t n = 0; (row = (uintptr_t)map_get(index, h, n)) != 0; n++)
        if (!m->taken[row - 1] && strcmp(m->there_keys[row - 1], key) == 0)
            return (uint32_t)row - 1;
    return m->there->row_count;
}

/* ---- table of differences ---- */

/* Inserts "_diff" into "running_ns": "running_diff_ns"; names of shares have no unit. */
static char *name_of(const struct table_column *c, const char *more, uint8_t kind)
{
    size_t n = strlen(c->name);
    bool ns = n > 3 && strcmp(c->name + n - 3, "_ns") == 0;
    return xasprintf("%.*s%s%s", (int)(ns ? n - 3 : n), c->name, more,
                     ns && kind == c->kind ? "_ns" : "");
}

static struct table_column copy_column(const struct table_column *c, const char *name,
                                       const char *title, uint8_t kind)
{
    return (struct table_column){.name = name_of(c, name, kind),
                                 .title = xasprintf("%s%s", c->title, title),
                                 .unit = xstrdup(kind == TABLE_SHARE ? "" : c->unit),
                                 .kind = kind,
                                 .exact = c->exact,
                                 .detail = c->detail,
                                 .source = xstrdup(c->source)};
}

static void add_column(struct result_table *t, struct table_column column, uint32_t under)
{
    column.under = under;
    ARRAY_PUSH(t->columns, t->column_count, column);
}

static bool table_diff_has_own_units(const struct result_table *t)
{
    uint32_t k = 0;
    while (k < t->column_count && strcmp(t->columns[k].name, "value") != 0)
        k++;
    return k < t->column_count;
}

/* A value with a unit of its own in the text of each row has no difference column; only the number
 * after it has one, in per cent. */
static bool table_diff_has_text_unit(const struct table_diff_builder *m,
                                     const struct table_column *c)
{
    static const char *const numbers[] = {"total", "mean", NULL};
    return m->own_units && is_column(c, numbers);
}

/* Adds the columns with their differences; columns under another one stay under it, and so do their
 * differences. */
static void add_columns(struct table_diff_builder *m)
{
    struct result_table *t = m->both;
    uint32_t *at = xcalloc(m->here->column_count + 1, sizeof *at); /* by column, 1 + index */
    for (uint32_t k = 0; k < m->here->column_count; k++) {
        const struct table_column *c = &m->here->columns[k];
        uint32_t under = c->under && c->under <= k ? at[c->under - 1] : 0;
        bool both = under && is_number(c) && is_number(&m->here->columns[c->under - 1]);
        at[k] = t->column_count + 1;
        add_column(t, copy_column(c, "", "", c->kind), under);
        if (!is_number(c))
            continue;
        add_column(t, copy_column(c, "_diff", " +/-", c->kind), both ? under + 1 : 0);
        add_column(t, copy_column(c, "_percent", " +/- %", TABLE_SHARE), both ? under + 2 : 0);
        if (table_diff_has_text_unit(m, c))
            t->columns[t->column_count - 1].detail = false;
    }
    free(at);
}

static struct table_cell copy_cell(const struct table_cell *cell)
{
    struct table_cell copy = *cell;
    if (copy.is == CELL_TEXT)
        copy.text = xstrdup(copy.text);
    return copy;
}

static double value_of(const struct table_cell *cell)
{
    return cell->is == CELL_REAL ? cell->real : (double)cell->number;
}

static bool has_value(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER || cell->is == CELL_REAL;
}

/* Sets the difference (here minus there), and its share of the value there. */
static void set_difference(struct table_cell *cells, const struct table_cell *here,
                           const struct table_cell *there)
{
    if (!has_value(here) || !has_value(there))
        return;
    double difference = value_of(here) - value_of(there);
    cells[0] = here->is == CELL_REAL || there->is == CELL_REAL
                   ? table_cell_real(difference)
                   : table_cell_number(here->number - there->number);
    if (value_of(there) != 0)
        cells[1] = table_cell_real(difference / value_of(there));
}

/* Sets the cells of a row that one or both of the tables have; `there` NULL: only this one, `here`
 * NULL: only the other one, and its texts are copied. */
static void set_cells(const struct table_diff_builder *m, struct table_cell *cells,
                      const struct table_cell *here, const struct table_cell *there)
{
    for (uint32_t k = 0; k < m->here->column_count; k++) {
        const struct table_column *c = &m->here->columns[k];
        struct table_cell *cell = cells++;
        if (here)
            *cell = copy_cell(&here[k]);
        else if (!is_number(c) && there[k].is != CELL_NULL)
            *cell = (struct table_cell){
                .is = CELL_TEXT, .text = result_table_cell_text(m->there_names, c, &there[k])};
        if (!is_number(c))
            continue;
        set_difference(cells, here ? &here[k] : &m->absent, there ? &there[k] : &m->absent);
        cells += 2;
    }
}

static struct table_cell *add_row(struct table_diff_builder *m, const struct table_row *row,
                                  bool named)
{
    struct result_table *t = m->both;
    struct table_row copy = {.depth = row->depth};
    if (named) {
        copy.event = row->event;
        for (uint32_t i = 0; i < row->line_count; i++)
            ARRAY_PUSH(copy.lines, copy.line_count, row->lines[i]);
    }
    t->rows[t->row_count] = copy;
    return result_table_cells(t, t->row_count++);
}

/* Rows that only the other table has, by the row of this table that they are below. */
struct table_diff_rest {
    uint32_t *first,
        *next; /* rows of `there`; by 1 + row of `here`, 0: none; UINT32_MAX: the end */
};

/* Lists them: matches[i] is 1 + the row of `here` that row i of `there` matches, 0: none. */
static struct table_diff_rest table_diff_list_rest(const struct table_diff_builder *m,
                                                   const uint32_t *matches)
{
    struct table_diff_rest rest = {xcalloc(m->here->row_count + 1u, sizeof *rest.first),
                                   xcalloc(m->there->row_count + 1u, sizeof *rest.next)};
    uint32_t *last = xcalloc(m->here->row_count + 1u, sizeof *last), below[DEPTHS + 1] = {0};
    memset(rest.first, 0xff, (m->here->row_count + 1u) * sizeof *rest.first);
    for (uint32_t i = 0; i < m->there->row_count; i++) {
        uint8_t depth = m->there->rows[i].depth;
        uint32_t parent = below[depth];
        below[depth + 1] = matches[i] ? matches[i] : parent;
        if (matches[i])
            continue;
        rest.next[i] = UINT32_MAX;
        *(rest.first[parent] == UINT32_MAX ? &rest.first[parent] : &rest.next[last[parent]]) = i;
        last[parent] = i;
    }
    free(last);
    return rest;
}

/* Adds those below a parent: 1 + a row of `here`; 0: at the top; UINT32_MAX: there is none. */
static void table_diff_add_rest(struct table_diff_builder *m, const struct table_diff_rest *rest,
                                uint32_t parent)
{
    if (parent == UINT32_MAX)
        return;
    for (uint32_t i = rest->first[parent]; i != UINT32_MAX; i = rest->next[i])
        set_cells(m, add_row(m, &m->there->rows[i], false), NULL, result_table_cells(m->there, i));
}

/* Returns which row of `there` each row of `here` matches; row_count: none. */
static uint32_t *table_diff_match_rows(struct table_diff_builder *m)
{
    struct map index = index_rows(m->there_keys, m->there->row_count);
    uint32_t *others = xcalloc(m->here->row_count + 1u, sizeof *others);
    for (uint32_t i = 0; i < m->here->row_count; i++) {
        others[i] = find_row(m, &index, m->here_keys[i]);
        if (others[i] < m->there->row_count)
            m->taken[others[i]] = 1;
    }
    map_free(&index);
    return others;
}

static void add_rows(struct table_diff_builder *m)
{
    uint32_t *others = table_diff_match_rows(m), open[DEPTHS + 1], depth = 0,
             *matches = xcalloc(m->there->row_count + 1u, sizeof *matches);
    for (uint32_t i = 0; i < m->here->row_count; i++)
        if (others[i] < m->there->row_count)
            matches[others[i]] = i + 1;
    struct table_diff_rest rest = table_diff_list_rest(m, matches);
    for (uint32_t i = 0; i < m->here->row_count; i++) {
        for (; depth > m->here->rows[i].depth; depth--)
            table_diff_add_rest(m, &rest, open[depth]);
        while (depth < m->here->rows[i].depth) /* a level without a row */
            open[++depth] = UINT32_MAX;
        open[++depth] = i + 1;
        set_cells(m, add_row(m, &m->here->rows[i], true), result_table_cells(m->here, i),
                  others[i] < m->there->row_count ? result_table_cells(m->there, others[i]) : NULL);
    }
    for (; depth; depth--)
        table_diff_add_rest(m, &rest, open[depth]);
    table_diff_add_rest(m, &rest, 0);
    free(rest.first);
    free(rest.next);
    free(others);
    free(matches);
}

void table_diff_make(struct result_table *both, const struct result_table *here,
                     const struct table_names *here_names, const struct result_table *there,
                     const struct table_names *there_names)
{
    struct table_diff_builder m = {.both = both,
                                   .here = here,
                                   .there = there,
                                   .here_names = here_names,
                                   .there_names = there_names,
                                   .here_keys = table_diff_make_keys(here, here_names),
                                   .there_keys = table_diff_make_keys(there, there_names),
                                   .taken = xcalloc(there->row_count, 1),
                                   .own_units = table_diff_has_own_units(here)};
    if (!m.own_units && here->row_count && there->row_count)
        m.absent = table_cell_number(0); /* else it was not measured */
    size_t rows = (size_t)here->row_count + there->row_count;
    *both = (struct result_table){
        .title = xasprintf("%s compared with %s", here->title, there_names->book->run.name)};
    add_columns(&m);
    both->rows = xcalloc(rows, sizeof *both->rows);
    both->cells = xcalloc(rows * both->column_count, sizeof *both->cells);
    add_rows(&m);
    if (here->total) {
        both->total = xcalloc(both->column_count, sizeof *both->total);
        set_cells(&m, both->total, here->total, there->total);
    }
    for (uint32_t i = 0; i < here->note_count; i++)
        ARRAY_PUSH(both->notes, both->note_count, xstrdup(here->notes[i]));
    both->known = here->known;
    both->count = here->count;
    free_keys(m.here_keys, here->row_count);
    free_keys(m.there_keys, there->row_count);
    free(m.taken);
}
