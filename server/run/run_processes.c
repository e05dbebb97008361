#include "server/run/run_processes.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/run/run.h"

#include <stdlib.h>
#include <string.h>

/* Links the program that had the process number of a new program before to the new one. */
static void run_processes_link(struct run_processes *processes, uint32_t index)
{
    const struct run_process *opened = &processes->items[index];
    for (uint32_t i = index; i-- > 0;) {
        struct run_process *before = &processes->items[i];
        if (before->pid == opened->pid && opened->host && before->host &&
            strcmp(before->host, opened->host) == 0) {
            before->next = index + 1;
            return;
        }
    }
}

uint32_t run_processes_add(struct run_processes *processes, struct run_process process)
{
    processes->items = array_reserve(processes->items, &processes->room, processes->count + 1,
                                     sizeof *processes->items);
    processes->items[processes->count] = process;
    run_processes_link(processes, (uint32_t)processes->count);
    return (uint32_t)processes->count++;
}

static void run_process_free(struct run_process *process)
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

void run_processes_free(struct run_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        run_process_free(&processes->items[i]);
    free(processes->items);
}

uint64_t run_processes_last_gone_ns(const struct run_processes *processes)
{
    uint64_t last_ns = 0;
    for (size_t i = 0; i < processes->count; i++) {
        const struct run_process *p = &processes->items[i];
        last_ns = p->connected ? UINT64_MAX : p->gone_ns > last_ns ? p->gone_ns : last_ns;
        if (p->connected)
            break;
    }
    return last_ns;
}

#define DIED_NS 100000000u /* by how much another process must have outlived one */

bool run_process_died(const struct run_process *process, uint64_t last_ns)
{
    return !process->connected && !process->ended && process->gone_ns &&
           process->gone_ns + DIED_NS < last_ns;
}

/* ---- creation ---- */

/* (lines are never removed, so each is examined once) */
uint32_t process_creation_line(const struct run *run, size_t process)
{
    struct run_process *p = &run->processes.items[process];
    uint32_t lines = order_line_count(run->order);
    while (!p->first_line && p->lines_seen < lines)
        if (run_line_at(run, ++p->lines_seen)->process == process)
            p->first_line = p->lines_seen;
    return p->first_line;
}

uint64_t process_creation_message(const struct run *run, size_t process)
{
    uint32_t line = process_creation_line(run, process);
    uint64_t first = line ? order_position(run->order, (struct event_id){line, 1}) : NO_POSITION;
    if (first == NO_POSITION || !order_received(run->order, first))
        return NO_POSITION;
    uint64_t sent = order_edge(run->order, first, 0);
    return sent >= order_first(run->order) ? sent : NO_POSITION;
}

/* ---- inherited holds ---- */

struct inherited_holds {
    struct inherited_hold *items;
    size_t count, room;
    struct map of_line; /* line -> 1 + index */
};

static void inherited_holds_free(void *state)
{
    struct inherited_holds *all = state;
    free(all->items);
    map_free(&all->of_line);
    free(all);
}

void inherited_holds_add(struct run *run, uint32_t line, struct inherited_hold hold)
{
    struct inherited_holds *all =
        run_addon_make(&run->addons, RUN_ADDON_INHERITED_HOLDS, sizeof *all, inherited_holds_free);
    if (map_get(&all->of_line, line, 0)) /* (each line is reported once, by sound programs) */
        return;
    all->items = array_reserve(all->items, &all->room, all->count + 1, sizeof *all->items);
    all->items[all->count++] = hold;
    map_put(&all->of_line, line, 0, (void *)(uintptr_t)all->count);
    run->generation++;
}

struct event_id inherited_holds_recorded(const struct run *run, uint32_t line)
{
    const struct inherited_holds *all = run_addon(&run->addons, RUN_ADDON_INHERITED_HOLDS);
    uintptr_t i = all ? (uintptr_t)map_get(&all->of_line, line, 0) : 0;
    if (!i)
        return (struct event_id){0, 0};
    const struct inherited_hold *hold = &all->items[i - 1];
    return (struct event_id){line_identity_get(&run->identities, hold->high, hold->low),
                             hold->number};
}

struct event_id inherited_holds_last(const struct run *run, uint32_t line)
{
    return order_line_events(run->order, line) ? (struct event_id){0, 0}
                                               : inherited_holds_recorded(run, line);
}
