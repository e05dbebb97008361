#define _GNU_SOURCE
#include "clients/snapshot/process_table.h"

#include "base/alloc.h"
#include "clients/snapshot/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of the first PID name space (include/uapi/linux/nsfs.h). */
#define FIRST_NAME_SPACE "pid:[4026531836]"

uint64_t process_table_pipe(uint32_t pid, uint64_t descriptor)
{
    char link[64];
    uint64_t pipe = 0;
    proc_file_link(link, sizeof link, "%u/fd/%" PRIu64, pid, descriptor);
    return sscanf(link, "pipe:[%" SCNu64 "]", &pipe) == 1 ? pipe : 0;
}

/* ---- processes ---- */

struct table_scan {
    struct process_table *table;
    uint32_t pid;
};

static void table_add_descriptor(void *user, uint32_t descriptor)
{
    struct table_scan *scan = user;
    char text[512];
    struct pipe_end end = {.pid = scan->pid, .pipe = process_table_pipe(scan->pid, descriptor)};
    if (!end.pipe)
        return;
    size_t size = proc_file_read(text, sizeof text, "%u/fdinfo/%u", scan->pid, descriptor);
    int access = proc_text_access(text, size);
    end.reads = access != O_WRONLY;
    end.writes = access != O_RDONLY;
    ARRAY_PUSH(scan->table->ends, scan->table->end_count, end);
}

static void table_add_process(void *user, uint32_t pid)
{
    struct table_scan scan = {user, pid};
    struct table_process process = {.pid = pid, .parent = proc_file_status(pid).parent};
    char name[32];
    snprintf(name, sizeof name, "%u/fd", pid);
    proc_file_read(process.name, sizeof process.name, "%u/comm", pid);
    process.name[strcspn(process.name, "\n")] = 0;
    if (!proc_file_each(name, table_add_descriptor, &scan)) {
        if (errno != EACCES && errno != EPERM)
            return; /* it has exited */
        scan.table->hidden_count++;
    }
    ARRAY_PUSH(scan.table->processes, scan.table->process_count, process);
}

void process_table_read(struct process_table *table)
{
    char space[64];
    *table = (struct process_table){0};
    proc_file_link(space, sizeof space, "self/ns/pid");
    table->partial = strcmp(space, FIRST_NAME_SPACE) != 0;
    proc_file_each("", table_add_process, table);
}

void process_table_free(struct process_table *table)
{
    free(table->processes);
    free(table->ends);
    *table = (struct process_table){0};
}

const struct table_process *process_table_find(const struct process_table *table, uint32_t pid)
{
    for (uint32_t i = 0; i < table->process_count; i++)
        if (table->processes[i].pid == pid)
            return &table->processes[i];
    return NULL;
}

/* ---- threads ---- */

void process_table_read_thread(uint32_t pid, struct sleeping_thread *t)
{
    char text[4096];
    uint64_t program;
    size_t size = proc_file_read(text, sizeof text, "%u/task/%u/syscall", pid, t->tid);
    t->asleep =
        size && proc_text_syscall(text, size, &t->call, &t->stack, &program) && t->call.number >= 0;
    /* The third number: how often it got a processor. */
    proc_file_read(text, sizeof text, "%u/task/%u/schedstat", pid, t->tid);
    if (sscanf(text, "%*u %*u %" SCNu64, &t->turns) != 1)
        t->asleep = false;
}

struct table_threads {
    uint32_t pid, count;
    struct sleeping_thread *threads;
};

static void table_add_thread(void *user, uint32_t tid)
{
    struct table_threads *list = user;
    struct sleeping_thread t = {.tid = tid};
    process_table_read_thread(list->pid, &t);
    ARRAY_PUSH(list->threads, list->count, t);
}

struct sleeping_thread *process_table_threads(uint32_t pid, uint32_t *count)
{
    struct table_threads list = {.pid = pid};
    char name[32];
    snprintf(name, sizeof name, "%u/task", pid);
    proc_file_each(name, table_add_thread, &list);
    *count = list.count;
    return list.threads;
}

bool process_table_still_sleeps(uint32_t pid, const struct sleeping_thread *before)
{
    struct sleeping_thread now = {.tid = before->tid};
    process_table_read_thread(pid, &now);
    return now.asleep && before->asleep && now.turns == before->turns &&
           now.stack == before->stack && memcmp(&now.call, &before->call, sizeof now.call) == 0;
}
