#include "clients/cli/row_matching.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct row_matching {
    struct merged_metadata *both;
    const struct trace_alignment *beside;
    const uint8_t *part;
    /* by line of the first run: the matching line of the second one, as in `both`; 0: none */
    uint32_t *other;
    bool *has_match; /* by line of `both`: it matches a line of the first run */
    uint32_t *rows;
    uint32_t count;
};

/* ---- matching lines ---- */

static bool row_matching_lines_match(const struct trace_metadata *book, uint32_t a, uint32_t b)
{
    const struct line_metadata *x = metadata_line(book, a), *y = metadata_line(book, b);
    return x && y && strcmp(x->is.kind, y->is.kind) == 0 && strcmp(x->is.name, y->is.name) == 0 &&
           strcmp(metadata_label(book, a), metadata_label(book, b)) == 0;
}

/* Returns an unmatched line of the second run with the same kind, name and label; 0: none. */
static uint32_t row_matching_line_with_label(const struct row_matching *o, uint32_t line)
{
    for (uint32_t i = 1; i <= o->both->of[1]->line_count; i++) {
        uint32_t there = merged_metadata_line(o->both, 1, i);
        if (!o->has_match[there] && !alignment_line(o->beside, 1, i) &&
            row_matching_lines_match(&o->both->book, line, there))
            return there;
    }
    return 0;
}

static void find_others(struct row_matching *o)
{
    uint32_t lines = o->both->of[0]->line_count;
    o->other = xcalloc(lines + 1, sizeof *o->other);
    o->has_match = xcalloc(o->both->book.line_count + 1u, sizeof *o->has_match);
    for (uint32_t i = 1; i <= lines; i++) {
        uint32_t there = merged_metadata_line(o->both, 1, alignment_line(o->beside, 0, i));
        o->other[i] = there ? there : o->part[i] ? row_matching_line_with_label(o, i) : 0;
        o->has_match[o->other[i]] = true;
    }
}

static void row_matching_set_label(struct merged_metadata *both, uint32_t line, char *label)
{
    struct line_metadata *l = metadata_line(&both->book, line);
    if (l) {
        free(l->label);
        l->label = label;
    } else {
        free(label);
    }
}

/* Returns its length without the #2 of lines with equal names. */
static size_t row_matching_bare_label_length(const char *label) { return strcspn(label, "#"); }

/* Gives the matching line of the second run the same #number as the first one. */
static void row_matching_copy_label(const struct row_matching *o, uint32_t first)
{
    uint32_t there = o->other[first];
    const char *is = metadata_label(&o->both->book, first),
               *own = metadata_label(&o->both->book, there);
    if (there && row_matching_bare_label_length(is) == row_matching_bare_label_length(own) &&
        strncmp(is, own, row_matching_bare_label_length(is)) == 0)
        row_matching_set_label(o->both, there, xstrdup(is));
}

/* ---- rows ---- */

/* Returns the larger enum row_match of a line and its match. */
static unsigned part_of(const struct row_matching *o, uint32_t first)
{
    unsigned here = o->part[first], there = o->other[first] ? o->part[o->other[first]] : 0;
    return here > there ? here : there;
}

/* Drops rows from `begin` on beyond ROW_MATCHING_ROWS_MAX, first those that do not differ. Returns
 * how many. */
static uint32_t row_matching_limit_rows(struct row_matching *o, uint32_t begin,
                                        const uint8_t *parts)
{
    uint32_t kept = begin, differ = 0, left = 0;
    for (uint32_t i = begin; i < o->count; i++)
        differ += parts[i] == ROW_DIFFERS;
    uint32_t some = differ > ROW_MATCHING_ROWS_MAX ? ROW_MATCHING_ROWS_MAX : differ,
             others = ROW_MATCHING_ROWS_MAX - some;
    for (uint32_t i = begin; i < o->count; i++) {
        uint32_t *room = parts[i] == ROW_DIFFERS ? &some : &others;
        if (*room)
            o->rows[kept++] = o->rows[i], --*room;
        else
            left++;
    }
    o->count = kept;
    return left;
}

static void row_matching_add_row(struct row_matching *o, uint8_t *parts, uint32_t line,
                                 unsigned part)
{
    parts[o->count] = (uint8_t)part;
    o->rows[o->count++] = line;
}

/* Adds rows of the second run: the matches of the first run's rows, then unmatched lines. */
static void add_second(struct row_matching *o, uint8_t *parts, uint32_t first_count, uint32_t *left)
{
    const struct merged_metadata *both = o->both;
    for (uint32_t i = 0; i < first_count; i++)
        if (o->other[o->rows[i]])
            row_matching_add_row(o, parts, o->other[o->rows[i]], ROW_INVOLVED);
    uint32_t begin = o->count;
    for (uint32_t i = 1; i <= both->of[1]->line_count; i++) {
        uint32_t line = merged_metadata_line(both, 1, i);
        if (!o->has_match[line] && o->part[line] && metadata_line_is_visible(&both->book, line))
            row_matching_add_row(o, parts, line, o->part[line]);
    }
    *left += row_matching_limit_rows(o, begin, parts);
}

/* Marks rows that have the same label as an earlier row of their run. */
static void row_matching_number_labels(const struct row_matching *o, uint32_t begin)
{
    for (uint32_t i = begin; i < o->count; i++)
        for (uint32_t k = begin; k < i; k++) {
            const char *label = metadata_label(&o->both->book, o->rows[i]);
            if (strcmp(label, metadata_label(&o->both->book, o->rows[k])) == 0) {
                row_matching_set_label(o->both, o->rows[i], xasprintf("%s (another)", label));
                break;
            }
        }
}

uint32_t *row_matching_rows(struct merged_metadata *both, const struct trace_alignment *beside,
                            const uint8_t *part, uint32_t count[2], uint32_t *left)
{
    struct row_matching o = {.both = both, .beside = beside, .part = part};
    uint32_t lines = both->book.line_count;
    uint8_t *parts = xcalloc(lines + 1u, 1);
    o.rows = xcalloc(lines + 1u, sizeof *o.rows);
    find_others(&o);
    for (uint32_t i = 1; i <= both->of[0]->line_count; i++)
        if (part_of(&o, i) && metadata_line_is_visible(&both->book, i))
            row_matching_add_row(&o, parts, i, part_of(&o, i));
    *left = row_matching_limit_rows(&o, 0, parts);
    metadata_sort_lines(&both->book, o.rows, o.count);
    count[0] = o.count;
    for (uint32_t i = 0; i < count[0]; i++)
        row_matching_copy_label(&o, o.rows[i]);
    add_second(&o, parts, count[0], left);
    row_matching_number_labels(&o, count[0]);
    count[1] = o.count - count[0];
    free(o.other);
    free(o.has_match);
    free(parts);
    return o.rows;
}
