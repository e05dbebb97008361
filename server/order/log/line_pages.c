/* Selection of the lines that a save writes.  Lines lie in pages of PAGE_LINES, and a page is a
 * part in the block store: only pages with a line that has changed since the last save are written
 * again.
 *
 * A save is of one moment, and takes many steps.  At that moment all pages that are to be
 * written are frozen.  Until a frozen page is written, a line of it that is about to change is
 * written first, on the side: so a page has each of its lines as it was at that moment, and a
 * change never costs more than one line. */
#include "server/order/log/line_pages.h"

#include "base/alloc.h"
#include "server/order/log/line_table.h"
#include "server/order/order.h"
#include "server/order/saved_format.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

static size_t line_pages_count(size_t lines) { return (lines + PAGE_LINES - 1) / PAGE_LINES; }

static const struct line_array *lines_of(const struct order *order, unsigned hidden)
{
    return hidden ? &order->lines.hidden : &order->lines.visible;
}

static void copy_line(struct order *order, unsigned hidden, size_t line)
{
    struct frozen_save *frozen = order->saves.frozen;
    struct copied *of = &frozen->of[hidden];
    const struct order_line *as_it_is =
        hidden ? &order->lines.hidden.items[line] : order_line_peek(order, line);
    frozen->copies =
        array_reserve(frozen->copies, &frozen->room, frozen->count + 1, sizeof *frozen->copies);
    struct frozen_line *copy = &frozen->copies[frozen->count++];
    copy->line = line % PAGE_LINES;
    copy->flags = line_flags(as_it_is);
    copy->at = frozen->bytes.size;
    save_line(&frozen->bytes, as_it_is, copy->flags);
    copy->size = frozen->bytes.size - copy->at;
    copy->next = of->last[line / PAGE_LINES];
    of->last[line / PAGE_LINES] = (uint32_t)frozen->count;
    of->has[line / 8] |= (uint8_t)(1u << line % 8);
}

void line_pages_touched(struct order *order, uint32_t number)
{
    unsigned hidden = number >> 31;
    uint8_t *mark = &order->pages[hidden].marks[line_page(number)];
    size_t line = (number & ~HIDDEN_LINE) - 1;
    if (*mark & PAGE_FROZEN) {
        const struct copied *of = &order->saves.frozen->of[hidden];
        if (line < of->lines && !(of->has[line / 8] >> line % 8 & 1))
            copy_line(order, hidden, line);
    }
    *mark |= PAGE_TOUCHED;
}

/* ---- saving ---- */

void line_pages_freeze(struct order *order)
{
    struct frozen_save *frozen = xcalloc(1, sizeof *frozen);
    order->saves.frozen = frozen;
    frozen->kept = xcalloc(PAGE_LINES, sizeof *frozen->kept);
    for (unsigned hidden = 0; hidden < 2; hidden++) {
        struct line_pages *pages = &order->pages[hidden];
        struct copied *of = &frozen->of[hidden];
        of->lines = lines_of(order, hidden)->count;
        of->has = xcalloc(of->lines / 8 + 1, 1);
        of->last = xcalloc(line_pages_count(of->lines), sizeof *of->last);
        for (size_t i = 0; i < pages->count; i++)
            if (pages->marks[i] & PAGE_TOUCHED)
                pages->marks[i] = PAGE_FROZEN;
    }
}

/* Writes a page; equal consecutive lines are written once. Which lines are copies makes no
 * difference to the reader. */
static void put_page(struct save_bytes *out, const struct order_line *lines, size_t count,
                     const struct frozen_line *const *kept, const uint8_t *copies)
{
    for (size_t i = 0, same; i < count; i += same) {
        unsigned flags = kept[i] ? kept[i]->flags : line_flags(&lines[i]);
        if (kept[i])
            save_put_plain(out, copies + kept[i]->at, kept[i]->size);
        else
            save_line(out, &lines[i], flags);
        same = 1;
        if (flags & LINE_TELLS)
            continue;
        while (!kept[i] && i + same < count && !kept[i + same] &&
               save_is_same(&lines[i], &lines[i + same], flags))
            same++;
        save_put_number(out, same - 1);
    }
}

/* Returns the lines of a page as they are to be saved. If some of them are evicted, *made receives
 * copies of all, which the caller frees. */
static const struct order_line *lines_to_save(struct order *order, unsigned hidden, size_t first,
                                              size_t count, struct order_line **made)
{
    struct order_line *lines = lines_of(order, hidden)->items + first;
    size_t evicted = 0;
    for (size_t i = 0; i < count && !hidden && order->evicted.count; i++)
        evicted += line_is_evicted(order, first + i);
    *made = evicted ? xaligned_alloc(_Alignof(struct order_line), count * sizeof *lines) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (!evicted || !line_is_evicted(order, first + i))
            line_trim(&lines[i]);
        if (evicted)
            (*made)[i] = *order_line_peek(order, first + i);
    }
    return lines;
}

