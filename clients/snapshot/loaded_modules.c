#define _GNU_SOURCE
#include "clients/snapshot/loaded_modules.h"

#include "base/alloc.h"
#include "clients/symbols/safe_open.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

static bool loaded_modules_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns the path by which the file can be opened here, for the caller to free. */
static char *loaded_modules_path(const struct snapshot *s, const char *path)
{
    char root[PATH_MAX], program[64];
    if (s->core >= 0)
        return xstrdup(path);
    snprintf(root, sizeof root, "/proc/%u/root%s", s->pid, path);
    snprintf(program, sizeof program, "/proc/%u/exe", s->pid);
    if (loaded_modules_is_same_file(path, root) || access(root, R_OK) == 0)
        return xstrdup(loaded_modules_is_same_file(path, root) ? path : root);
    /* (The kernel appends " (deleted)" to both names.) */
    return xstrdup(s->name && strcmp(path, s->name) == 0 ? program : path);
}

static void loaded_modules_put_build(Elf *elf, char text[65])
{
    const void *bits;
    ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    *text = 0;
    for (ssize_t i = 0; i < n && i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bits)[i]);
}

/* Returns whether the memory of a core file has the build-id of another file. */
static bool loaded_modules_differs(const struct snapshot *s, uint64_t start, const char *build_id)
{
    char page[PAGE], mapped[65] = "";
    size_t size = s->core >= 0 ? snapshot_read(s, start, page, sizeof page) : 0;
    Elf *elf = size == sizeof page ? elf_memory(page, size) : NULL;
    loaded_modules_put_build(elf, mapped);
    elf_end(elf);
    return *mapped && strcmp(mapped, build_id) != 0;
}

/* Computes by how much the addresses of a file are moved, from the mapping of its first segment. */
static bool loaded_modules_set_bias(Elf *elf, const struct snapshot_mapping *first,
                                    struct module_info *m)
{
    GElf_Phdr segment;
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            (segment.p_offset & ~(uint64_t)(PAGE - 1)) == first->offset) {
            m->bias = first->start - (segment.p_vaddr & ~(uint64_t)(PAGE - 1));
            return true;
        }
    return false;
}

static bool loaded_modules_open(const struct snapshot *s, const struct snapshot_mapping *first,
                                struct module_info *m)
{
    int fd = safe_open_file(m->path);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL) : NULL;
    bool is = elf && elf_kind(elf) == ELF_K_ELF && loaded_modules_set_bias(elf, first, m);
    if (is)
        loaded_modules_put_build(elf, m->build_id);
    is = is && !loaded_modules_differs(s, first->start, m->build_id);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return is;
}

/* Adds the file of a range of mappings, the first of which is at its beginning. */
static void loaded_modules_add(const struct snapshot *s, const struct snapshot_mapping *first,
                               uint64_t end, struct process_info *process)
{
    struct module_info m = {.path = loaded_modules_path(s, first->path),
                            .start = first->start,
                            .end = end,
                            .bias = first->start};
    if (!loaded_modules_open(s, first, &m)) {
        char *name = xstrdup(strrchr(m.path, '/') ? strrchr(m.path, '/') + 1 : m.path);
        free(m.path);
        m.path = name;
    }
    ARRAY_PUSH(process->modules, process->module_count, m);
}

void loaded_modules_list(const struct snapshot *s, struct process_info *process)
{
    elf_version(EV_CURRENT);
    for (size_t i = 0; i < s->mapping_count;) {
        const struct snapshot_mapping *first = &s->mappings[i];
        uint64_t end = first->end;
        size_t next = i + 1;
        for (size_t k = next; k < s->mapping_count && s->mappings[k].offset; k++)
            if (strcmp(s->mappings[k].path, first->path) == 0) {
                end = s->mappings[k].end;
                next = k + 1;
            }
        if (*first->path == '/' && first->offset == 0 && next > i + 1)
            loaded_modules_add(s, first, end, process);
        i = next;
    }
}
