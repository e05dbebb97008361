#define _GNU_SOURCE
#include "clients/snapshot/proc_file.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- parsers ---- */

/* The name is in parentheses, and may contain any character. */
bool proc_text_stat(const char *text, size_t size, char *name, size_t room, char *state)
{
    const char *open = memchr(text, '(', size), *close = memrchr(text, ')', size);
    if (!open || !close || close < open || (size_t)(close + 2 - text) >= size)
        return false;
    snprintf(name, room, "%.*s", (int)(close - open - 1), open + 1);
    *state = close[2];
    return true;
}

bool proc_text_syscall(const char *text, size_t size, struct system_call *call, uint64_t *stack,
                       uint64_t *program)
{
    char copy[256];
    uint64_t *a = call->arguments;
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), text);
    int fields = sscanf(copy,
                        "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                        " %" SCNx64 " %" SCNx64 " %" SCNx64,
                        &call->number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], stack, program);
    if (fields == 9)
        return true;
    /* In no call, but asleep, as in a page fault: -1, stack pointer, program counter. */
    bool none = fields == 3 && call->number == -1;
    *stack = a[0];
    *program = a[1];
    *call = (struct system_call){.number = -1};
    return none;
}

/* Returns the value of a field of "NAME:\tvalue..." lines; NULL: there is none. */
static const char *proc_text_field(const char *text, const char *name)
{
    size_t length = strlen(name);
    while (text && strncmp(text, name, length) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? text + length : NULL;
}

/* Returns the n-th number of a field, the last one if it has fewer; 0: none. */
static uint32_t proc_text_number(const char *text, const char *name, unsigned n)
{
    const char *at = proc_text_field(text, name);
    uint32_t value = 0;
    for (unsigned i = 0; at && i < n; i++) {
        char *end;
        at += strspn(at, "\t ");
        unsigned long is = strtoul(at, &end, 10);
        if (end == at || *at == '\n')
            break;
        value = (uint32_t)is;
        at = end;
    }
    return value;
}

void proc_text_status(const char *text, size_t size, struct proc_status *status)
{
    char copy[4096];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), text);
    *status = (struct proc_status){.process = proc_text_number(copy, "Tgid:", 1),
                                   .parent = proc_text_number(copy, "PPid:", 1),
                                   .tracer = proc_text_number(copy, "TracerPid:", 1),
                                   .inner = proc_text_number(copy, "NSpid:", 32),
                                   .user = proc_text_number(copy, "Uid:", 2)};
    const char *caught = strstr(copy, "SigCgt:");
    if (caught)
        status->caught = strtoull(caught + strlen("SigCgt:"), NULL, 16);
}

bool proc_text_mapping(const char *line, struct proc_mapping *mapping)
{
    int at = 0;
    char access[5] = "";
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %*u%n", &mapping->start,
               &mapping->end, access, &mapping->offset, &at) != 4 ||
        !at || mapping->start >= mapping->end)
        return false;
    mapping->shared = access[3] != 'p';
    mapping->path = line + at + strspn(line + at, " ");
    return true;
}

int proc_text_access(const char *text, size_t size)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), text);
    const char *flags = proc_text_field(copy, "flags:");
    return flags ? (int)(strtoul(flags, NULL, 8) & O_ACCMODE) : -1;
}

uint64_t proc_text_object(const char *text, size_t size, bool eventfd)
{
    char copy[1024];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), text);
    const char *number = proc_text_field(copy, eventfd ? "eventfd-id:" : "ino:");
    return number ? strtoull(number, NULL, 10) + eventfd : 0;
}

enum descriptor_type proc_text_link(const char *link, uint64_t *number)
{
    *number = 0;
    if (sscanf(link, "pipe:[%" SCNu64 "]", number) == 1)
        return DESCRIPTOR_PIPE;
    if (sscanf(link, "socket:[%" SCNu64 "]", number) == 1)
        return DESCRIPTOR_SOCKET;
    if (strcmp(link, "anon_inode:[eventfd]") == 0)
        return DESCRIPTOR_EVENTFD;
    return *link == '/' && strncmp(link, "/dev/", 5) != 0 ? DESCRIPTOR_FILE : DESCRIPTOR_NONE;
}

