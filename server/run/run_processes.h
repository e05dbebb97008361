/* Processes of a run, by index in the order of their begin: what they reported of themselves, how
 * they began, and the locks that they inherited.  Not thread-safe. */
#ifndef SERVER_RUN_RUN_PROCESSES_H
#define SERVER_RUN_RUN_PROCESSES_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

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
    /* events lost with its end; those of them with reported numbers */
    uint64_t left, left_known;
    uint64_t clock_ns, wall_ns; /* one moment on both of its clocks */
    uint64_t gone_ns; /* when its connection ended, by the wall clock; 0: not known */
    bool connected;
    bool ended; /* it reported that it exits */
    uint32_t next; /* 1 + the program that has its process number since then; 0: none */
    /* its first line; 0: not among the first lines_seen lines of the run */
    uint32_t first_line, lines_seen;
    /* more events may be in its queues, in its own memory; they are lost if it has ended */
    bool unsent;
};

/* A zero-initialized list is empty; it owns the contents of its processes. */
struct run_processes {
    struct run_process *items;
    size_t count, room;
};

/* Adds a process and returns its index.  Links the program that had its process number before to
 * it. */
uint32_t run_processes_add(struct run_processes *processes, struct run_process process);
void run_processes_free(struct run_processes *processes);
/* Returns when the last one was gone; UINT64_MAX if one is connected. */
uint64_t run_processes_last_gone_ns(const struct run_processes *processes);
/* Returns whether a process has ended, though it did not report that, such as one that was killed,
 * and another one outlived it; last_ns: when the last one was gone. */
bool run_process_died(const struct run_process *process, uint64_t last_ns);

/* ---- creation: with a message of the thread that forked, or executed another program ---- */

/* Returns the first line of a process, that of its first thread; 0 if it has none. */
uint32_t process_creation_line(const struct run *run, size_t process);
/* Returns the position of the message that its first event received; NO_POSITION if it received
 * none, or these are not kept. */
uint64_t process_creation_message(const struct run *run, size_t process);

/* ---- inherited holds ---- */

/* A lock that was held when a process was forked: the child has the lock in that state, and not the
 * thread that held it (the message HELD).  The hold is over with the first event on the lock's line
 * in the child. */
struct inherited_hold {
    /* identity of the lock's line in the process that forked, and the last event there at the fork,
     * which its holder recorded */
    uint64_t high, low, number;
};

/* Adds the hold of a line of the child; the first one of a line holds. */
void inherited_holds_add(struct run *run, uint32_t line, struct inherited_hold hold);
/* Returns the last event of the holder of a line's lock before the fork; line 0: it was not held
 * then, or no longer is. */
struct event_id inherited_holds_last(const struct run *run, uint32_t line);
/* Returns the same also if the hold is over since. */
struct event_id inherited_holds_recorded(const struct run *run, uint32_t line);

#endif
