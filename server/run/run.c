#define _GNU_SOURCE
#include "server/run/run.h"

#include "config/description_read.h"
#include "base/alloc.h"
#include "server/eventloop/server_log.h"
#include "server/run/activity_store.h"
#include "server/run/untraced_reasons.h"

#include "base/map.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CACHE_LEAST ((uint64_t)256 << 20)
#define LINE_BYTES 512u /* memory of a line with its names; many take less */

/* ---- target descriptions ---- */

/* Returns the description of an event; searches the descriptions that know the kind of line
 * first. */
static const struct target_event *run_find_event_type(const struct run *run, const char *kind,
                                                      const char *type, enum relation relation)
{
    const struct target_event *found = NULL;
    for (int knows = 1; knows >= 0 && !found; knows--)
        for (size_t i = 0; i < run->target_count && !found; i++)
            if ((target_line_type(run->targets[i], kind) != NULL) == knows)
                found = target_event(run->targets[i], kind, type, relation);
    return found;
}

static void apply_effect(void *context, uint32_t kind, uint32_t type)
{
    struct run *run = context;
    for (int paired = 0; paired < 2; paired++) {
        const struct target_event *event =
            run_find_event_type(run, run_kind_name(run, kind), run_type_name(run, type),
                                paired ? RELATION_SYNC : RELATION_NONE);
        if (event && event->has_presence)
            order_effect(run->order, kind, type, paired, event->presence, event->own);
        if (event && event->has_about)
            order_effect_about(run->order, kind, type, paired, event->about);
    }
}

const struct target_event *run_event_type(const struct run *run, uint32_t line, uint32_t type,
                                          enum relation relation)
{
    uint32_t kind =
        line & HIDDEN_LINE ? order_line_kind(run->order, line) : run_line_at(run, line)->kind;
    return run_find_event_type(run, run_kind_name(run, kind), run_type_name(run, type), relation);
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

bool run_described(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->target_count; i++)
        if (strcmp(run->targets[i]->name, name) == 0)
            return true;
    return false;
}

bool run_describe(struct run *run, const char *name, const char *text)
{
    if (run_described(run, name))
        return true;
    struct target *target = target_read(text, name, stderr);
    if (!target)
        return false;
    target_update_installed(target);
    run->targets =
        array_reserve(run->targets, &run->target_room, run->target_count + 1, sizeof *run->targets);
    run->target_texts =
        xreallocarray(run->target_texts, run->target_count + 1, sizeof *run->target_texts);
    run->target_texts[run->target_count] = xstrdup(text);
    run->targets[run->target_count++] = target;
    order_set_effect_source(run->order, apply_effect, run);
    run->generation++;
    return true;
}

const struct target_line_type *run_target_kind(const struct run *run, const char *kind)
{
    const struct target_line_type *found = NULL;
    for (size_t i = 0; i < run->target_count && !found; i++)
        found = target_line_type(run->targets[i], kind);
    return found;
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
    return order_line_count(run->order) < LIMIT_LINES && (!run->live || live_lines < most);
}

static void text_free(struct run_text *first)
{
    for (struct run_text *t = first, *next; t; t = next) {
        next = t->next;
        free(t);
    }
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
    run->texts.gradual = run->sites.gradual = true;
    run->order =
        trace ? order_new_on((struct block_store){trace, part_put, part_get, NULL}) : order_new();
    order_cache(run->order, cache_bytes());
    return run;
}

void run_is_live(struct run *run)
{
    run->live = true;
    live_lines += order_line_count(run->order);
}

void run_called(struct run *run, const char *key)
{
    free(run->key);
    free(run->name);
    run->key = xstrdup(key);
    run->name = xstrndup(key, strcspn(key, "@"));
}

static void process_free(struct run_process *process)
{
    free(process->path);
    free(process->host);
    for (size_t i = 0; i < process->argument_count; i++)
        free(process->arguments[i]);
    free(process->arguments);
    for (size_t i = 0; i < process->variable_count; i++)
        free(process->variables[i]);
    free(process->variables);
    for (size_t i = 0; i < process->module_count; i++)
        free(process->modules[i].path);
    free(process->modules);
}

