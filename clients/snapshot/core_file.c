#define _GNU_SOURCE
#include "clients/snapshot/core_file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MOST 100000u

void core_file_add_thread(struct snapshot *s, const void *bytes, size_t size)
{
    struct elf_prstatus is;
    struct snapshot_thread t = {0};
    if (size < sizeof is || s->thread_count == THREADS_MOST)
        return;
    memcpy(&is, bytes, sizeof is);
    t.tid = t.inner_tid = (uint32_t)is.pr_pid;
    registers_read(&is.pr_reg, sizeof is.pr_reg, &t.registers, &t.call);
    t.in_kernel = t.call.number >= 0;
    ARRAY_PUSH(s->threads, s->thread_count, t);
}

void core_file_add_program(struct snapshot *s, const void *bytes, size_t size)
{
    struct elf_prpsinfo is;
    if (size < sizeof is)
        return;
    memcpy(&is, bytes, sizeof is);
    free(s->name);
    s->name = xstrndup(is.pr_fname, strnlen(is.pr_fname, sizeof is.pr_fname));
    s->pid = (uint32_t)is.pr_pid;
}

/* NT_FILE: their number, the size of a page, start, end and offset (in pages) of each, their
 * paths. */
void core_file_add_mappings(struct snapshot *s, const void *bytes, size_t size)
{
    const char *text = bytes;
    uint64_t head[2], row[3];
    if (size < sizeof head)
        return;
    memcpy(head, text, sizeof head);
    if (head[0] > (size - sizeof head) / sizeof row)
        return;
    size_t at = sizeof head + (size_t)head[0] * sizeof row;
    for (size_t i = 0; i < head[0]; i++) {
        size_t length = strnlen(text + at, size - at);
        if (at + length >= size)
            return;
        memcpy(row, text + sizeof head + i * sizeof row, sizeof row);
        struct snapshot_mapping mapping = {.start = row[0],
                                           .end = row[1],
                                           .offset = row[2] * head[1],
                                           .path = xstrndup(text + at, length)};
        ARRAY_PUSH(s->mappings, s->mapping_count, mapping);
        at += length + 1;
    }
}

/* Returns how many bytes of a segment are in the file; sets s->cut if some are not. */
static size_t core_file_segment_bytes(struct snapshot *s, const GElf_Phdr *segment,
                                      uint64_t file_bytes)
{
    uint64_t end = segment->p_offset + segment->p_filesz;
    if (end <= file_bytes && end >= segment->p_offset)
        return segment->p_filesz;
    s->cut = true;
    return segment->p_offset < file_bytes ? file_bytes - segment->p_offset : 0;
}

/* Reads the notes up to the first incomplete one: those of a thread can be longer than what is left
 * of a truncated file. */
static void core_file_read_notes(struct snapshot *s, Elf *elf, const GElf_Phdr *segment,
                                 uint64_t file_bytes)
{
    size_t bytes_present = core_file_segment_bytes(s, segment, file_bytes) & ~(size_t)3;
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, bytes_present, ELF_T_NHDR);
    GElf_Nhdr note;
    size_t next, name, body;
    s->cut |= !data;
    for (size_t at = 0; data && (next = gelf_getnote(data, at, &note, &name, &body)) > 0;
         at = next) {
        const char *bytes = (const char *)data->d_buf + body;
        if (note.n_namesz != 5 || memcmp((const char *)data->d_buf + name, "CORE", 5) != 0)
            continue;
        if (note.n_type == NT_PRSTATUS)
            core_file_add_thread(s, bytes, note.n_descsz);
        else if (note.n_type == NT_PRPSINFO)
            core_file_add_program(s, bytes, note.n_descsz);
        else if (note.n_type == NT_FILE)
            core_file_add_mappings(s, bytes, note.n_descsz);
    }
}

static void core_file_add_segment(struct snapshot *s, const GElf_Phdr *segment, uint64_t file_bytes)
{
    size_t size = core_file_segment_bytes(s, segment, file_bytes);
    snapshot_add_memory(s,
                        (struct snapshot_memory){segment->p_vaddr, size, NULL, segment->p_offset});
}

static bool core_file_read_elf(struct snapshot *s, Elf *elf, const char *path, struct error *error)
{
    GElf_Ehdr head;
    struct stat file;
    size_t count;
    if (!gelf_getehdr(elf, &head) || head.e_type != ET_CORE || gelf_getclass(elf) != ELFCLASS64 ||
        elf_getphdrnum(elf, &count) != 0 || fstat(s->core, &file) != 0) {
        error_set(error, "%s: not a core file", path);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment))
            s->cut = true;
        else if (segment.p_type == PT_NOTE)
            core_file_read_notes(s, elf, &segment, (uint64_t)file.st_size);
        else if (segment.p_type == PT_LOAD && segment.p_filesz)
            core_file_add_segment(s, &segment, (uint64_t)file.st_size);
    }
    if (!s->thread_count)
        error_set(error, "%s: %s", path,
                  s->cut ? "the core file is truncated before its threads"
                         : "the core file has no thread");
    return s->thread_count > 0;
}

bool core_file_read(struct snapshot *s, const char *path, struct error *error)
{
    *s = (struct snapshot){.core = open(path, O_RDONLY | O_CLOEXEC)};
    if (s->core < 0) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(s->core, ELF_C_READ, NULL);
    bool read = core_file_read_elf(s, elf, path, error);
    elf_end(elf);
    if (!s->name)
        s->name = xstrdup("");
    return read;
}
