/* Processes of a run: what they reported of themselves, by index in the order of their begin.
 *
 * A zero-initialized list is empty; it owns the contents of its processes.  Not thread-safe. */
#ifndef SERVER_RUN_RUN_PROCESSES_H
#define SERVER_RUN_RUN_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_module {
    char *path;
    uint8_t build_id[32];
    unsigned build_id_bytes;
    uint64_t start, end, bias;
};

struct run_process {
    uint32_t pid;
    char *path, *host;
    char **arguments, **variables; /* variables: of its environment (wire/variable.h) */
    size_t argument_count, variable_count;
    struct run_module *modules;
    size_t module_count, module_room;
    uint64_t waited_ns, dropped, unfollowed;
    /* events lost with its end; those of them whose numbers were reported */
    uint64_t left, left_known;
    uint64_t clock_ns, wall_ns; /* one moment on both of its clocks */
    bool connected;
    bool ended; /* it reported that it exits */
    uint32_t next; /* 1 + the program that has its process number since then; 0: none */
    /* its first line; 0: not among the first lines_seen lines of the run */
    uint32_t first_line, lines_seen;
    /* more events may be in its queues, in its own memory; they are lost if it has ended */
    bool unsent;
};

struct run_processes {
    struct run_process *items;
    size_t count, room;
};

/* Adds a process and returns its index.  Links the program that had its process number before to
 * it. */
uint32_t run_processes_add(struct run_processes *processes, struct run_process process);
void run_processes_free(struct run_processes *processes);

#endif
