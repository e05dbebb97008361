#define _GNU_SOURCE
#include "clients/snapshot/proc_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
}

bool proc_text_mapping(const char *line, struct proc_mapping *mapping)
{
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %*x:%*x %*u%n", &mapping->start,
               &mapping->end, &mapping->offset, &at) != 3 ||
        !at || mapping->start >= mapping->end)
        return false;
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
