#include "server/run/run_lines.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Name of all lines without a name, which most lines are. */
static char no_name[1];

static char *run_lines_name_new(const char *name)
{
    char *copy = *name ? xstrdup(name) : no_name;
    return copy;
}

static void run_lines_name_free(char *name)
{
    if (name != no_name)
        free(name);
}

void run_lines_rename(struct run_line *line, const char *name)
{
    run_lines_name_free(line->name);
    line->name = run_lines_name_new(name);
}

void run_lines_add(struct run_lines *lines, struct run_line facts)
{
    size_t page = lines->count / RUN_LINES_PAGE;
    facts.name = run_lines_name_new(facts.name ? facts.name : "");
    if (lines->count % RUN_LINES_PAGE == 0) {
        lines->pages = array_reserve(lines->pages, &lines->room, page + 1, sizeof *lines->pages);
        lines->pages[page] =
            (struct facts_page){xmalloc(RUN_LINES_PAGE * sizeof(struct run_line)), NULL};
    }
    *run_lines_at(lines, ++lines->count) = facts;
}

/* ---- packing as differences from the previous line ---- */

enum { KIND = 1, PROCESS = 2, OBJECT = 4, ENTRY = 8, PROGRAMS = 16, NAME = 32 };

struct run_line_packing {
    uint8_t *bytes;
    size_t size, room;
};

static void run_lines_put_number(struct run_line_packing *p, uint64_t v)
{
    p->bytes = array_reserve(p->bytes, &p->room, p->size + 10, 1);
    for (; v >= 128; v >>= 7)
        p->bytes[p->size++] = (uint8_t)(v | 128);
    p->bytes[p->size++] = (uint8_t)v;
}

static uint64_t run_lines_get_number(const uint8_t **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
}

/* Zigzag encoding of a difference: small steps in either direction become small numbers. */
static uint64_t run_lines_delta(uint64_t before, uint64_t now)
{
    int64_t step = (int64_t)(now - before);
    return (uint64_t)step << 1 ^ (uint64_t)(step >> 63);
}

static uint64_t run_lines_apply_delta(uint64_t before, uint64_t step)
{
    return before + (step >> 1 ^ -(step & 1));
}

static void run_lines_put_name(struct run_line_packing *p, const char *name)
{
    size_t size = strlen(name);
    run_lines_put_number(p, size);
    p->bytes = array_reserve(p->bytes, &p->room, p->size + size, 1);
    memcpy(p->bytes + p->size, name, size);
    p->size += size;
}

static char *run_lines_get_name(const uint8_t **at)
{
    size_t size = (size_t)run_lines_get_number(at);
    char *name = xstrndup((const char *)*at, size);
    *at += size;
    return name;
}

static void run_lines_pack_one(struct run_line_packing *p, const struct run_line *before,
                               const struct run_line *l)
{
    unsigned flags =
        (l->kind != before->kind ? KIND : 0u) | (l->process != before->process ? PROCESS : 0u) |
        (l->object != before->object ? OBJECT : 0u) | (l->entry != before->entry ? ENTRY : 0u) |
        (l->programs != before->programs ? PROGRAMS : 0u) | (*l->name ? NAME : 0u);
    run_lines_put_number(p, flags);
    if (flags & KIND)
        run_lines_put_number(p, l->kind);
    if (flags & PROCESS)
        run_lines_put_number(p, l->process);
    if (flags & OBJECT)
        run_lines_put_number(p, run_lines_delta(before->object, l->object));
    if (flags & ENTRY)
        run_lines_put_number(p, run_lines_delta(before->entry, l->entry));
    if (flags & PROGRAMS)
        run_lines_put_number(p, l->programs);
    if (flags & NAME)
        run_lines_put_name(p, l->name);
}

static void run_lines_unpack_one(const uint8_t **at, const struct run_line *before,
                                 struct run_line *l)
{
    unsigned flags = (unsigned)run_lines_get_number(at);
    *l = *before;
    if (flags & KIND)
        l->kind = (uint32_t)run_lines_get_number(at);
    if (flags & PROCESS)
        l->process = (uint32_t)run_lines_get_number(at);
    if (flags & OBJECT)
        l->object = run_lines_apply_delta(before->object, run_lines_get_number(at));
    if (flags & ENTRY)
        l->entry = run_lines_apply_delta(before->entry, run_lines_get_number(at));
    if (flags & PROGRAMS)
        l->programs = (uint32_t)run_lines_get_number(at);
    l->name = flags & NAME ? run_lines_get_name(at) : no_name;
}

static void run_lines_pack_page(struct facts_page *page)
{
    struct run_line_packing p = {0};
    struct run_line none = {0};
    for (uint32_t i = 0; i < RUN_LINES_PAGE; i++)
        run_lines_pack_one(&p, i ? &page->lines[i - 1] : &none, &page->lines[i]);
    for (uint32_t i = 0; i < RUN_LINES_PAGE; i++)
        run_lines_name_free(page->lines[i].name);
    free(page->lines);
    page->lines = NULL;
    page->packed = xreallocarray(p.bytes, p.size, 1);
}

void run_lines_unpack(struct run_lines *lines, size_t number)
{
    struct facts_page *page = &lines->pages[number];
    const struct run_line none = {0};
    const uint8_t *at = page->packed;
    page->lines = xmalloc(RUN_LINES_PAGE * sizeof *page->lines);
    for (uint32_t i = 0; i < RUN_LINES_PAGE; i++)
        run_lines_unpack_one(&at, i ? &page->lines[i - 1] : &none, &page->lines[i]);
    free(page->packed);
    page->packed = NULL;
}