uint64_t proc_text_lock(const char *line, uint64_t *inode, bool *waits, int64_t *pid)
{
    const char *at = strchr(line, ':');
    uint64_t hash = UINT64_C(14695981039346656037);
    int used = 0;
    if (!at)
        return 0;
    at += 1 + strspn(at + 1, " \t");
    *waits = strncmp(at, "->", 2) == 0;
    at += *waits ? 2 + strspn(at + 2, " \t") : 0;
    if (sscanf(at, "%*s %*s %*s %" SCNd64 " %*x:%*x:%" SCNu64 "%n", pid, inode, &used) != 2 ||
        !used)
        return 0;
    for (const char *c = at; *c && *c != '\n'; c++)
        if (*c != ' ' && *c != '\t')
            hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}

/* ---- files ---- */

static void proc_file_path(char path[PATH_MAX], const char *format, va_list arguments)
{
    char name[PATH_MAX - 8];
    vsnprintf(name, sizeof name, format, arguments);
    snprintf(path, PATH_MAX, "/proc/%s", name);
}

size_t proc_file_read(char *to, size_t room, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    proc_file_path(path, format, arguments);
    va_end(arguments);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, to, room - 1) : -1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    to[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

size_t proc_file_link(char *to, size_t room, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    proc_file_path(path, format, arguments);
    va_end(arguments);
    ssize_t got = readlink(path, to, room - 1);
    to[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

bool proc_file_each(const char *name, void (*visit)(void *user, uint32_t number), void *user)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%s", name);
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    for (struct dirent *e; (e = readdir(directory)) != NULL;) {
        char *end;
        unsigned long number = strtoul(e->d_name, &end, 10);
        if (end != e->d_name && !*end && number <= UINT32_MAX)
            visit(user, (uint32_t)number);
    }
    closedir(directory);
    return true;
}

struct proc_status proc_file_status(uint32_t pid)
{
    struct proc_status status = {0};
    char text[4096];
    size_t size = proc_file_read(text, sizeof text, "%u/status", pid);
    if (size)
        proc_text_status(text, size, &status);
    return status;
}

/* The number of the first PID name space (include/uapi/linux/nsfs.h). */
#define FIRST_NAME_SPACE "pid:[4026531836]"

/* ---- processes ---- */

struct table_scan {
    struct process_table *table;
    uint32_t pid;
};

/* Adds the locks on a file that a descriptor holds. */
static void table_add_locks(struct process_table *table, struct descriptor_end end,
                            const char *info)
{
    end.type = DESCRIPTOR_LOCK;
    for (const char *at = info; (at = strstr(at, "lock:\t")) != NULL; at++) {
        bool waits;
        int64_t pid;
        end.lock = proc_text_lock(at + strlen("lock:\t"), &end.number, &waits, &pid);
        if (end.lock && !waits)
            ARRAY_PUSH(table->ends, table->end_count, end);
    }
}

static void table_add_descriptor(void *user, uint32_t descriptor)
{
    struct table_scan *scan = user;
    char link[64], info[4096];
    struct descriptor_end end = {.pid = scan->pid};
    proc_file_link(link, sizeof link, "%u/fd/%u", scan->pid, descriptor);
    end.type = (uint8_t)proc_text_link(link, &end.number);
    if (end.type == DESCRIPTOR_NONE)
        return;
    size_t size = proc_file_read(info, sizeof info, "%u/fdinfo/%u", scan->pid, descriptor);
    int access = proc_text_access(info, size);
    end.reads = access != O_WRONLY;
    end.writes = access != O_RDONLY;
    if (!end.number)
        end.number = proc_text_object(info, size, end.type == DESCRIPTOR_EVENTFD);
    ARRAY_PUSH(scan->table->ends, scan->table->end_count, end);
    if (end.type == DESCRIPTOR_FILE)
        table_add_locks(scan->table, end, info);
}

static void table_add_process(void *user, uint32_t pid)
{
    struct table_scan scan = {user, pid};
    struct proc_status status = proc_file_status(pid);
    struct table_process process = {.pid = pid, .parent = status.parent};
    char name[32];
    scan.table->inner |= status.inner && status.inner != pid;
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
