#include "clients/poet/opposite.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct opposite {
    struct both *both;
    const struct beside *beside;
    const uint8_t *part;
    uint32_t *
        other; /* by line of the first run: that of `both` that stands for it in the second; 0: none */
    bool *stands; /* by line of `both`: it does */
    uint32_t *rows;
    uint32_t count;
};

/* ---- which is which ---- */

static bool alike(const struct book *book, uint32_t a, uint32_t b)
{
    const struct book_line *x = book_line(book, a), *y = book_line(book, b);
    return x && y && strcmp(x->is.kind, y->is.kind) == 0 && strcmp(x->is.name, y->is.name) == 0 &&
           strcmp(book_label(book, a), book_label(book, b)) == 0;
}

/* One that nothing is matched with, and that is called so. */
static uint32_t named_so(const struct opposite *o, uint32_t line)
{
    for (uint32_t i = 1; i <= o->both->of[1]->line_count; i++) {
        uint32_t there = both_line(o->both, 1, i);
        if (!o->stands[there] && !beside_line(o->beside, 1, i) &&
            alike(&o->both->book, line, there))
            return there;
    }
    return 0;
}

static void find_others(struct opposite *o)
{
    uint32_t lines = o->both->of[0]->line_count;
    o->other = memory_zeroed(lines + 1, sizeof *o->other);
    o->stands = memory_zeroed(o->both->book.line_count + 1u, sizeof *o->stands);
    for (uint32_t i = 1; i <= lines; i++) {
        uint32_t there = both_line(o->both, 1, beside_line(o->beside, 0, i));
        o->other[i] = there ? there : o->part[i] ? named_so(o, i) : 0;
        o->stands[o->other[i]] = true;
    }
}

static void call(struct both *both, uint32_t line, char *label)
{
    struct book_line *l = book_line(&both->book, line);
    if (l) {
        free(l->label);
        l->label = label;
    } else {
        free(label);
    }
}

/* How many bytes it has without the number of a twin. */
static size_t bare(const char *label) { return strcspn(label, "#"); }

/* With the number that the one has that it is matched with. */
static void call_alike(const struct opposite *o, uint32_t first)
{
    uint32_t there = o->other[first];
    const char *is = book_label(&o->both->book, first), *own = book_label(&o->both->book, there);
    if (there && bare(is) == bare(own) && strncmp(is, own, bare(is)) == 0)
        call(o->both, there, memory_copied(is));
}

/* ---- which have rows ---- */

/* What takes part in either run. */
static unsigned part_of(const struct opposite *o, uint32_t first)
{
    unsigned here = o->part[first], there = o->other[first] ? o->part[o->other[first]] : 0;
    return here > there ? here : there;
}

/* Those from `begin` on of which there are too many go: of the ones that do not differ, then of the others. */
static uint32_t cut(struct opposite *o, uint32_t begin, const uint8_t *parts)
{
    uint32_t kept = begin, differ = 0, left = 0;
    for (uint32_t i = begin; i < o->count; i++)
        differ += parts[i] == PART_DIFFERS;
    uint32_t some = differ > OPPOSITE_ROWS_MOST ? OPPOSITE_ROWS_MOST : differ,
             others = OPPOSITE_ROWS_MOST - some;
    for (uint32_t i = begin; i < o->count; i++) {
        uint32_t *room = parts[i] == PART_DIFFERS ? &some : &others;
        if (*room)
            o->rows[kept++] = o->rows[i], --*room;
        else
            left++;
    }
    o->count = kept;
    return left;
}

static void add(struct opposite *o, uint8_t *parts, uint32_t line, unsigned part)
{
    parts[o->count] = (uint8_t)part;
    o->rows[o->count++] = line;
}

/* Of the second run: what stands for the rows of the first, then what is of none. */
static void add_second(struct opposite *o, uint8_t *parts, uint32_t first_count, uint32_t *left)
{
    const struct both *both = o->both;
    for (uint32_t i = 0; i < first_count; i++)
        if (o->other[o->rows[i]])
            add(o, parts, o->other[o->rows[i]], PART_TAKES);
    uint32_t begin = o->count;
    for (uint32_t i = 1; i <= both->of[1]->line_count; i++) {
        uint32_t line = both_line(both, 1, i);
        if (!o->stands[line] && o->part[line] && book_drawn(&both->book, line))
            add(o, parts, line, o->part[line]);
    }
    *left += cut(o, begin, parts);
}

/* One that is called as a row of its run that stands for another one. */
static void call_apart(const struct opposite *o, uint32_t begin)
{
    for (uint32_t i = begin; i < o->count; i++)
        for (uint32_t k = begin; k < i; k++) {
            const char *label = book_label(&o->both->book, o->rows[i]);
            if (strcmp(label, book_label(&o->both->book, o->rows[k])) == 0) {
                call(o->both, o->rows[i], memory_printed("%s (another)", label));
                break;
            }
        }
}

uint32_t *opposite_rows(struct both *both, const struct beside *beside, const uint8_t *part,
                        uint32_t count[2], uint32_t *left)
{
    struct opposite o = {.both = both, .beside = beside, .part = part};
    uint32_t lines = both->book.line_count;
    uint8_t *parts = memory_zeroed(lines + 1u, 1);
    o.rows = memory_zeroed(lines + 1u, sizeof *o.rows);
    find_others(&o);
    for (uint32_t i = 1; i <= both->of[0]->line_count; i++)
        if (part_of(&o, i) && book_drawn(&both->book, i))
            add(&o, parts, i, part_of(&o, i));
    *left = cut(&o, 0, parts);
    book_sort(&both->book, o.rows, o.count);
    count[0] = o.count;
    for (uint32_t i = 0; i < count[0]; i++)
        call_alike(&o, o.rows[i]);
    add_second(&o, parts, count[0], left);
    call_apart(&o, count[0]);
    count[1] = o.count - count[0];
    free(o.other);
    free(o.stands);
    free(parts);
    return o.rows;
}
