/* Lines of a run beside their order: owners and names, changes, and identities.
 *
 * Owners and names lie in pages.  When all lines of a page are evicted from the order (their events
 * are discarded), the page is packed: each line as its difference to the line before it, a few
 * bytes.  Access to one of them unpacks the page again.  Not thread-safe. */
#ifndef SERVER_RUN_RUN_LINES_H
#define SERVER_RUN_RUN_LINES_H

#include "base/likely.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_LINES_PAGE 1024u

/* Lines that changed after they were made, in the order of the changes. */
struct line_changes {
    uint32_t *items;
    size_t count, room;
};

void line_changes_add(struct line_changes *changes, uint32_t line);
void line_changes_free(struct line_changes *changes);

struct run_line {
    uint32_t kind;
    uint32_t process; /* index of the process that opened it */
    char *name;
    uint64_t object, entry;
    uint32_t programs; /* number of connected programs that announced it */
};

struct run_lines {
    struct facts_page {
        struct run_line *lines; /* NULL: packed */
        uint8_t *packed;
    } *pages;
    uint32_t count;
    size_t room; /* of pages */
    struct map participants; /* line -> number of threads that its barrier waits for */
    /* line, 0 -> number of processes that reported it; line, 1 + index -> 1 + process; line,
     * MEMBER_IS + process -> 1 */
    struct map members;
    struct map reach; /* line of an object that other processes can use -> LINE_ flags */
};

/* Adds the next line; copies the name. */
void run_lines_add(struct run_lines *lines, struct run_line facts);
void run_lines_unpack(struct run_lines *lines, size_t page);
/* Packs the pages of which all lines are evicted, according to `evicted`. */
void run_lines_pack(struct run_lines *lines, bool (*evicted)(const void *context, uint32_t line),
                    const void *context);
/* Packs the page of this number if possible, and increments the number; returns true if there is
 * no such page. */
bool run_lines_pack_next(struct run_lines *lines, size_t *number,
                         bool (*evicted)(const void *context, uint32_t line), const void *context);
void run_lines_free(struct run_lines *lines);
/* The number of threads that wait for each other at a line's barrier; 0: not known. */
void run_lines_set_participants(struct run_lines *lines, uint32_t line, uint32_t count);
uint32_t run_lines_participants(const struct run_lines *lines, uint32_t line);
/* The processes that reported so, by index. */
void run_lines_add_member(struct run_lines *lines, uint32_t line, uint32_t process);
uint32_t run_lines_member_count(const struct run_lines *lines, uint32_t line);
uint32_t run_lines_member(const struct run_lines *lines, uint32_t line, uint32_t index);
/* Reach of a line's object, the other processes that can use it: LINE_ flags
 * (wire/program_messages.h), 0: none; and whether several of the run do. */
#define REACH_BY_SEVERAL 0x80u
void run_lines_add_reach(struct run_lines *lines, uint32_t line, unsigned reach);
unsigned run_lines_reach(const struct run_lines *lines, uint32_t line);
/* Copies the name and frees the previous one. */
void run_lines_rename(struct run_line *line, const char *name);

/* Returns line 1 .. count; valid until the next run_lines_pack(). */
static inline struct run_line *run_lines_at(const struct run_lines *lines, uint32_t line)
{
    const struct facts_page *page = &lines->pages[(line - 1) / RUN_LINES_PAGE];
    if (UNLIKELY(!page->lines))
        run_lines_unpack((struct run_lines *)(uintptr_t)lines, (line - 1) / RUN_LINES_PAGE);
    return &page->lines[(line - 1) % RUN_LINES_PAGE];
}

/* ---- identities: two numbers that are equal in each program that shares the line ---- */

/* Most identities are a program's instance and a number counted from 1: their lines lie in an
 * array, which takes a tenth of the memory of a map and of its cache misses; the others lie in a
 * map. */
struct line_identities {
    struct counted {
        uint64_t high;
        uint32_t owner; /* session */
        uint32_t *lines; /* by the second number */
        size_t room, count;
    } *counted;
    size_t counted_count, counted_room;
    struct map by_high; /* 1 + index into counted */
    struct map others;
};

/* Declares that second numbers with this first one are counted, and belong to that session; the
 * first declaration holds. */
void line_identity_expect(struct line_identities *identities, uint64_t high, uint32_t session);
/* Returns whether lines with that number belong to a session other than this one. */
bool line_identity_has_changed(const struct line_identities *identities, uint64_t high,
                               uint32_t session);
/* Returns the line of an identity; 0: none. */
uint32_t line_identity_get(const struct line_identities *identities, uint64_t high, uint64_t low);
void line_identity_put(struct line_identities *identities, uint64_t high, uint64_t low,
                       uint32_t line);
void line_identity_free(struct line_identities *identities);

#endif
