#define _GNU_SOURCE
#include "clients/snapshot/snapshot.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "clients/symbols/safe_open.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

/* ---- registers ---- */

#ifdef __x86_64__

/* What the kernel returns within a call that it restarts: -ERESTARTSYS to -ERESTART_RESTARTBLOCK,
 * and what it sets before a call. */
#define RESTARTS(value) ((value) >= -516 && (value) <= -512)
#define NOT_BEGUN (-38)

bool registers_read(const void *set, size_t size, struct registers *registers,
                    struct system_call *call)
{
    struct user_regs_struct r;
    if (size != sizeof r)
        return false;
    memcpy(&r, set, sizeof r);
    *registers =
        (struct registers){.values = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                      r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip},
                           .known = (1u << REGISTER_COUNT) - 1,
                           .thread_pointer = r.fs_base};
    int64_t number = (int64_t)r.orig_rax, result = (int64_t)r.rax;
    bool inside = number >= 0 && (RESTARTS(result) || result == NOT_BEGUN);
    *call = (struct system_call){.number = inside ? number : -1,
                                 .arguments = {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9}};
    return true;
}

bool register_is_preserved(unsigned number)
{
    return number == 3 || number == 6 || (number >= 12 && number <= 15);
}

#else

bool registers_read(const void *set, size_t size, struct registers *registers,
                    struct system_call *call)
{
    (void)set;
    (void)size;
    *registers = (struct registers){0};
    *call = (struct system_call){.number = -1};
    return false;
}

bool register_is_preserved(unsigned number)
{
    (void)number;
    return false;
}

#endif

void registers_set_position(struct registers *registers, uint64_t stack, uint64_t program)
{
    *registers = (struct registers){.known = 1u << REGISTER_STACK | 1u << REGISTER_PROGRAM};
    registers->values[REGISTER_STACK] = stack;
    registers->values[REGISTER_PROGRAM] = program;
}

/* ---- the snapshot ---- */

/* Returns the index of the first piece that ends after an address. */
static size_t snapshot_find(const struct snapshot *s, uint64_t address)
{
    return LOWER_BOUND(i, 0, s->memory_count, s->memory[i].start + s->memory[i].size <= address);
}

/* Reads what one piece has. */
static size_t snapshot_read_piece(const struct snapshot *s, const struct snapshot_memory *m,
                                  uint64_t address, void *to, size_t size)
{
    size_t at = (size_t)(address - m->start);
    size = size < m->size - at ? size : m->size - at;
    if (m->bytes) {
        memcpy(to, m->bytes + at, size);
        return size;
    }
    ssize_t got = pread(s->core, to, size, (off_t)(m->offset + at));
    return got > 0 ? (size_t)got : 0;
}

size_t snapshot_read(const struct snapshot *s, uint64_t address, void *to, size_t size)
{
    size_t done = 0, got = 1, i = snapshot_find(s, address);
    for (; got && done < size && i < s->memory_count; i++) {
        if (s->memory[i].start > address + done)
            break;
        got = snapshot_read_piece(s, &s->memory[i], address + done, (char *)to + done, size - done);
        done += got;
    }
    return done;
}

bool snapshot_read_u32(const struct snapshot *s, uint64_t address, uint32_t *value)
{
    return snapshot_read(s, address, value, sizeof *value) == sizeof *value;
}

bool snapshot_read_u64(const struct snapshot *s, uint64_t address, uint64_t *value)
{
    return snapshot_read(s, address, value, sizeof *value) == sizeof *value;
}

/* Removes what the snapshot has from the beginning and the end of a piece that goes before piece
 * `at`. */
static void snapshot_trim(const struct snapshot *s, size_t at, struct snapshot_memory *m)
{
    uint64_t start = m->start, end = start + m->size;
    for (; at < s->memory_count && s->memory[at].start <= start && start < end; at++)
        start = s->memory[at].start + s->memory[at].size;
    start = start < end ? start : end;
    if (at < s->memory_count && s->memory[at].start < end)
        end = s->memory[at].start > start ? s->memory[at].start : start;
    size_t skipped = (size_t)(start - m->start);
    if (m->bytes && skipped)
        memmove(m->bytes, m->bytes + skipped, (size_t)(end - start));
    m->offset += skipped;
    m->start = start;
    m->size = (size_t)(end - start);
}

void snapshot_add_memory(struct snapshot *s, struct snapshot_memory memory)
{
    if (memory.start + memory.size >= memory.start)
        snapshot_trim(s, snapshot_find(s, memory.start), &memory);
    if (!memory.size || memory.start + memory.size < memory.start) {
        free(memory.bytes);
        return;
    }
    size_t at = snapshot_find(s, memory.start);
    ARRAY_PUSH(s->memory, s->memory_count, memory);
    memmove(s->memory + at + 1, s->memory + at, (s->memory_count - 1 - at) * sizeof *s->memory);
    s->memory[at] = memory;
    s->memory_bytes += memory.bytes ? memory.size : 0;
}

const struct snapshot_mapping *snapshot_mapping_at(const struct snapshot *s, uint64_t address)
{
    for (size_t i = 0; i < s->mapping_count; i++)
        if (address >= s->mappings[i].start && address < s->mappings[i].end)
            return &s->mappings[i];
    return NULL;
}

const struct snapshot_thread *snapshot_thread_of(const struct snapshot *s, uint32_t inner_tid)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].inner_tid == inner_tid)
            return &s->threads[i];
    return NULL;
}

const struct snapshot_thread *snapshot_thread_at(const struct snapshot *s, uint64_t thread_pointer)
{
    for (size_t i = 0; thread_pointer && i < s->thread_count; i++)
        if (s->threads[i].registers.thread_pointer == thread_pointer)
            return &s->threads[i];
    return NULL;
}

void snapshot_free(struct snapshot *s)
{
    for (size_t i = 0; i < s->memory_count; i++)
        free(s->memory[i].bytes);
    for (size_t i = 0; i < s->mapping_count; i++)
        free(s->mappings[i].path);
    if (s->core >= 0)
        close(s->core);
    free(s->memory);
    free(s->mappings);
    free(s->threads);
    free(s->name);
    *s = (struct snapshot){.core = -1};
}

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
