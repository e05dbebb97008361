#define _GNU_SOURCE
#include "clients/book/book.h"

#include "config/find.h"
#include "config/newer.h"
#include "config/read.h"
#include "wire/limits.h"
#include "wire/text.h"
#include "memory/memory.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static void lines_free(struct book_lines *lines)
{
    for (size_t p = 0; p < lines->room; p++) {
        for (uint32_t i = 0; lines->pages[p] && i < BOOK_PAGE; i++) {
            shown_line_free(&lines->pages[p][i].is);
            free(lines->pages[p][i].label);
        }
        free(lines->pages[p]);
    }
    free(lines->pages);
}

/* Room for a line that is told. */
static struct book_line *line_room(struct book_lines *lines, uint32_t number)
{
    uint32_t page = (number - 1) / BOOK_PAGE;
    if (page >= lines->room) {
        size_t room = 2 * (page + (size_t)1);
        lines->pages = memory_resized(lines->pages, room + 1, sizeof *lines->pages);
        memset(lines->pages + lines->room, 0, (room - lines->room) * sizeof *lines->pages);
        lines->room = room;
    }
    if (!lines->pages[page])
        lines->pages[page] = memory_zeroed(BOOK_PAGE, sizeof **lines->pages);
    return &lines->pages[page][(number - 1) % BOOK_PAGE];
}

void book_free(struct book *book)
{
    lines_free(&book->lines);
    lines_free(&book->hidden);
    for (uint32_t i = 0; i < book->type_count; i++)
        free(book->types[i]);
    for (size_t i = 0; i < book->target_count; i++)
        target_free(book->targets[i]);
    for (uint32_t i = 0; i < book->process_count; i++)
        shown_process_free(&book->processes[i]);
    shown_run_free(&book->run);
    free(book->types);
    free(book->targets);
    free(book->processes);
    free(book->damage);
    free(book->renewed);
    *book = (struct book){0};
}

static void take_line(struct book *book, struct in *in)
{
    struct shown_line line;
    get_line_is(in, &line);
    bool hidden = line.line & HIDDEN_LINE;
    uint32_t number = line.line & ~HIDDEN_LINE;
    uint32_t *count = hidden ? &book->hidden_count : &book->line_count;
    bool next = number <= *count + 1 || (book->named && !hidden);
    if (!in_done(in) || number == 0 || !next || number > LIMIT_LINES) {
        in_fail(in, "a line out of order");
        shown_line_free(&line);
        return;
    }
    *count = number > *count ? number : *count;
    struct book_line *at = line_room(hidden ? &book->hidden : &book->lines, number);
    shown_line_free(&at->is);
    free(at->label);
    *at = (struct book_line){line, NULL, 0, 0};
    book->unlabelled = true;
}

static void take_line_count(struct book *book, struct in *in)
{
    uint32_t lines = get_u32(in);
    if (!in_done(in) || lines > LIMIT_LINES || !book->named) {
        in_fail(in, "too many lines");
        return;
    }
    book->some = true;
    book->line_count = lines > book->line_count ? lines : book->line_count;
}

static void take_process(struct book *book, struct in *in)
{
    uint32_t index = get_u32(in);
    struct shown_process process;
    get_process(in, &process);
    if (!in_done(in) || index > book->process_count) {
        in_fail(in, "a process out of order");
        shown_process_free(&process);
        return;
    }
    if (index == book->process_count) {
        book->processes = memory_resized(book->processes, index + 1, sizeof *book->processes);
        book->processes[book->process_count++] = (struct shown_process){0};
    }
    shown_process_free(&book->processes[index]);
    book->processes[index] = process;
}

/* ---- descriptions ---- */

static struct {
    char *name, *text, *file; /* of the environment; text NULL: none */
} chosen;

bool book_draw_as(const char *description)
{
    chosen.text = target_load(description, &chosen.file);
    struct target *target = chosen.text ? target_read(chosen.text, chosen.file, stderr) : NULL;
    if (!target) {
        free(chosen.text);
        chosen.text = NULL;
        return false;
    }
    chosen.name = memory_copied(target->name);
    target_free(target);
    return chosen.name != NULL;
}