void run_free(struct run *run)
{
    if (!run)
        return;
    if (run->counters > 0)
        close(run->counters);
    live_lines -= run->live ? order_line_count(run->order) : 0;
    run_lines_free(&run->lines);
    for (size_t i = 0; i < run->process_count; i++)
        process_free(&run->processes[i]);
    for (struct map_walk walk = {.map = &run->texts}; map_next(&walk);)
        text_free(walk.value);
    for (size_t i = 0; i < run->target_count; i++) {
        target_free(run->targets[i]);
        free(run->target_texts[i]);
    }
    name_table_free(&run->types);
    name_table_free(&run->kinds);
    line_identity_free(&run->identities);
    map_free(&run->texts);
    map_free(&run->sites);
    for (size_t i = 0; i < run->session_count; i++)
        if (run->sessions[i])
            run->session_free(run->sessions[i]);
    free(run->sessions);
    run_addons_free(&run->addons);
    call_contexts_free(&run->contexts);
    call_entries_free(&run->entries);
    pending_settings_free(&run->wants);
    untraced_reasons_free(run);
    agent_positions_free(&run->reached);
    order_free(run->order);
    tracefile_close(run->trace);
    free(run->targets);
    free(run->target_texts);
    free(run->site_list);
    free(run->changes);
    free(run->processes);
    free(run->key);
    free(run->name);
    free(run->file);
    free(run->damage);
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
    live_lines += run->live;
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

#define FORGET_TEXTS 256u /* map entries of texts that are examined in one step */

static bool text_is_forgotten(void *run, uint64_t line, uint64_t number, void *text)
{
    if (!order_is_discarded(((struct run *)run)->order, (struct event_id){(uint32_t)line, number}))
        return false;
    text_free(text);
    return true;
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
    run->forgetting = (struct run_forgetting){0};
}

bool run_discard_step(struct run *run)
{
    return order_discard_step(run->order) && activity_forget_step(run, &run->forgetting.did) &&
           call_entries_discard_step(&run->entries, order_first(run->order),
                                     &run->forgetting.entries) &&
           map_remove_if(&run->texts, &run->forgetting.texts, FORGET_TEXTS, text_is_forgotten,
                         run) &&
           run_lines_pack_next(&run->lines, &run->forgetting.page, run_line_is_evicted, run->order);
}

void run_line_changed(struct run *run, uint32_t line)
{
    run->changes =
        array_reserve(run->changes, &run->change_room, run->change_count + 1, sizeof *run->changes);
    run->changes[run->change_count++] = line;
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
    struct run_text *first = map_get(&run->texts, at.line, at.number);
    if (first && first->count >= LIMIT_TEXTS)
        return;
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
        map_put(&run->texts, at.line, at.number, t);
    }
    run->text_count++;
    run->generation++;
    if (run->fact_writer)
        run->fact_writer->text(run, at.line, at.number, t->text);
}

void run_fact(struct run *run, struct chunk chunk)
{
    if (run->fact_writer)
        run->fact_writer->fact(run, chunk);
}

const struct run_text *run_texts(const struct run *run, struct event_id at)
{
    return run->text_count ? map_get(&run->texts, at.line, at.number) : NULL;
}

static uint32_t numbered_site(struct run *run, uint64_t high, uint64_t low, struct site site)
{
    uint32_t known = (uint32_t)(uintptr_t)map_get(&run->sites, high, low);
    if (known)
        return known;
    run->site_list =
        array_reserve(run->site_list, &run->site_room, run->site_count + 1, sizeof *run->site_list);
    run->site_list[run->site_count++] = site;
    map_put(&run->sites, high, low, (void *)(uintptr_t)run->site_count);
    return (uint32_t)run->site_count;
}