static void write_page(struct order *order, unsigned hidden, size_t page)
{
    struct frozen_save *frozen = order->saves.frozen;
    const struct copied *of = &frozen->of[hidden];
    size_t first = page * PAGE_LINES, count = of->lines - first;
    struct order_line *made;
    count = count > PAGE_LINES ? PAGE_LINES : count;
    memset(frozen->kept, 0, PAGE_LINES * sizeof *frozen->kept);
    for (uint32_t next = of->last[page]; next; next = frozen->copies[next - 1].next)
        frozen->kept[frozen->copies[next - 1].line] = &frozen->copies[next - 1];
    frozen->page.size = 0;
    const struct order_line *lines = lines_to_save(order, hidden, first, count, &made);
    put_page(&frozen->page, made ? made : lines, count, frozen->kept, frozen->bytes.data);
    free(made);
    struct line_page_entry *at = &order->pages[hidden].items[page];
    at->place = order->shelf.put(order->shelf.context, frozen->page.data, frozen->page.size);
    order->saves.bytes += frozen->page.size;
    order->pages[hidden].marks[page] &= (uint8_t)~PAGE_FROZEN;
}

bool line_pages_write_next(struct order *order)
{
    for (unsigned hidden = 0; hidden < 2; hidden++) {
        struct copied *of = &order->saves.frozen->of[hidden];
        while (of->next < line_pages_count(of->lines)) {
            size_t page = of->next++;
            if (order->pages[hidden].marks[page] & PAGE_FROZEN) {
                write_page(order, hidden, page);
                return false;
            }
        }
    }
    return true;
}

void line_pages_thaw(struct order *order)
{
    struct frozen_save *frozen = order->saves.frozen;
    if (!frozen)
        return;
    for (unsigned hidden = 0; hidden < 2; hidden++) {
        struct line_pages *pages = &order->pages[hidden];
        for (size_t i = 0; i < pages->count; i++)
            if (pages->marks[i] & PAGE_FROZEN)
                pages->marks[i] = PAGE_TOUCHED;
        free(frozen->of[hidden].has);
        free(frozen->of[hidden].last);
    }
    save_rest_thaw(order);
    free(frozen->copies);
    free(frozen->state.data);
    free(frozen->bytes.data);
    free(frozen->page.data);
    free(frozen->kept);
    free(frozen);
    order->saves.frozen = NULL;
}

void line_pages_free(struct order *order)
{
    line_pages_thaw(order);
    for (unsigned hidden = 0; hidden < 2; hidden++) {
        free(order->pages[hidden].items);
        free(order->pages[hidden].marks);
    }
}

/* ---- places in the block store ---- */

void save_pages(struct save_bytes *out, const struct order *order, unsigned hidden)
{
    uint64_t before = 0;
    for (size_t i = 0; i < line_pages_count(order->saves.frozen->of[hidden].lines); i++) {
        uint64_t place = order->pages[hidden].items[i].place;
        /* zigzag encoding: a place may be less than the previous one */
        uint64_t far = place - before;
        save_put_number(out, far << 1 ^ (uint64_t)((int64_t)far >> 63));
        before = place;
    }
}

static void load_page(struct order *order, unsigned hidden, size_t page, uint64_t place,
                      struct save_reader *in)
{
    struct line_pages *pages = &order->pages[hidden];
    size_t first = page * PAGE_LINES, count = lines_of(order, hidden)->count - first;
    struct save_reader lines = {0};
    uint8_t *bytes = order->shelf.get(order->shelf.context, place, &lines.size);
    lines.data = bytes;
    lines.bad = !bytes;
    load_lines(&lines, order, lines_of(order, hidden)->items + first,
               count > PAGE_LINES ? PAGE_LINES : count);
    in->bad |= lines.bad || lines.at != lines.size;
    free(bytes);
    pages->items[page] = (struct line_page_entry){place};
    pages->marks[page] = 0;
}

void load_pages(struct save_reader *in, struct order *order, unsigned hidden)
{
    uint64_t place = 0;
    for (size_t i = 0; i < order->pages[hidden].count && !in->bad; i++) {
        uint64_t code = save_get_number(in);
        place += code >> 1 ^ -(code & 1);
        load_page(order, hidden, i, place, in);
    }
}

void order_renew(struct order *order, uint64_t place)
{
    for (unsigned hidden = 0; hidden < 2; hidden++)
        for (size_t i = 0; i < order->pages[hidden].count; i++)
            if (order->pages[hidden].items[i].place < place)
                order->pages[hidden].marks[i] |= PAGE_TOUCHED;
}

void order_saved_parts(const struct order *order, void (*visit)(void *context, uint64_t place),
                       void *context)
{
    for (unsigned hidden = 0; hidden < 2; hidden++)
        for (size_t i = 0; i < line_pages_count(order->saves.frozen->of[hidden].lines); i++)
            visit(context, order->pages[hidden].items[i].place);
    for (size_t i = 0; i < order->saves.frozen->rest.place_count; i++)
        visit(context, order->saves.frozen->rest.places[i]);
}
