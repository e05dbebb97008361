/* Files of /proc (proc(5)) that describe processes and their threads: read whole, and parsed; and
 * the table of the processes that they list. */
#ifndef CLIENTS_SNAPSHOT_PROC_FILE_H
#define CLIENTS_SNAPSHOT_PROC_FILE_H

#include "clients/snapshot/snapshot.h"

/* ---- parsers ----
 * Nothing is believed of a text but that it has `size` bytes; what it does not say is left
 * unchanged. */

/* Parses /proc/PID/task/TID/stat: its name, in at most `room` bytes, and its state. */
bool proc_text_stat(const char *text, size_t size, char *name, size_t room, char *state);
/* Parses /proc/PID/task/TID/syscall; returns false if the thread runs. */
bool proc_text_syscall(const char *text, size_t size, struct system_call *call, uint64_t *stack,
                       uint64_t *program);

struct proc_status {
    uint32_t process; /* Tgid */
    uint32_t parent;
    uint32_t tracer; /* 0: it is not traced */
    uint32_t inner; /* number in its own PID name space */
    uint32_t user; /* effective */
    uint64_t caught; /* signals with a handler, the first in bit 0 */
};
/* Parses /proc/PID/status. */
void proc_text_status(const char *text, size_t size, struct proc_status *status);

struct proc_mapping {
    uint64_t start, end, offset;
    bool shared; /* with other processes */
    const char *path; /* points into the line; "": none */
};
/* Parses a line of /proc/PID/maps, without its end. */
bool proc_text_mapping(const char *line, struct proc_mapping *mapping);
/* Returns the access mode in /proc/PID/fdinfo/N: O_RDONLY, O_WRONLY or O_RDWR; -1: not said. */
int proc_text_access(const char *text, size_t size);
/* Returns the number of the inode there, or of the eventfd, plus one; 0: not said. */
uint64_t proc_text_object(const char *text, size_t size, bool eventfd);

/* Descriptors are of these types, by what they refer to. Files are all that have a name. */
enum descriptor_type {
    DESCRIPTOR_NONE,
    DESCRIPTOR_PIPE,
    DESCRIPTOR_SOCKET,
    DESCRIPTOR_EVENTFD,
    DESCRIPTOR_FILE,
    DESCRIPTOR_LOCK
};
/* Parses the target of /proc/PID/fd/N; *number: that of an inode, 0 if it is in the fdinfo. */
enum descriptor_type proc_text_link(const char *link, uint64_t *number);
/* Returns the hash of a lock in a line of /proc/locks, or of fdinfo after "lock:\t"; 0: none. It
 * covers all but the number of the line. *inode: that of the file; *waits: it is a request. */
uint64_t proc_text_lock(const char *line, uint64_t *inode, bool *waits, int64_t *pid);

/* ---- files ---- */

/* Reads /proc/NAME, a formatted name, into at most `room` bytes with a NUL. Returns the
 * number of bytes without it; 0 with errno if it cannot be read. */
size_t proc_file_read(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads the link /proc/NAME likewise. */
size_t proc_file_link(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Calls a function with each number that is the name of an entry of /proc/NAME. Returns false with
 * errno if it cannot be read. */
bool proc_file_each(const char *name, void (*visit)(void *user, uint32_t number), void *user);
/* Reads /proc/PID/status; all zero if there is no such process. */
struct proc_status proc_file_status(uint32_t pid);

/* The processes that can be seen here, which of them hold the ends of pipes, and the calls in which
 * their threads sleep. */

struct process_table {
    struct table_process {
        uint32_t pid, parent;
        char name[32];
    } *processes;
    uint32_t process_count;
    struct descriptor_end {
        uint64_t number; /* of what it refers to: of an inode, or of an eventfd */
        uint64_t lock; /* of a lock on a file: its hash */
        uint32_t pid;
        uint8_t type; /* enum descriptor_type */
        bool reads, writes;
    } *ends;
    uint32_t end_count;
    uint32_t hidden_count; /* processes with unreadable descriptors */
    bool partial; /* processes of another PID name space are not seen */
    bool inner; /* there are processes with other numbers in a PID name space of their own */
};

/* Reads /proc. */
void process_table_read(struct process_table *table);
void process_table_free(struct process_table *table);
/* Returns the process; NULL: there is none. */
const struct table_process *process_table_find(const struct process_table *table, uint32_t pid);

/* A thread that is asleep in a call, and how often it has got a processor. */
struct sleeping_thread {
    uint32_t tid;
    bool asleep;
    struct system_call call;
    uint64_t stack, turns;
};

/* Reads a thread, after its number was set. */
void process_table_read_thread(uint32_t pid, struct sleeping_thread *thread);
/* Reads the threads of a process; the caller frees them. */
struct sleeping_thread *process_table_threads(uint32_t pid, uint32_t *count);
/* Returns whether a thread is asleep in the same call as before, without having run. */
bool process_table_still_sleeps(uint32_t pid, const struct sleeping_thread *before);

#endif