/* As the user wants it drawn, whoever recorded it. */
static void dress(struct target *target)
{
    static bool warned;
    char *file, *text = target_own_layer(target->name, &file);
    if (text && !target_dress(target, text, file, DRESS_AS_LAYER, warned ? NULL : stderr))
        warned = true;
    free(text);
    free(file);
    if (chosen.text && strcmp(chosen.name, target->name) == 0)
        target_dress(target, chosen.text, chosen.file, DRESS_AS_LAYER, NULL);
}

/* A trace that was recorded long ago is drawn as today. */
static void renew(struct book *book, struct target *target)
{
    int recorded = target->version, version = target_renew(target);
    if (!version || book->renewed)
        return;
    book->renewed = memory_printed("drawn as version %d of the description \"%s\" says, which is "
                                   "installed; recorded with version %d",
                                   version, target->name, recorded);
}

static void take_target(struct book *book, struct in *in)
{
    char *name = get_string(in, 256), *text = get_string(in, LIMIT_TARGET_BYTES);
    struct target *target = in_done(in) ? target_read(text, name, NULL) : NULL;
    if (target) {
        renew(book, target);
        dress(target);
        book->targets =
            memory_resized(book->targets, book->target_count + 1, sizeof *book->targets);
        book->targets[book->target_count++] = target;
    }
    free(name);
    free(text);
}

static void take_type(struct book *book, struct in *in)
{
    uint32_t code = get_u32(in);
    char *name = get_name(in, LIMIT_TEXT_BYTES * 4);
    if (!in_done(in) || code != book->type_count + 1) {
        in_fail(in, "a type out of order");
        free(name);
        return;
    }
    book->types = memory_resized(book->types, book->type_count + 1, sizeof *book->types);
    book->types[book->type_count++] = name;
}

static void take_damage(struct book *book, struct in *in)
{
    book->unreadable = get_u64(in);
    free(book->damage);
    book->damage = get_string(in, 2 * LIMIT_TEXT_BYTES);
}

bool book_take(struct book *book, unsigned type, struct in *in)
{
    bool named;
    switch (type) {
    case MESSAGE_SELECTED: /* a new subject: forget the old one */
        named = book->named;
        book_free(book);
        book->named = named;
        get_run(in, &book->run);
        break;
    case MESSAGE_LINE_IS:
        take_line(book, in);
        break;
    case MESSAGE_LINES_ARE:
        take_line_count(book, in);
        break;
    case MESSAGE_PROCESS:
        take_process(book, in);
        break;
    case MESSAGE_TARGET:
        take_target(book, in);
        break;
    case MESSAGE_TYPE_NAME:
        take_type(book, in);
        break;
    case MESSAGE_DAMAGE:
        take_damage(book, in);
        break;
    default:
        return false;
    }
    book->generation++;
    return in_done(in);
}

struct book_line *book_line(const struct book *book, uint32_t line)
{
    const struct book_lines *lines = line & HIDDEN_LINE ? &book->hidden : &book->lines;
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    struct book_line *page = i / BOOK_PAGE < lines->room ? lines->pages[i / BOOK_PAGE] : NULL;
    return page && page[i % BOOK_PAGE].is.line ? &page[i % BOOK_PAGE] : NULL;
}

const char *book_type(const struct book *book, uint32_t type)
{
    return type && type <= book->type_count ? book->types[type - 1] : "?";
}

/* The description that knows the kind comes before the others. */
static const struct target *target_of(const struct book *book, const char *kind)
{
    for (size_t i = 0; i < book->target_count; i++)
        if (target_kind(book->targets[i], kind))
            return book->targets[i];
    return NULL;
}

const struct target_kind *book_kind(const struct book *book, uint32_t line)
{
    const struct book_line *l = book_line(book, line);
    return l ? target_kind(target_of(book, l->is.kind), l->is.kind) : NULL;
}

const struct target_kind *book_kind_named(const struct book *book, const char *kind)
{
    return target_kind(target_of(book, kind), kind);
}

const struct target_event *book_event(const struct book *book, const char *kind, const char *type)
{
    return target_event(target_of(book, kind), kind, type, RELATION_NONE);
}

