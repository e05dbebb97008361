#include "server/run/run_processes.h"

#include "base/alloc.h"

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
