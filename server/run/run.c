#define _GNU_SOURCE
#include "server/run/run.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/text_hash.h"
#include "config/description_read.h"
#include "server/run/activity_store.h"
#include "server/run/run_processes.h"
#include "server/run/untraced_reasons.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_LEAST ((uint64_t)256 << 20)
#define LINE_BYTES 512u /* memory of a line with its names; many take less */

/* ---- names ---- */

/* Returns the code of a name; 0 if there is none. */
static uint32_t name_table_find(const struct name_table *names, const char *name)
{
    uint64_t h = text_hash_add(TEXT_HASH_EMPTY, name, strlen(name));
    for (uint64_t i = 0;; i++) { /* a counter distinguishes names of equal hash */
        uintptr_t code = (uintptr_t)map_get(&names->index, h, i);
        if (code == 0 || strcmp(names->items[code - 1], name) == 0)
            return (uint32_t)code;
    }
}

/* Adds a name, which must not be there yet. */
static uint32_t name_table_add(struct name_table *names, const char *name)
{
    uint64_t h = text_hash_add(TEXT_HASH_EMPTY, name, strlen(name)), i = 0;
    while (map_get(&names->index, h, i))
        i++;
    names->items =
        array_reserve(names->items, &names->room, names->count + 1, sizeof *names->items);
    names->items[names->count++] = xstrdup(name);
    map_put(&names->index, h, i, (void *)(uintptr_t)names->count);
    return (uint32_t)names->count;
}

static void name_table_free(struct name_table *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    map_free(&names->index);
}

/* ---- annotations ---- */

#define DISCARD_TEXTS 256u /* map entries that are examined in one step */

/* Adds a text to an event; returns what was added, or NULL if the event has too many. */
static const struct run_text *annotations_add(struct annotations *annotations, struct event_id at,
                                              const char *text)
{
    struct run_text *first = map_get(&annotations->events, at.line, at.number);
    if (first && first->count >= LIMIT_TEXTS)
        return NULL;
    if (first && first->count == LIMIT_TEXTS - 1)
        text = "further texts of this event are not kept";
    size_t n = text_cut(text, LIMIT_TEXT_BYTES);
    struct run_text *t = xmalloc(sizeof *t + n + 1);
    memcpy(t->text, text, n);
    t->text[n] = 0;
    t->next = NULL;
    t->last = t;
    t->count = 1;
    if (first) {
        first->last = first->last->next = t;
        first->count++;
    } else {
        map_put(&annotations->events, at.line, at.number, t);
    }
    annotations->count++;
    return t;
}

static void annotations_free_texts(struct run_text *first)
{
    for (struct run_text *t = first, *next; t; t = next) {
        next = t->next;
        free(t);
    }
}

static bool annotations_are_discarded(void *order, uint64_t line, uint64_t number, void *text)
{
    if (!order_is_discarded(order, (struct event_id){(uint32_t)line, number}))
        return false;
    annotations_free_texts(text);
    return true;
}

/* Removes the texts of discarded events in steps; returns true when all is done. */
static bool annotations_discard_step(struct annotations *annotations, struct map_removal *removal,
                                     struct order *order)
{
    return map_remove_if(&annotations->events, removal, DISCARD_TEXTS, annotations_are_discarded,
                         order);
}

static void annotations_free(struct annotations *annotations)
{
    for (struct map_walk walk = {.map = &annotations->events}; map_next(&walk);)
        annotations_free_texts(walk.value);
    map_free(&annotations->events);
}

/* ---- target descriptions ---- */

static bool target_list_has(const struct target_list *targets, const char *name)
{
    for (size_t i = 0; i < targets->count; i++)
        if (strcmp(targets->items[i]->name, name) == 0)
            return true;
    return false;
}

static bool target_list_add(struct target_list *targets, const char *name, const char *text)
{
    struct target *target = target_read(text, name, stderr);
    if (!target)
        return false;
    target_update_installed(target, text);
    targets->items =
        array_reserve(targets->items, &targets->room, targets->count + 1, sizeof *targets->items);
    targets->texts = xreallocarray(targets->texts, targets->count + 1, sizeof *targets->texts);
    targets->texts[targets->count] = xstrdup(text);
    targets->items[targets->count++] = target;
    return true;
}

static void target_list_free(struct target_list *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        target_free(targets->items[i]);
        free(targets->texts[i]);
    }
    free(targets->items);
    free(targets->texts);
}

/* Returns the description of an event on lines of a kind, or NULL.  Searches the descriptions that
 * know the kind first. */