bool run_lines_pack_next(struct run_lines *lines, size_t *number,
                         bool (*evicted)(const void *context, uint32_t line), const void *context)
{
    if (*number >= lines->count / RUN_LINES_PAGE) /* only complete pages are packed */
        return true;
    uint32_t first = (uint32_t)*number * RUN_LINES_PAGE + 1, i = 0;
    while (lines->pages[*number].lines && i < RUN_LINES_PAGE && evicted(context, first + i))
        i++;
    if (i == RUN_LINES_PAGE)
        run_lines_pack_page(&lines->pages[*number]);
    ++*number;
    return false;
}

void run_lines_pack(struct run_lines *lines, bool (*evicted)(const void *context, uint32_t line),
                    const void *context)
{
    size_t number = 0;
    while (!run_lines_pack_next(lines, &number, evicted, context))
        ;
}

void run_lines_free(struct run_lines *lines)
{
    for (size_t number = 0; number * RUN_LINES_PAGE < lines->count; number++) {
        struct facts_page *page = &lines->pages[number];
        uint32_t left = lines->count - (uint32_t)number * RUN_LINES_PAGE;
        for (uint32_t i = 0; page->lines && i < RUN_LINES_PAGE && i < left; i++)
            run_lines_name_free(page->lines[i].name);
        free(page->lines);
        free(page->packed);
    }
    free(lines->pages);
    map_free(&lines->participants);
    map_free(&lines->members);
    map_free(&lines->reach);
}

void run_lines_set_participants(struct run_lines *lines, uint32_t line, uint32_t count)
{
    if (count)
        map_put(&lines->participants, line, 0, (void *)(uintptr_t)count);
}

uint32_t run_lines_participants(const struct run_lines *lines, uint32_t line)
{
    return (uint32_t)(uintptr_t)map_get(&lines->participants, line, 0);
}

#define MEMBER_IS (UINT64_C(1) << 32)

void run_lines_add_member(struct run_lines *lines, uint32_t line, uint32_t process)
{
    uintptr_t count = run_lines_member_count(lines, line);
    if (map_get(&lines->members, line, MEMBER_IS + process))
        return;
    map_put(&lines->members, line, MEMBER_IS + process, (void *)(uintptr_t)1);
    map_put(&lines->members, line, 1 + count, (void *)((uintptr_t)process + 1));
    map_put(&lines->members, line, 0, (void *)(count + 1));
}

uint32_t run_lines_member_count(const struct run_lines *lines, uint32_t line)
{
    return (uint32_t)(uintptr_t)map_get(&lines->members, line, 0);
}

uint32_t run_lines_member(const struct run_lines *lines, uint32_t line, uint32_t index)
{
    return (uint32_t)(uintptr_t)map_get(&lines->members, line, 1 + (uint64_t)index) - 1;
}

void run_lines_add_reach(struct run_lines *lines, uint32_t line, unsigned reach)
{
    reach |= run_lines_reach(lines, line);
    if (reach)
        map_put(&lines->reach, line, 0, (void *)(uintptr_t)reach);
}

unsigned run_lines_reach(const struct run_lines *lines, uint32_t line)
{
    return (unsigned)(uintptr_t)map_get(&lines->reach, line, 0);
}

/* ---- changes ---- */

void line_changes_add(struct line_changes *changes, uint32_t line)
{
    changes->items =
        array_reserve(changes->items, &changes->room, changes->count + 1, sizeof *changes->items);
    changes->items[changes->count++] = line;
}

void line_changes_free(struct line_changes *changes) { free(changes->items); }

/* ---- identities ---- */

#define NEAR_NUMBERS 1024u

static struct counted *line_identity_counted(const struct line_identities *identities,
                                             uint64_t high)
{
    uintptr_t index = (uintptr_t)map_get(&identities->by_high, high, 0);
    return index ? &identities->counted[index - 1] : NULL;
}

void line_identity_expect(struct line_identities *identities, uint64_t high, uint32_t session)
{
    identities->others.gradual = true;
    if (line_identity_counted(identities, high))
        return;
    identities->counted = array_reserve(identities->counted, &identities->counted_room,
                                        identities->counted_count + 1, sizeof *identities->counted);
    identities->counted[identities->counted_count++] =
        (struct counted){.high = high, .owner = session};
    map_put(&identities->by_high, high, 0, (void *)(uintptr_t)identities->counted_count);
}

bool line_identity_has_changed(const struct line_identities *identities, uint64_t high,
                               uint32_t session)
{
    const struct counted *c = line_identity_counted(identities, high);
    return c && c->owner != session;
}

uint32_t line_identity_get(const struct line_identities *identities, uint64_t high, uint64_t low)
{
    const struct counted *c = line_identity_counted(identities, high);
    if (c && low < c->room && c->lines[low])
        return c->lines[low];
    return (uint32_t)(uintptr_t)map_get(&identities->others, high, low);
}

void line_identity_put(struct line_identities *identities, uint64_t high, uint64_t low,
                       uint32_t line)
{
    struct counted *c = line_identity_counted(identities, high);
    if (!c ||
        /* numbers arrive in any order, but without large gaps */
        low >= NEAR_NUMBERS + 2 * c->count) {
        map_put(&identities->others, high, low, (void *)(uintptr_t)line);
        return;
    }
    c->lines = array_reserve_zeroed(c->lines, &c->room, low + 1, sizeof *c->lines);
    c->lines[low] = line;
    c->count++;
}

void line_identity_free(struct line_identities *identities)
{
    for (size_t i = 0; i < identities->counted_count; i++)
        free(identities->counted[i].lines);
    free(identities->counted);
    map_free(&identities->by_high);
    map_free(&identities->others);
}
