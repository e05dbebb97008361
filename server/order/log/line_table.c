#define _GNU_SOURCE
#include "server/order/log/line_table.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/log_block.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the state of a line beside its events ----
 *
 * Most lines have none, and state that is no longer needed is freed. */

struct line_more line_more_empty;

struct line_more *line_more(struct order_line *line)
{
    if (line->more == &line_more_empty) {
        line->more = xaligned_alloc(_Alignof(struct line_more), sizeof *line->more);
        *line->more = (struct line_more){0};
    }
    return line->more;
}

void line_add_neighbor(struct order_line *line, uint32_t other)
{
    unsigned n = line->neighbour_count++;
    if (n < NEIGHBOURS_NEAR) {
        line->neighbours.near[n] = other;
        return;
    }
    if (n == NEIGHBOURS_NEAR || (n & (n - 1)) == 0) {
        uint32_t *before = n == NEIGHBOURS_NEAR ? NULL : line->neighbours.far;
        uint32_t *list = xmalloc(2 * n * sizeof *list);
        memcpy(list, before ? before : line->neighbours.near, n * sizeof *list);
        free(before);
        line->neighbours.far = list;
    }
    line->neighbours.far[n] = other;
}

void line_clear_neighbors(struct order_line *line)
{
    if (line->neighbour_count > NEIGHBOURS_NEAR)
        free(line->neighbours.far);
    line->neighbour_count = 0;
}

void line_free(struct order_line *line)
{
    position_list_free(&line->positions);
    line_clear_neighbors(line);
    if (line->more == &line_more_empty)
        return;
    free(line->more->gaps);
    free(line->more->waiters);
    free(line->more->occupants);
    free(line->more->collectors);
    free(line->more);
}

void line_trim(struct order_line *line)
{
    struct line_more *more = line->more;
    if (more == &line_more_empty)
        return;
    if (line->occupant_count == 0) {
        free(more->occupants);
        more->occupants = NULL;
        more->occupant_room = 0;
    }
    if (line->pending == 0) {
        free(more->ring.items);
        more->ring = (struct pending_ring){0};
    }
    if (line->waiter_count == 0) {
        free(more->waiters);
        more->waiters = NULL;
        more->waiter_room = 0;
    }
    if (line->occupant_count || line->pending || line->waiter_count || more->gap_count ||
        more->collector_count || more->wait.line || more->spill || more->far ||
        line->closed == LINE_CLOSING)
        return;
    free(more->gaps);
    free(more->collectors);
    free(more);
    line->more = &line_more_empty;
}

/* ---- the table ---- */

/* Adds a new line to its page, and marks that as touched. */
static void line_table_touch_new(struct order *order, uint32_t number)
{
    struct line_pages *pages = &order->pages[number >> 31];
    size_t page = line_page(number), room = pages->room;
    if (page == pages->count) {
        pages->marks = array_reserve(pages->marks, &room, page + 1, 1);
        if (room != pages->room)
            pages->items = array_reserve(pages->items, &pages->room, room, sizeof *pages->items);
        pages->items[pages->count++] = (struct line_page_entry){0};
        pages->marks[page] = 0;
    }
    pages->marks[page] |= PAGE_TOUCHED; /* it was not there when the page was frozen */
}

void line_array_free(struct line_array *lines)
{
    if (lines->items)
        munmap(lines->items, lines->room * sizeof *lines->items);
}

/* Returns the place of one more line; lines are aligned to cache lines. Large arrays are not
 * copied: mremap() moves their pages. */
static struct order_line *line_array_add(struct line_array *lines)
{
    if (lines->count < lines->room)
        return &lines->items[lines->count++];
    size_t before = lines->room * sizeof *lines->items;
    lines->room = lines->room ? 2 * lines->room : 32;
    size_t bytes = lines->room * sizeof *lines->items;
    struct order_line *more =
        before ? mremap(lines->items, before, bytes, MREMAP_MAYMOVE)
               : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        out_of_memory(bytes);
    lines->items = more;
    return &lines->items[lines->count++];
}

uint32_t order_line(struct order *order, bool shared, uint32_t kind)
{
    order->lines.has_shared |= shared;
    *line_array_add(&order->lines.visible) = (struct order_line){.shared = shared,
                                                                 .kind = kind,
                                                                 .last = NO_POSITION,
                                                                 .tied = NO_POSITION,
                                                                 .more = &line_more_empty};
    line_table_touch_new(order, (uint32_t)order->lines.visible.count);
    return (uint32_t)order->lines.visible.count;
}

struct order_line *line_new_hidden(struct order *order, uint32_t kind, uint32_t *number)
{
    struct order_line *line = line_array_add(&order->lines.hidden);
    *line = (struct order_line){
        .kind = kind, .last = NO_POSITION, .tied = NO_POSITION, .more = &line_more_empty};
    *number = HIDDEN_LINE | (uint32_t)order->lines.hidden.count;
    line_table_touch_new(order, *number);
    return line;
}

/* ---- eviction from memory ----
 *
 * A program may create millions of objects, one after the other. Of a line that has ended, with all
 * events discarded, only the attributes are left, and most such lines have the same attributes as
 * many others: a pattern. When all lines in a page of memory are like that, the page is freed, and
 * two bytes per line say which pattern it has. line_get() restores a line; order_line_peek() reads
 * it without restoring it. */

#define PATTERNS_MOST 60000u

static size_t page_lines(void)
{
    static size_t lines;
    long bytes = lines ? 0 : sysconf(_SC_PAGESIZE);
    if (!lines)
        lines = bytes > 0 ? (size_t)bytes / sizeof(struct order_line) : SIZE_MAX;
    return lines;
}

