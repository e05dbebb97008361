#define _GNU_SOURCE
#include "clients/metadata/trace_metadata.h"

#include "base/alloc.h"
#include "config/description_path.h"
#include "config/description_read.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static void metadata_free_lines(struct line_metadata_table *lines)
{
    for (size_t p = 0; p < lines->room; p++) {
        for (uint32_t i = 0; lines->pages[p] && i < METADATA_PAGE_LINES; i++) {
            line_info_free(&lines->pages[p][i].is);
            free(lines->pages[p][i].label);
        }
        free(lines->pages[p]);
    }
    free(lines->pages);
}

/* Reserves an entry for a line. */
static struct line_metadata *metadata_line_capacity(struct line_metadata_table *lines,
                                                    uint32_t number)
{
    uint32_t page = (number - 1) / METADATA_PAGE_LINES;
    if (page >= lines->room) {
        size_t room = 2 * (page + (size_t)1);
        lines->pages = xreallocarray(lines->pages, room + 1, sizeof *lines->pages);
        memset(lines->pages + lines->room, 0, (room - lines->room) * sizeof *lines->pages);
        lines->room = room;
    }
    if (!lines->pages[page])
        lines->pages[page] = xcalloc(METADATA_PAGE_LINES, sizeof **lines->pages);
    return &lines->pages[page][(number - 1) % METADATA_PAGE_LINES];
}

void metadata_free(struct trace_metadata *book)
{
    metadata_free_lines(&book->lines);
    metadata_free_lines(&book->hidden);
    for (uint32_t i = 0; i < book->type_count; i++)
        free(book->types[i]);
    for (size_t i = 0; i < book->target_count; i++)
        target_free(book->targets[i]);
    for (uint32_t i = 0; i < book->process_count; i++)
        process_info_free(&book->processes[i]);
    run_info_free(&book->run);
    free(book->types);
    free(book->targets);
    free(book->processes);
    free(book->damage);
    free(book->renewed);
    *book = (struct trace_metadata){0};
}

static void metadata_receive_line(struct trace_metadata *book, struct decoder *in)
{
    struct line_info line;
    decode_line_info(in, &line);
    bool hidden = line.line & HIDDEN_LINE;
    uint32_t number = line.line & ~HIDDEN_LINE;
    uint32_t *count = hidden ? &book->hidden_count : &book->line_count;
    bool next = number <= *count + 1 || (book->named && !hidden);
    if (!decoder_finish(in) || number == 0 || !next || number > LIMIT_LINES) {
        decoder_fail(in, "a line out of order");
        line_info_free(&line);
        return;
    }
    *count = number > *count ? number : *count;
    struct line_metadata *at =
        metadata_line_capacity(hidden ? &book->hidden : &book->lines, number);
    line_info_free(&at->is);
    free(at->label);
    *at = (struct line_metadata){line, NULL, 0, 0};
    book->unlabelled = true;
}

static void metadata_receive_line_count(struct trace_metadata *book, struct decoder *in)
{
    uint32_t lines = decode_u32(in);
    if (!decoder_finish(in) || lines > LIMIT_LINES || !book->named) {
        decoder_fail(in, "too many lines");
        return;
    }
    book->some = true;
    book->line_count = lines > book->line_count ? lines : book->line_count;
}

static void metadata_receive_process(struct trace_metadata *book, struct decoder *in)
{
    uint32_t index = decode_u32(in);
    struct process_info process;
    decode_process_info(in, &process);
    if (!decoder_finish(in) || index > book->process_count) {
        decoder_fail(in, "a process out of order");
        process_info_free(&process);
        return;
    }
    if (index == book->process_count) {
        book->processes = xreallocarray(book->processes, index + 1, sizeof *book->processes);
        book->processes[book->process_count++] = (struct process_info){0};
    }
    process_info_free(&book->processes[index]);
    book->processes[index] = process;
}

/* ---- descriptions ---- */

static struct {
    char *name, *text, *file; /* the overriding description; text NULL: none */
} chosen;