static const struct target_kind *kind_of(const void *context, uint32_t line)
{
    return book_kind(context, line);
}

static const char *name_of(const void *context, uint32_t line)
{
    const struct book_line *l = book_line(context, line);
    return l ? l->is.name : "";
}

void book_sort(const struct book *book, uint32_t *lines, size_t count)
{
    target_sort(lines, count, &(struct target_lines){book, kind_of, name_of});
}

const struct target_cluster *book_cluster(const struct book *book, uint32_t line, const char *name)
{
    const struct book_line *l = book_line(book, line);
    for (size_t t = 0; l && t < book->target_count; t++)
        for (size_t c = 0; c < book->targets[t]->cluster_count; c++) {
            const struct target_cluster *cluster = &book->targets[t]->clusters[c];
            if ((!cluster->kind || strcmp(cluster->kind, l->is.kind) == 0) &&
                (!cluster->match || fnmatch(cluster->match, name, 0) == 0))
                return cluster;
        }
    return NULL;
}

const char *book_letter(const struct book *book, uint32_t line)
{
    const struct target_kind *kind = book_kind(book, line);
    return kind ? kind->letter : "?";
}

bool book_drawn(const struct book *book, uint32_t line)
{
    const struct target_kind *kind = book_kind(book, line);
    return !kind || kind->drawn;
}

const struct target_event *book_look(const struct book *book, const struct shown_event *event)
{
    const struct book_line *l = book_line(book, event->at.line);
    const struct target_event *look =
        l ? target_event(target_of(book, l->is.kind), l->is.kind, book_type(book, event->type),
                         (enum relation)event->relation)
          : NULL;
    for (size_t i = 0; l && i < book->target_count && !look; i++)
        look = target_event(book->targets[i], l->is.kind, book_type(book, event->type),
                            (enum relation)event->relation);
    return look;
}

const char *book_about(const struct book *book, const char *text, uint32_t about)
{
    static const char *const open[] = {"after", "at", "for", "from", "in",
                                       "of",    "on", "to",  "with"};
    if (about)
        return book_label(book, about);
    const char *space = strrchr(text, ' '), *last = space ? space + 1 : text;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strcmp(last, open[i]) == 0)
            return "something";
    return "";
}

const char *book_label(const struct book *book, uint32_t line)
{
    struct book_line *l = book_line(book, line);
    if (!l)
        return "?";
    if (l->label)
        return l->label;
    if (*l->is.name && l->is.object)
        l->label = memory_printed("%s:%s (0x%llx)", book_letter(book, line), l->is.name,
                                  (unsigned long long)l->is.object);
    else if (l->is.object)
        l->label =
            memory_printed("%s:0x%llx", book_letter(book, line), (unsigned long long)l->is.object);
    else
        l->label =
            memory_printed("%s:%s", book_letter(book, line), *l->is.name ? l->is.name : l->is.kind);
    return l->label;
}

void ref_print(char *s, size_t size, struct ref ref)
{
    snprintf(s, size, "%s%u:%llu", ref.line & HIDDEN_LINE ? "h" : "", ref.line & ~HIDDEN_LINE,
             (unsigned long long)ref.number);
}

void book_ref_print(const struct book *book, char *s, size_t size, struct ref ref)
{
    bool second = book->first_lines && !(ref.line & HIDDEN_LINE) && ref.line > book->first_lines;
    int n = snprintf(s, size, "%s", second ? "again " : "");
    ref.line -= second ? book->first_lines : 0;
    if (n >= 0 && (size_t)n < size)
        ref_print(s + n, size - (size_t)n, ref);
}

bool ref_parse(const char *s, struct ref *ref)
{
    bool hidden = *s == 'h';
    char *end;
    s += hidden;
    if (*s < '0' || *s > '9')
        return false;
    unsigned long long line = strtoull(s, &end, 10);
    if (*end != ':' || end[1] < '0' || end[1] > '9' || line == 0 || line >= HIDDEN_LINE)
        return false;
    unsigned long long number = strtoull(end + 1, &end, 10);
    if (*end || number == 0)
        return false;
    *ref = (struct ref){(uint32_t)line | (hidden ? HIDDEN_LINE : 0), number};
    return true;
}