static const struct target_event *run_kind_event(const struct run *run, uint32_t kind,
                                                 uint32_t type, enum relation relation)
{
    const char *kind_name = run_kind_name(run, kind), *type_name = run_type_name(run, type);
    const struct target_event *found = NULL;
    for (int knows = 1; knows >= 0 && !found; knows--)
        for (size_t i = 0; i < run->targets.count && !found; i++)
            if ((target_line_type(run->targets.items[i], kind_name) != NULL) == knows)
                found = target_event(run->targets.items[i], kind_name, type_name, relation);
    return found;
}

static void apply_effect(void *context, uint32_t kind, uint32_t type)
{
    struct run *run = context;
    for (int paired = 0; paired < 2; paired++) {
        const struct target_event *event =
            run_kind_event(run, kind, type, paired ? RELATION_SYNC : RELATION_NONE);
        if (event && event->has_presence)
            order_effect(run->order, kind, type, paired, event->presence, event->own);
        if (event && event->has_about)
            order_effect_about(run->order, kind, type, paired, event->about);
    }
}

const struct target_line_type *run_line_type(const struct run *run, uint32_t kind)
{
    const struct target_line_type *found = NULL;
    for (size_t i = 0; i < run->targets.count && !found; i++)
        found = target_line_type(run->targets.items[i], run_kind_name(run, kind));
    return found;
}

const struct target_event *run_event_type(const struct run *run, uint32_t line, uint32_t type,
                                          enum relation relation)
{
    uint32_t kind =
        line & HIDDEN_LINE ? order_line_kind(run->order, line) : run_line_at(run, line)->kind;
    return run_kind_event(run, kind, type, relation);
}

bool run_signal_wakes_all(const struct run *run, struct event_id at,
                          const struct target_event *look)
{
    const struct run_text *text = look->all ? run_texts(run, at) : NULL;
    return !look->all || (text && strcmp(text->text, look->all) == 0);
}

uint32_t run_type(struct run *run, const char *name)
{
    uint32_t type = name_table_find(&run->types, name);
    if (type || run->types.count >= LIMIT_TYPES)
        return type;
    return name_table_add(&run->types, name);
}

uint32_t run_kind(struct run *run, const char *name)
{
    uint32_t kind = name_table_find(&run->kinds, name);
    if (kind || run->kinds.count >= LIMIT_KINDS)
        return kind;
    return name_table_add(&run->kinds, name);
}

const char *run_type_name(const struct run *run, uint32_t type)
{
    return type && type <= run->types.count ? run->types.items[type - 1] : "";
}

const char *run_kind_name(const struct run *run, uint32_t kind)
{
    return kind && kind <= run->kinds.count ? run->kinds.items[kind - 1] : "";
}

bool run_describe(struct run *run, const char *name, const char *text)
{
    if (target_list_has(&run->targets, name))
        return true;
    if (!target_list_add(&run->targets, name, text))
        return false;
    order_set_effect_source(run->order, apply_effect, run);
    run->generation++;
    return true;
}

static size_t live_lines; /* number of lines of all live runs */

/* Returns whether the run may have another line.  The lines of all live runs may use half of the
 * machine's memory. */
static bool has_room(const struct run *run)
{
    static size_t most;
    long pages = most ? 0 : sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (!most)
        most = pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 2 / LINE_BYTES : LIMIT_LINES;
    return order_line_count(run->order) < LIMIT_LINES && (!run->status.live || live_lines < most);
}

/* ---- creating and freeing ---- */

static uint64_t part_put(void *context, const void *bytes, size_t size)
{
    return tracefile_put(context, CHUNK_PART, bytes, size);
}

static uint8_t *part_get(void *context, uint64_t place, size_t *size)
{
    return tracefile_get(context, CHUNK_PART, place, size);
}

/* Returns the cache size for blocks read from the file: an eighth of the machine's memory. */
static size_t cache_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 8 : 0;
    return bytes < CACHE_LEAST ? CACHE_LEAST : (size_t)bytes;
}

struct run *run_new(const char *key, unsigned number, struct tracefile *trace)
{
    struct run *run = xcalloc(1, sizeof *run);
    run->key = xstrdup(key);
    run->name = xstrndup(key, strcspn(key, "@"));
    run->number = number;
    run->trace = trace;
    run->annotations.events.gradual = run->sites.numbers.gradual = true;
    run->order =
        trace ? order_new_on((struct block_store){trace, part_put, part_get, NULL}) : order_new();
    order_cache(run->order, cache_bytes());
    return run;
}

void run_is_live(struct run *run)
{
    run->status.live = true;
    live_lines += order_line_count(run->order);
}