void order_load_line(const struct order *of, size_t index)
{
    struct order *order = (struct order *)(uintptr_t)of; /* callers see no change */
    order->lines.visible.items[index] = order->evicted.patterns[order->evicted.codes[index] - 1];
    order->evicted.codes[index] = 0;
    order->evicted.count--;
}

static bool eviction_is_complete(const struct order_line *line)
{
    return (line->closed == LINE_CLOSED || line->gone) && line->closed != LINE_CLOSING &&
           line->base == line->positions.count && !line->acted && line->more == &line_more_empty &&
           !line->pending && !line->occupant_count && !line->waiter_count && !line->queued &&
           !line->leaving && !line->dense && !line->has_gaps && !line->neighbour_count &&
           line->highest <= line->delivered && !line->positions.tail && !line->positions.upper;
}

/* Returns the pattern of a line. Its opener is forgotten, and which of the discarded events was its
 * last makes no difference. */
static struct order_line pattern_of(const struct order_line *line)
{
    struct order_line pattern;
    memset(&pattern, 0, sizeof pattern); /* it is compared byte by byte */
    pattern.delivered = line->delivered;
    pattern.last = line->base ? 0 : NO_POSITION;
    pattern.shared = line->shared;
    pattern.closed = line->closed;
    pattern.gone = line->gone;
    pattern.settled = line->settled;
    pattern.after_gap = line->after_gap;
    pattern.kind = line->kind;
    pattern.more = &line_more_empty;
    pattern.positions.count = pattern.base = line->base;
    pattern.tied = NO_POSITION;
    return pattern;
}

/* Returns the code of a line's pattern, which is added if it is new; 0 if there are too many
 * patterns. */
static uint16_t pattern_code(struct evicted_lines *evicted, const struct order_line *line)
{
    struct order_line pattern = pattern_of(line);
    for (uint64_t i = 0;; i++) { /* i distinguishes patterns of one kind and number */
        uint64_t key = (uint64_t)line->kind << 32 | i;
        uintptr_t code = (uintptr_t)map_get(&evicted->pattern_codes, key, line->delivered);
        if (code && memcmp(&evicted->patterns[code - 1], &pattern, sizeof pattern) == 0)
            return (uint16_t)code;
        if (code && i < 16)
            continue;
        if (code || evicted->pattern_count >= PATTERNS_MOST)
            return 0;
        if (evicted->pattern_count == evicted->pattern_room) {
            size_t room = evicted->pattern_room ? 2 * evicted->pattern_room : 16;
            struct order_line *more =
                xaligned_alloc(_Alignof(struct order_line), room * sizeof *more);
            if (evicted->pattern_count)
                memcpy(more, evicted->patterns, evicted->pattern_count * sizeof *more);
            free(evicted->patterns);
            evicted->patterns = more;
            evicted->pattern_room = room;
        }
        evicted->patterns[evicted->pattern_count++] = pattern;
        map_put(&evicted->pattern_codes, key, line->delivered,
                (void *)(uintptr_t)evicted->pattern_count);
        return (uint16_t)evicted->pattern_count;
    }
}

/* Are all lines of this page complete or evicted? *news: some are not evicted yet. */
static bool eviction_is_page_complete(const struct evicted_lines *evicted,
                                      const struct order_line *lines, size_t first, size_t end,
                                      bool *news)
{
    *news = false;
    for (size_t i = first; i < end; i++) {
        if (evicted->codes[i])
            continue;
        *news = true;
        if (!eviction_is_complete(&lines[i]))
            return false;
    }
    return *news;
}

static bool eviction_evict_page(struct evicted_lines *evicted, struct order_line *lines,
                                size_t first, size_t end)
{
    uint16_t codes[512];
    bool all = end - first <= sizeof codes / sizeof *codes;
    for (size_t i = first; i < end && all; i++) {
        codes[i - first] = evicted->codes[i] ? evicted->codes[i] : pattern_code(evicted, &lines[i]);
        all = codes[i - first] != 0;
    }
    for (size_t i = first; i < end && all; i++) {
        evicted->count += !evicted->codes[i];
        evicted->codes[i] = codes[i - first];
    }
    return all && madvise(&lines[first], (end - first) * sizeof *lines, MADV_DONTNEED) == 0;
}

#define EVICTION_LOOKS 1024u /* lines examined in one step */

bool order_evict_lines(struct order *order, size_t *first)
{
    struct evicted_lines *evicted = &order->evicted;
    const struct line_array *lines = &order->lines.visible;
    size_t each = page_lines();
    bool news;
    if (each == 0 || each > lines->count)
        return true;
    evicted->codes =
        array_reserve_zeroed(evicted->codes, &evicted->room, lines->room, sizeof *evicted->codes);
    size_t until = *first + (each > EVICTION_LOOKS ? each : EVICTION_LOOKS);
    for (; *first < until && *first + each <= lines->count; *first += each)
        if (eviction_is_page_complete(evicted, lines->items, *first, *first + each, &news))
            eviction_evict_page(evicted, lines->items, *first, *first + each);
    return *first + each > lines->count;
}

void order_evict_line(struct order *order)
{
    size_t first = 0;
    while (!order_evict_lines(order, &first))
        ;
}

bool order_line_is_evicted(const struct order *order, uint32_t line)
{
    return order->evicted.count && !(line & HIDDEN_LINE) && line && line <= order->evicted.room &&
           order->evicted.codes[line - 1];
}

void line_eviction_free(struct evicted_lines *evicted)
{
    free(evicted->codes);
    free(evicted->patterns);
    map_free(&evicted->pattern_codes);
}
