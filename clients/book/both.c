#include "clients/book/both.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

uint32_t both_line(const struct both *both, unsigned run, uint32_t line)
{
    return line && run && !(line & HIDDEN_LINE) ? line + both->of[0]->line_count : line;
}

struct ref both_ref(const struct both *both, unsigned run, struct ref at)
{
    return (struct ref){both_line(both, run, at.line), at.number};
}

unsigned both_run(const struct both *both, uint32_t line) { return line > both->of[0]->line_count; }

struct ref both_own(const struct both *both, struct ref at)
{
    uint32_t before = both_run(both, at.line) ? both->of[0]->line_count : 0;
    return (struct ref){at.line - before, at.number};
}

static void add_line(struct both *both, unsigned run, uint32_t line)
{
    const struct book_line *from = book_line(both->of[run], line);
    uint32_t i = both_line(both, run, line) - 1;
    struct book_line **page = &both->book.lines.pages[i / BOOK_PAGE];
    if (!from)
        return;
    if (!*page)
        *page = memory_zeroed(BOOK_PAGE, sizeof **page);
    struct book_line *to = &(*page)[i % BOOK_PAGE];
    *to = (struct book_line){.is = from->is, .twin = from->twin, .own = from->own};
    to->is.line = i + 1;
    to->is.opened_by = both_ref(both, run, from->is.opened_by);
    to->is.kind = memory_copied(from->is.kind);
    to->is.name = memory_copied(from->is.name);
    to->label = memory_copied(book_label(both->of[run], line));
}

static void add_lines(struct both *both)
{
    struct book *book = &both->book;
    book->first_lines = both->of[0]->line_count;
    book->line_count = both->of[0]->line_count + both->of[1]->line_count;
    book->lines.room = book->line_count / BOOK_PAGE + 1;
    book->lines.pages = memory_zeroed(book->lines.room, sizeof *book->lines.pages);
    for (unsigned run = 0; run < 2; run++)
        for (uint32_t i = 1; i <= both->of[run]->line_count; i++)
            add_line(both, run, i);
}

/* ---- types and descriptions ---- */

static uint32_t type_named(struct book *book, const char *name)
{
    for (uint32_t i = 0; i < book->type_count; i++)
        if (strcmp(book->types[i], name) == 0)
            return i + 1;
    book->types = memory_resized(book->types, book->type_count + 1, sizeof *book->types);
    book->types[book->type_count++] = memory_copied(name);
    return book->type_count;
}

static void add_types(struct both *both)
{
    struct book *book = &both->book;
    const struct book *first = both->of[0], *second = both->of[1];
    book->types = memory_zeroed(first->type_count, sizeof *book->types);
    for (; book->type_count < first->type_count; book->type_count++)
        book->types[book->type_count] = memory_copied(first->types[book->type_count]);
    both->types = memory_zeroed(second->type_count, sizeof *both->types);
    for (uint32_t i = 0; i < second->type_count; i++)
        both->types[i] = type_named(book, second->types[i]);
}

static void add_targets(struct both *both)
{
    struct book *book = &both->book;
    book->targets =
        memory_zeroed(both->of[0]->target_count + both->of[1]->target_count, sizeof *book->targets);
    for (unsigned run = 0; run < 2; run++)
        for (size_t i = 0; i < both->of[run]->target_count; i++)
            book->targets[book->target_count++] = both->of[run]->targets[i];
}

void both_make(struct both *both, const struct book *first, const struct book *second)
{
    *both = (struct both){.of = {first, second}};
    add_lines(both);
    add_types(both);
    add_targets(both);
}

void both_free(struct both *both)
{
    both->book.target_count = 0; /* they are the books' */
    book_free(&both->book);
    free(both->types);
    *both = (struct both){0};
}

/* ---- events ---- */

#define SECOND_GROUP (UINT64_C(1) << 63)

void both_event(const struct both *both, unsigned run, struct shown_event *e)
{
    if (!run)
        return;
    e->at = both_ref(both, run, e->at);
    e->about = both_line(both, run, e->about);
    e->thread = both_line(both, run, e->thread);
    e->type = e->type && e->type <= both->of[1]->type_count ? both->types[e->type - 1] : 0;
    e->group = e->group ? e->group ^ SECOND_GROUP : 0;
    for (uint32_t i = 0; i < e->partner_count; i++)
        e->partners[i] = both_ref(both, run, e->partners[i]);
    for (uint32_t i = 0; i < e->after_count; i++)
        e->after[i] = both_ref(both, run, e->after[i]);
}