bool metadata_override_description(const char *description)
{
    chosen.text = target_load(description, &chosen.file);
    struct target *target = chosen.text ? target_read(chosen.text, chosen.file, stderr) : NULL;
    if (!target) {
        free(chosen.text);
        chosen.text = NULL;
        return false;
    }
    chosen.name = xstrdup(target->name);
    target_free(target);
    return chosen.name != NULL;
}

/* Applies the user's layer, also to traces of other users. */
static void metadata_apply_user_layer(struct target *target)
{
    static bool warned;
    char *file, *text = target_own_layer(target->name, &file);
    if (text && !target_apply_layer(target, text, file, DRESS_AS_LAYER, warned ? NULL : stderr))
        warned = true;
    free(text);
    free(file);
    if (chosen.text && strcmp(chosen.name, target->name) == 0)
        target_apply_layer(target, chosen.text, chosen.file, DRESS_AS_LAYER, NULL);
}

/* Updates a description to its installed version, so that old traces are drawn as new ones. */
static void metadata_update_description(struct trace_metadata *book, struct target *target,
                                        const char *text)
{
    int recorded = target->version, version = target_update_installed(target, text);
    if (!version || book->renewed)
        return;
    book->renewed = xasprintf("drawn by the installed version %d of the target description "
                              "\"%s\"; recorded with version %d",
                              version, target->name, recorded);
}

static void metadata_receive_target(struct trace_metadata *book, struct decoder *in)
{
    char *name = decode_string(in, 256), *text = decode_string(in, LIMIT_TARGET_BYTES);
    struct target *target = decoder_finish(in) ? target_read(text, name, NULL) : NULL;
    if (target) {
        metadata_update_description(book, target, text);
        metadata_apply_user_layer(target);
        book->targets = xreallocarray(book->targets, book->target_count + 1, sizeof *book->targets);
        book->targets[book->target_count++] = target;
    }
    free(name);
    free(text);
}

static void metadata_receive_type(struct trace_metadata *book, struct decoder *in)
{
    uint32_t code = decode_u32(in);
    char *name = decode_name(in, LIMIT_TEXT_BYTES * 4);
    if (!decoder_finish(in) || code != book->type_count + 1) {
        decoder_fail(in, "a type out of order");
        free(name);
        return;
    }
    book->types = xreallocarray(book->types, book->type_count + 1, sizeof *book->types);
    book->types[book->type_count++] = name;
}

static void metadata_receive_damage(struct trace_metadata *book, struct decoder *in)
{
    book->unreadable = decode_u64(in);
    free(book->damage);
    book->damage = decode_string(in, 2 * LIMIT_TEXT_BYTES);
}

bool metadata_update(struct trace_metadata *book, unsigned type, struct decoder *in)
{
    bool named;
    switch (type) {
    case MESSAGE_RUN_SELECTED: /* a new subject: forget the old one */
        named = book->named;
        metadata_free(book);
        book->named = named;
        decode_run_info(in, &book->run);
        break;
    case MESSAGE_LINE_INFO:
        metadata_receive_line(book, in);
        break;
    case MESSAGE_LINE_COUNT:
        metadata_receive_line_count(book, in);
        break;
    case MESSAGE_PROCESS:
        metadata_receive_process(book, in);
        break;
    case MESSAGE_TARGET:
        metadata_receive_target(book, in);
        break;
    case MESSAGE_TYPE_NAME:
        metadata_receive_type(book, in);
        break;
    case MESSAGE_DAMAGE:
        metadata_receive_damage(book, in);
        break;
    default:
        return false;
    }
    book->generation++;
    return decoder_finish(in);
}

struct line_metadata *metadata_line(const struct trace_metadata *book, uint32_t line)
{
    const struct line_metadata_table *lines = line & HIDDEN_LINE ? &book->hidden : &book->lines;
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    struct line_metadata *page =
        i / METADATA_PAGE_LINES < lines->room ? lines->pages[i / METADATA_PAGE_LINES] : NULL;
    return page && page[i % METADATA_PAGE_LINES].is.line ? &page[i % METADATA_PAGE_LINES] : NULL;
}

