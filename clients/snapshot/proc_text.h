/* Parsers of the files of /proc (proc(5)) that describe a process and its threads. Nothing is
 * believed of a text but that it has `size` bytes; what it does not say is left unchanged. */
#ifndef CLIENTS_SNAPSHOT_PROC_TEXT_H
#define CLIENTS_SNAPSHOT_PROC_TEXT_H

#include "clients/snapshot/registers.h"

/* /proc/PID/task/TID/stat: its name, in at most `room` bytes, and its state. */
bool proc_text_stat(const char *text, size_t size, char *name, size_t room, char *state);
/* /proc/PID/task/TID/syscall; returns false if the thread runs. */
bool proc_text_syscall(const char *text, size_t size, struct system_call *call, uint64_t *stack,
                       uint64_t *program);

struct proc_status {
    uint32_t process; /* Tgid */
    uint32_t parent;
    uint32_t tracer; /* 0: it is not traced */
    uint32_t inner; /* number in its own PID name space */
    uint32_t user; /* effective */
};
/* /proc/PID/status */
void proc_text_status(const char *text, size_t size, struct proc_status *status);

struct proc_mapping {
    uint64_t start, end, offset;
    const char *path; /* points into the line; "": none */
};
/* A line of /proc/PID/maps, without its end. */
bool proc_text_mapping(const char *line, struct proc_mapping *mapping);
/* /proc/PID/fdinfo/N: the access mode, O_RDONLY, O_WRONLY or O_RDWR; -1: not said. */
int proc_text_access(const char *text, size_t size);

#endif