void run_called(struct run *run, const char *key)
{
    free(run->key);
    free(run->name);
    run->key = xstrdup(key);
    run->name = xstrndup(key, strcspn(key, "@"));
}

bool run_settings_add(struct run_settings *wants, struct measurement_request *request)
{
    if (wants->count == RUN_SETTINGS_MAX) {
        measurement_request_free(request);
        return false;
    }
    if (!request->line_count) {
        wants->bits = (wants->bits & ~request->mask) | (request->bits & request->mask);
        wants->mask |= request->mask;
        wants->chosen = true;
    }
    wants->items =
        array_reserve(wants->items, &wants->room, wants->count + 1, sizeof *wants->items);
    wants->items[wants->count++] = *request;
    *request = (struct measurement_request){0};
    return true;
}

void run_settings_applied(struct run_settings *wants)
{
    for (size_t i = 0; i < wants->count; i++)
        measurement_request_free(&wants->items[i]);
    wants->count = 0;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    if (run->counters > 0)
        close(run->counters);
    live_lines -= run->status.live ? order_line_count(run->order) : 0;
    /* sessions and addons first: they may use all the rest */
    for (size_t i = 0; i < run->sessions.count; i++)
        if (run->sessions.items[i])
            run->sessions.free(run->sessions.items[i]);
    free(run->sessions.items);
    run_addons_free(&run->addons);
    run_lines_free(&run->lines);
    run_processes_free(&run->processes);
    annotations_free(&run->annotations);
    target_list_free(&run->targets);
    name_table_free(&run->types);
    name_table_free(&run->kinds);
    line_identity_free(&run->identities);
    site_table_free(&run->sites);
    call_contexts_free(&run->contexts);
    call_entries_free(&run->entries);
    run_settings_applied(&run->settings);
    free(run->settings.items);
    untraced_reasons_free(&run->untraced);
    agent_positions_free(&run->agent_positions);
    order_free(run->order);
    tracefile_close(run->trace);
    line_changes_free(&run->line_changes);
    free(run->key);
    free(run->name);
    free(run->file.path);
    free(run->file.damage);
    free(run->report);
    free(run);
}

/* ---- lines, texts, sites ---- */

uint32_t run_line(struct run *run, uint64_t high, uint64_t low, const char *kind, bool shared,
                  struct run_line facts)
{
    uint32_t line = line_identity_get(&run->identities, high, low);
    if (line || !has_room(run))
        return line;
    live_lines += run->status.live;
    run->generation++;
    facts.kind = run_kind(run, kind);
    line = order_line(run->order, shared, facts.kind);
    run_lines_add(&run->lines, facts);
    line_identity_put(&run->identities, high, low, line);
    return line;
}

void run_line_is(struct run *run, uint32_t line, const char *kind, bool shared,
                 struct run_line facts)
{
    struct run_line *l = run_line_at(run, line);
    l->kind = run_kind(run, kind);
    l->process = facts.process;
    l->object = facts.object;
    l->entry = facts.entry;
    order_line_is(run->order, line, shared, l->kind);
    run_lines_rename(l, facts.name ? facts.name : "");
    run_line_changed(run, line);
}

static bool run_line_is_evicted(const void *order, uint32_t line)
{
    return order_line_is_evicted(order, line);
}

void run_pack(struct run *run) { run_lines_pack(&run->lines, run_line_is_evicted, run->order); }

void run_discard(struct run *run, uint64_t position)
{
    run_discard_begin(run, position);
    while (!run_discard_step(run))
        ;
}

void run_discard_begin(struct run *run, uint64_t position)
{
    order_discard_begin(run->order, position);
    run->discarding = (struct run_discarding){0};
}

bool run_discard_step(struct run *run)
{
    return order_discard_step(run->order) && activity_forget_step(run, &run->discarding.activity) &&
           call_entries_discard_step(&run->entries, order_first(run->order),
                                     &run->discarding.entries) &&
           annotations_discard_step(&run->annotations, &run->discarding.annotations, run->order) &&
           run_lines_pack_next(&run->lines, &run->discarding.page, run_line_is_evicted, run->order);
}

void run_line_changed(struct run *run, uint32_t line)
{
    line_changes_add(&run->line_changes, line);
    run->generation++;
}

void run_line_kind(struct run *run, uint32_t line, const char *kind, const char *name)
{
    struct run_line *l = run_line_at(run, line);
    l->kind = run_kind(run, kind);
    order_line_becomes(run->order, line, l->kind);
    run_lines_rename(l, name);
    run_line_changed(run, line);
}