const char *metadata_type_name(const struct trace_metadata *book, uint32_t type)
{
    return type && type <= book->type_count ? book->types[type - 1] : "?";
}

/* Returns the first description that has the kind, or NULL. */
static const struct target *target_of(const struct trace_metadata *book, const char *kind)
{
    for (size_t i = 0; i < book->target_count; i++)
        if (target_line_type(book->targets[i], kind))
            return book->targets[i];
    return NULL;
}

const struct target_line_type *metadata_line_type(const struct trace_metadata *book, uint32_t line)
{
    const struct line_metadata *l = metadata_line(book, line);
    return l ? target_line_type(target_of(book, l->is.kind), l->is.kind) : NULL;
}

static bool names_contain(const struct target_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

bool metadata_line_is_thread(const struct trace_metadata *book, uint32_t line)
{
    const struct line_metadata *l = metadata_line(book, line);
    const struct target *target = l ? target_of(book, l->is.kind) : NULL;
    const struct target_line_type *type = metadata_line_type(book, line);
    bool is_thread = l && (!type || type->away);
    for (size_t i = 0; target && i < target->event_count && !is_thread; i++)
        is_thread = target->events[i].own && names_contain(&target->events[i].on, l->is.kind);
    return is_thread;
}

const struct target_line_type *metadata_line_type_named(const struct trace_metadata *book,
                                                        const char *kind)
{
    return target_line_type(target_of(book, kind), kind);
}

const struct target_event *metadata_target_event(const struct trace_metadata *book,
                                                 const char *kind, const char *type)
{
    return target_event(target_of(book, kind), kind, type, RELATION_NONE);
}

static const struct target_line_type *kind_of(const void *context, uint32_t line)
{
    return metadata_line_type(context, line);
}

static const char *name_of(const void *context, uint32_t line)
{
    const struct line_metadata *l = metadata_line(context, line);
    return l ? l->is.name : "";
}

void metadata_sort_lines(const struct trace_metadata *book, uint32_t *lines, size_t count)
{
    target_sort(lines, count, &(struct target_lines){book, kind_of, name_of});
}

const struct target_line_group *metadata_line_group(const struct trace_metadata *book,
                                                    uint32_t line, const char *name)
{
    const struct line_metadata *l = metadata_line(book, line);
    for (size_t t = 0; l && t < book->target_count; t++)
        for (size_t c = 0; c < book->targets[t]->cluster_count; c++) {
            const struct target_line_group *cluster = &book->targets[t]->clusters[c];
            if ((!cluster->kind || strcmp(cluster->kind, l->is.kind) == 0) &&
                (!cluster->match || fnmatch(cluster->match, name, 0) == 0))
                return cluster;
        }
    return NULL;
}

const char *metadata_line_letter(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return kind ? kind->letter : "?";
}

bool metadata_line_is_visible(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return !kind || kind->drawn;
}

const struct target *metadata_description(const struct trace_metadata *book,
                                          const struct target_event *style)
{
    for (size_t t = 0; t < book->target_count; t++) {
        const struct target *target = book->targets[t];
        if (style >= target->events && style < target->events + target->event_count)
            return target;
    }
    return NULL;
}

const struct target_event *event_style(const struct trace_metadata *book,
                                       const struct event_info *event)
{
    const struct line_metadata *l = metadata_line(book, event->at.line);
    const struct target_event *look =
        l ? target_event(target_of(book, l->is.kind), l->is.kind,
                         metadata_type_name(book, event->type), (enum relation)event->relation)
          : NULL;
    for (size_t i = 0; l && i < book->target_count && !look; i++)
        look = target_event(book->targets[i], l->is.kind, metadata_type_name(book, event->type),
                            (enum relation)event->relation);
    return look;
}

/* Returns the first type that the event's partner may have on its line; NULL: none is described. */
static const struct target_event *event_partner_style(const struct trace_metadata *book,
                                                      const struct target_event *style,
                                                      uint32_t line)
{
    const struct line_metadata *l = metadata_line(book, line);
    const struct target_event *partner = NULL;
    for (size_t i = 0; l && i < style->partners.count && !partner; i++)
        partner = metadata_target_event(book, l->is.kind, style->partners.items[i]);
    return partner;
}

bool event_is_of_entered_object(const struct trace_metadata *book, const struct event_info *event)
{
    const struct target_event *style = event_style(book, event);
    if (event->relation != RELATION_SYNC || event->partner_count != 1 ||
        event->at.line == event->thread)
        return false;
    if (event->partners[0].line == event->thread)
        return true;
    const struct target_event *partner =
        style ? event_partner_style(book, style, event->partners[0].line) : NULL;
    return (style && style->has_presence && style->presence == OCCUPANCY_OUT) ||
           (partner && partner->has_presence && partner->presence == OCCUPANCY_AWAY);
}

const char *metadata_expand_text(const struct trace_metadata *book, const char *text,
                                 uint32_t about)
{
    static const char *const open[] = {"after", "at", "for", "from", "in",
                                       "of",    "on", "to",  "with"};
    if (about)
        return metadata_label(book, about);
    const char *space = strrchr(text, ' '), *last = space ? space + 1 : text;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strcmp(last, open[i]) == 0)
            return "something";
    return "";
}