uint32_t run_site(struct run *run, struct site site)
{
    if (!site.address)
        return 0;
    uint32_t plain = numbered_site(run, site.process, site.address,
                                   (struct site){.process = site.process, .address = site.address});
    /* never the key of a plain site: those begin with the number of a process, below 2^32 */
    return site.thread ? numbered_site(run, (uint64_t)plain << 32 | site.thread, site.context, site)
                       : plain;
}

void run_set_wait_for_missing(struct run *run)
{
    run->patient = true;
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
    if (all && run->leaving && run->connected == run->leaving && !run->finishing) {
        run->finishing = true; /* no program is left that could add events */
        order_finish(run->order);
        all = order_step(run->order, looks);
    }
    if ((all && run->leaving) || order_count(run->order) != before)
        run->generation++;
    if (all) {
        run->connected -= run->leaving;
        run->leaving = 0;
        run->finishing = false;
    }
    return all;
}

/* Returns the first line of a process, or 0.  Lines are never removed, so each is examined once. */
static uint32_t run_process_first_line(const struct run *run, struct run_process *process)
{
    uint32_t index = (uint32_t)(process - run->processes), lines = order_line_count(run->order);
    while (!process->first_line && process->lines_seen < lines)
        if (run_line_at(run, ++process->lines_seen)->process == index)
            process->first_line = process->lines_seen;
    return process->first_line;
}

/* Returns whether exec replaced the program.  An equal process number does not prove that, as
 * numbers are reused; but the first event after an exec follows an event of the old program. */
static bool run_process_replaced(const struct run *run, uint32_t index)
{
    uint32_t next = run->processes[index].next;
    uint32_t line = next ? run_process_first_line(run, &run->processes[next - 1]) : 0;
    uint64_t first = line ? order_position(run->order, (struct event_id){line, 1}) : NO_POSITION;
    if (first == NO_POSITION || !order_received(run->order, first))
        return false;
    struct order_event sent = order_event(run->order, order_edge(run->order, first, 0));
    return sent.thread && run_line_at(run, sent.thread)->process == index;
}

bool run_exited(const struct run *run, uint32_t line)
{
    uint32_t process = run_line_at(run, line)->process;
    return process < run->process_count && !run->processes[process].connected &&
           (run->processes[process].ended || run_process_replaced(run, process));
}

unsigned run_connected(const struct run *run)
{
    return run->connected || !run->journal_ahead ? run->connected : 1;
}

static int64_t run_read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Reads the wall clock once to determine how far the run is; it may be set to another time
 * later. */
static void run_clock_begin(struct run *run)
{
    run->clock_ahead_ns =
        run_read_ns(CLOCK_REALTIME) - (int64_t)run->wall_ns - run_read_ns(CLOCK_MONOTONIC);
}

/* Links the program that had the process number of a new program before to the new one. */
static void run_process_follows(struct run *run, uint32_t index)
{
    const struct run_process *opened = &run->processes[index];
    for (uint32_t i = index; i-- > 0;)
        if (run->processes[i].pid == opened->pid && opened->host && run->processes[i].host &&
            strcmp(run->processes[i].host, opened->host) == 0) {
            run->processes[i].next = index + 1;
            return;
        }
}

uint32_t run_process(struct run *run, struct run_process process)
{
    run->processes = array_reserve(run->processes, &run->process_room, run->process_count + 1,
                                   sizeof *run->processes);
    run->processes[run->process_count] = process;
    run_process_follows(run, (uint32_t)run->process_count);
    if (run->process_count == 0) {
        run->start_ns = process.clock_ns;
        run->wall_ns = process.wall_ns;
        run_clock_begin(run);
        if (run->trace && run->live)
            tracefile_begun(run->trace, run->wall_ns);
    }
    run->generation++;
    return (uint32_t)run->process_count++;
}

int64_t run_clock_ns(const struct run *run)
{
    int64_t now = run_read_ns(CLOCK_MONOTONIC) + run->clock_ahead_ns;
    return now > run->last_ns ? now : run->last_ns;
}