/* Adds the old name as a text to the event from which on the new name holds, so that the old name
 * is still found. */
static void note_rename(struct run *run, struct event_id at, const char *before, const char *name)
{
    if (!*before || strcmp(before, name) == 0 || at.number == 0)
        return;
    char *text = xasprintf("called %s from here on, %s before", name, before);
    run_add_text(run, at, text);
    free(text);
}

void run_rename(struct run *run, uint32_t line, const char *name, uint64_t since)
{
    note_rename(run, (struct event_id){line, since}, run_line_at(run, line)->name, name);
    run_lines_rename(run_line_at(run, line), name);
    run_line_changed(run, line);
}

void run_add_text(struct run *run, struct event_id at, const char *text)
{
    const struct run_text *added = annotations_add(&run->annotations, at, text);
    if (!added)
        return;
    run->generation++;
    if (run->fact_writer)
        run->fact_writer->text(run, at.line, at.number, added->text);
}

const struct run_text *run_texts(const struct run *run, struct event_id at)
{
    const struct annotations *annotations = &run->annotations;
    return annotations->count ? map_get(&annotations->events, at.line, at.number) : NULL;
}

bool run_has_text(const struct run *run, struct event_id at, const char *text)
{
    const struct run_text *t = run_texts(run, at);
    while (t && strcmp(t->text, text) != 0)
        t = t->next;
    return t != NULL;
}

bool run_has_texts(void *run, struct event_id at) { return run_texts(run, at) != NULL; }

void run_fact(struct run *run, struct chunk chunk)
{
    if (run->fact_writer)
        run->fact_writer->fact(run, chunk);
}

void run_set_wait_for_missing(struct run *run)
{
    run->defers_work = true;
    order_set_wait_for_missing(run->order);
}

#if !defined(WAITING_MOST)
#define WAITING_MOST waiting_most()
#define WAITING_BYTES 256u /* memory of a pending event, with its index entries */

static uint64_t waiting_most(void)
{
    static uint64_t most;
    long pages = most ? 0 : sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (!most)
        most = (pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)4 << 30) / 8 /
               WAITING_BYTES;
    return most;
}
#endif

bool run_pending_limit_exceeded(const struct run *run)
{
    return order_waiting(run->order) > WAITING_MOST;
}

bool run_step(struct run *run, uint64_t looks)
{
    uint64_t before = order_count(run->order);
    bool all = order_step(run->order, looks);
    if (all && run->programs.leaving && run->programs.connected == run->programs.leaving &&
        !run->programs.finishing) {
        run->programs.finishing = true; /* no program is left that could add events */
        order_finish(run->order);
        all = order_step(run->order, looks);
    }
    if ((all && run->programs.leaving) || order_count(run->order) != before)
        run->generation++;
    if (all) {
        run->programs.connected -= run->programs.leaving;
        run->programs.leaving = 0;
        run->programs.finishing = false;
    }
    return all;
}

/* (An equal process number does not prove it, as numbers are reused; but the first event after an
 * exec follows an event of the old program.) */
uint64_t run_process_replaced(const struct run *run, uint32_t process)
{
    uint32_t next = process < run->processes.count ? run->processes.items[process].next : 0;
    uint64_t sent = next ? process_creation_message(run, next - 1) : NO_POSITION;
    uint32_t thread = sent != NO_POSITION ? order_event(run->order, sent).thread : 0;
    return thread && run_line_at(run, thread)->process == process ? sent : NO_POSITION;
}

bool run_process_exited(const struct run *run, uint32_t process)
{
    return process < run->processes.count && !run->processes.items[process].connected &&
           (run->processes.items[process].ended ||
            run_process_replaced(run, process) != NO_POSITION);
}

bool run_exited(const struct run *run, uint32_t line)
{
    return run_process_exited(run, run_line_at(run, line)->process);
}

bool run_file_stamp(const struct run *run, struct tracefile_stamp *stamp)
{
    return run->trace && run->file.path && tracefile_is_at(run->trace, run->file.path) &&
           tracefile_get_stamp(run->trace, stamp);
}

unsigned run_connected(const struct run *run)
{
    return run->programs.connected || !run->lag.bytes ? run->programs.connected : 1;
}

uint32_t run_process(struct run *run, struct run_process process)
{
    uint32_t index = run_processes_add(&run->processes, process);
    if (index == 0) {
        run_clock_begin(&run->clock, process.clock_ns, process.wall_ns);
        if (run->trace && run->status.live)
            tracefile_begun(run->trace, run->clock.wall_ns);
    }
    run->generation++;
    return index;
}