const char *metadata_label(const struct trace_metadata *book, uint32_t line)
{
    struct line_metadata *l = metadata_line(book, line);
    if (!l)
        return "?";
    if (l->label)
        return l->label;
    if (*l->is.name && l->is.object)
        l->label = xasprintf("%s:%s (0x%llx)", metadata_line_letter(book, line), l->is.name,
                             (unsigned long long)l->is.object);
    else if (l->is.object)
        l->label = xasprintf("%s:0x%llx", metadata_line_letter(book, line),
                             (unsigned long long)l->is.object);
    else
        l->label = xasprintf("%s:%s", metadata_line_letter(book, line),
                             *l->is.name ? l->is.name : l->is.kind);
    return l->label;
}

/* Returns whether a name equals a label with or without its letter. size: of the label, without
 * what distinguishes equal labels. */
static bool metadata_is_label(const char *name, const char *label, size_t size)
{
    const char *colon = memchr(label, ':', size);
    size_t letter = colon ? (size_t)(colon + 1 - label) : 0, n = strlen(name);
    return (n == size && memcmp(name, label, n) == 0) ||
           (n == size - letter && memcmp(name, label + letter, n) == 0);
}

uint32_t metadata_find_line(const struct trace_metadata *book, const char *name, bool *several)
{
    uint32_t found = 0;
    *several = false;
    for (unsigned own = 0; own < 2 && !found; own++)
        for (uint32_t i = 1; i <= book->line_count; i++) {
            const struct line_metadata *line = metadata_line(book, i);
            const char *label = line ? metadata_label(book, i) : "";
            size_t size = own && line ? line->own : strlen(label);
            if (!metadata_is_label(name, label, size))
                continue;
            *several |= found != 0;
            found = found ? found : i;
        }
    return found;
}

void event_id_print(char *s, size_t size, struct event_id ref)
{
    snprintf(s, size, "%s%u:%llu", ref.line & HIDDEN_LINE ? "h" : "", ref.line & ~HIDDEN_LINE,
             (unsigned long long)ref.number);
}

void metadata_print_event_id(const struct trace_metadata *book, char *s, size_t size,
                             struct event_id ref)
{
    bool second = book->first_lines && !(ref.line & HIDDEN_LINE) && ref.line > book->first_lines;
    int n = snprintf(s, size, "%s", second ? "again " : "");
    ref.line -= second ? book->first_lines : 0;
    if (n >= 0 && (size_t)n < size)
        event_id_print(s + n, size - (size_t)n, ref);
}

bool event_id_parse(const char *s, struct event_id *ref)
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
    *ref = (struct event_id){(uint32_t)line | (hidden ? HIDDEN_LINE : 0), number};
    return true;
}

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
