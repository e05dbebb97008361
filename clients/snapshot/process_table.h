/* The processes that can be seen here, which of them hold the ends of pipes, and the calls in which
 * their threads sleep. */
#ifndef CLIENTS_SNAPSHOT_PROCESS_TABLE_H
#define CLIENTS_SNAPSHOT_PROCESS_TABLE_H

#include "clients/snapshot/registers.h"

struct process_table {
    struct table_process {
        uint32_t pid, parent;
        char name[32];
    } *processes;
    uint32_t process_count;
    struct pipe_end {
        uint64_t pipe; /* number of its inode */
        uint32_t pid;
        bool reads, writes;
    } *ends;
    uint32_t end_count;
    uint32_t hidden_count; /* processes whose descriptors cannot be read */
    bool partial; /* processes of another PID name space are not seen */
};

/* Reads /proc. */
void process_table_read(struct process_table *table);
void process_table_free(struct process_table *table);
/* Returns the process; NULL: there is none. */
const struct table_process *process_table_find(const struct process_table *table, uint32_t pid);
/* Returns the number of the pipe that is a descriptor of a process; 0: it is none. */
uint64_t process_table_pipe(uint32_t pid, uint64_t descriptor);

/* A thread that is asleep in a call, and how often it has got a processor. */
struct sleeping_thread {
    uint32_t tid;
    bool asleep;
    struct system_call call;
    uint64_t stack, turns;
};

/* Reads a thread, whose number is set. */
void process_table_read_thread(uint32_t pid, struct sleeping_thread *thread);
/* Reads the threads of a process; the caller frees them. */
struct sleeping_thread *process_table_threads(uint32_t pid, uint32_t *count);
/* Returns whether a thread is asleep in the same call as before, without having run. */
bool process_table_still_sleeps(uint32_t pid, const struct sleeping_thread *before);

#endif
