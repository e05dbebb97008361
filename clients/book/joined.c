#include "clients/book/joined.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_GROUPS (UINT64_C(1) << 63) /* groups of one run are counted from 1 on */

uint32_t joined_line(const struct joined *j, uint32_t line)
{
    if (!line)
        return 0;
    return line + (line & HIDDEN_LINE ? j->hidden : j->lines);
}

struct ref joined_ref(const struct joined *j, struct ref ref)
{
    return (struct ref){joined_line(j, ref.line), ref.number};
}

void joined_event(const struct joined *j, struct shown_event *e)
{
    e->at = joined_ref(j, e->at);
    e->about = joined_line(j, e->about);
    e->thread = joined_line(j, e->thread);
    e->type += e->type ? j->types : 0;
    e->process += j->processes;
    e->group += e->group ? j->groups : 0;
    e->context = 0;
    for (uint32_t i = 0; i < e->partner_count; i++)
        e->partners[i] = joined_ref(j, e->partners[i]);
    for (uint32_t i = 0; i < e->after_count; i++)
        e->after[i] = joined_ref(j, e->after[i]);
}

/* Each line goes over, with all that it owns. */
static void move_lines(struct book *book, struct book_lines *from, uint32_t count,
                       const struct joined *j)
{
    for (uint32_t i = 0; i < count && i / BOOK_PAGE < from->room; i++) {
        struct book_line *page = from->pages[i / BOOK_PAGE], *line = page + i % BOOK_PAGE;
        if (!page || !line->is.line)
            continue;
        line->is.line = joined_line(j, line->is.line);
        line->is.opened_by = joined_ref(j, line->is.opened_by);
        line->is.process += j->processes;
        *book_room(book, line->is.line) = *line;
        *line = (struct book_line){0};
    }
}

static bool describes(const struct book *book, const char *name)
{
    for (size_t i = 0; i < book->target_count; i++)
        if (strcmp(book->targets[i]->name, name) == 0)
            return true;
    return false;
}

static void move_targets(struct book *book, struct book *other)
{
    for (size_t i = 0; i < other->target_count; i++) {
        if (describes(book, other->targets[i]->name))
            continue;
        book->targets =
            memory_resized(book->targets, book->target_count + 1, sizeof *book->targets);
        book->targets[book->target_count++] = other->targets[i];
        other->targets[i] = NULL;
    }
}

/* Frees the second one. */
static void *joined_array(void *items, uint32_t count, void *more, uint32_t more_count, size_t size)
{
    items = memory_resized(items, (size_t)count + more_count + 1, size);
    if (more_count)
        memcpy((char *)items + count * size, more, more_count * size);
    free(more);
    return items;
}

struct joined book_join(struct book *book, struct book *other)
{
    struct joined j = {book->line_count, book->hidden_count, book->type_count, book->process_count,
                       OTHER_GROUPS};
    move_lines(book, &other->lines, other->line_count, &j);
    move_lines(book, &other->hidden, other->hidden_count, &j);
    move_targets(book, other);
    book->types = joined_array(book->types, book->type_count, other->types, other->type_count,
                               sizeof *book->types);
    book->processes = joined_array(book->processes, book->process_count, other->processes,
                                   other->process_count, sizeof *book->processes);
    book->joined = j.lines;
    book->line_count += other->line_count;
    book->hidden_count += other->hidden_count;
    book->type_count += other->type_count;
    book->process_count += other->process_count;
    other->types = NULL, other->processes = NULL;
    other->type_count = other->process_count = 0;
    book->generation++;
    book_free(other);
    return j;
}

uint32_t book_heading(struct book *book, const char *words)
{
    struct book_line *line = book_room(book, ++book->line_count);
    *line = (struct book_line){
        .is = {.line = book->line_count, .kind = memory_copied(""), .name = memory_copied(words)},
        .label = memory_copied(words)};
    book->generation++;
    return line->is.line;
}
