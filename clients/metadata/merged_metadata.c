#include "clients/metadata/merged_metadata.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

uint32_t merged_metadata_line(const struct merged_metadata *both, unsigned run, uint32_t line)
{
    return line && run && !(line & HIDDEN_LINE) ? line + both->of[0]->line_count : line;
}

struct event_id merged_metadata_event_id(const struct merged_metadata *both, unsigned run,
                                         struct event_id at)
{
    return (struct event_id){merged_metadata_line(both, run, at.line), at.number};
}

unsigned merged_metadata_run(const struct merged_metadata *both, uint32_t line)
{
    return line > both->of[0]->line_count;
}

struct event_id merged_metadata_own_line(const struct merged_metadata *both, struct event_id at)
{
    uint32_t before = merged_metadata_run(both, at.line) ? both->of[0]->line_count : 0;
    return (struct event_id){at.line - before, at.number};
}

static void add_line(struct merged_metadata *both, unsigned run, uint32_t line)
{
    const struct line_metadata *from = metadata_line(both->of[run], line);
    uint32_t i = merged_metadata_line(both, run, line) - 1;
    struct line_metadata **page = &both->book.lines.pages[i / METADATA_PAGE_LINES];
    if (!from)
        return;
    if (!*page)
        *page = xcalloc(METADATA_PAGE_LINES, sizeof **page);
    struct line_metadata *to = &(*page)[i % METADATA_PAGE_LINES];
    *to = (struct line_metadata){.is = from->is, .twin = from->twin, .own = from->own};
    to->is.line = i + 1;
    to->is.opened_by = merged_metadata_event_id(both, run, from->is.opened_by);
    to->is.kind = xstrdup(from->is.kind);
    to->is.name = xstrdup(from->is.name);
    to->label = xstrdup(metadata_label(both->of[run], line));
}

static void add_lines(struct merged_metadata *both)
{
    struct trace_metadata *book = &both->book;
    book->first_lines = both->of[0]->line_count;
    book->line_count = both->of[0]->line_count + both->of[1]->line_count;
    book->lines.room = book->line_count / METADATA_PAGE_LINES + 1;
    book->lines.pages = xcalloc(book->lines.room, sizeof *book->lines.pages);
    for (unsigned run = 0; run < 2; run++)
        for (uint32_t i = 1; i <= both->of[run]->line_count; i++)
            add_line(both, run, i);
}

/* ---- types and descriptions ---- */

static uint32_t type_named(struct trace_metadata *book, const char *name)
{
    for (uint32_t i = 0; i < book->type_count; i++)
        if (strcmp(book->types[i], name) == 0)
            return i + 1;
    book->types = xreallocarray(book->types, book->type_count + 1, sizeof *book->types);
    book->types[book->type_count++] = xstrdup(name);
    return book->type_count;
}

static void add_types(struct merged_metadata *both)
{
    struct trace_metadata *book = &both->book;
    const struct trace_metadata *first = both->of[0], *second = both->of[1];
    book->types = xcalloc(first->type_count, sizeof *book->types);
    for (; book->type_count < first->type_count; book->type_count++)
        book->types[book->type_count] = xstrdup(first->types[book->type_count]);
    both->types = xcalloc(second->type_count, sizeof *both->types);
    for (uint32_t i = 0; i < second->type_count; i++)
        both->types[i] = type_named(book, second->types[i]);
}

static void add_targets(struct merged_metadata *both)
{
    struct trace_metadata *book = &both->book;
    book->targets =
        xcalloc(both->of[0]->target_count + both->of[1]->target_count, sizeof *book->targets);
    for (unsigned run = 0; run < 2; run++)
        for (size_t i = 0; i < both->of[run]->target_count; i++)
            book->targets[book->target_count++] = both->of[run]->targets[i];
}

void merged_metadata_make(struct merged_metadata *both, const struct trace_metadata *first,
                          const struct trace_metadata *second)
{
    *both = (struct merged_metadata){.of = {first, second}};
    add_lines(both);
    add_types(both);
    add_targets(both);
}

void merged_metadata_free(struct merged_metadata *both)
{
    both->book.target_count = 0; /* owned by the original metadata */
    metadata_free(&both->book);
    free(both->types);
    *both = (struct merged_metadata){0};
}

/* ---- events ---- */

#define SECOND_GROUP (UINT64_C(1) << 63)

void merged_metadata_event(const struct merged_metadata *both, unsigned run, struct event_info *e)
{
    if (!run)
        return;
    e->at = merged_metadata_event_id(both, run, e->at);
    e->about = merged_metadata_line(both, run, e->about);
    e->thread = merged_metadata_line(both, run, e->thread);
    e->type = e->type && e->type <= both->of[1]->type_count ? both->types[e->type - 1] : 0;
    e->group = e->group ? e->group ^ SECOND_GROUP : 0;
    for (uint32_t i = 0; i < e->partner_count; i++)
        e->partners[i] = merged_metadata_event_id(both, run, e->partners[i]);
    for (uint32_t i = 0; i < e->after_count; i++)
        e->after[i] = merged_metadata_event_id(both, run, e->after[i]);
}
