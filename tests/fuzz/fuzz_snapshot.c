/* Notes of core files, and texts of /proc that describe a process: the first byte says which. */
#include "clients/snapshot/core_file.h"
#include "clients/snapshot/proc_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_note(const void *bytes, size_t size)
{
    struct snapshot s = {.core = -1};
    core_file_add_thread(&s, bytes, size);
    core_file_add_program(&s, bytes, size);
    core_file_add_mappings(&s, bytes, size);
    snapshot_free(&s);
}

static void fuzz_text(const char *text, size_t size)
{
    struct system_call call;
    struct proc_status status;
    struct proc_mapping mapping;
    uint64_t stack, program;
    char name[16], state, *line = malloc(size + 1);
    proc_text_stat(text, size, name, sizeof name, &state);
    proc_text_syscall(text, size, &call, &stack, &program);
    proc_text_status(text, size, &status);
    proc_text_access(text, size);
    if (line) {
        memcpy(line, text, size);
        line[size] = 0;
        if (proc_text_mapping(line, &mapping) && strlen(mapping.path) > size)
            __builtin_trap();
    }
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && *data & 1)
        fuzz_note(data + 1, size - 1);
    else if (size)
        fuzz_text((const char *)data + 1, size - 1);
    return 0;
}
