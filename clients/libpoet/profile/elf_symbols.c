#define _GNU_SOURCE
#include "clients/libpoet/profile/elf_symbols.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const char *bytes;
    size_t size;
};

/* NULL: it does not lie in the file. */
static const void *elf_symbol_file_part(const struct image *of, uint64_t at, uint64_t size)
{
    return at <= of->size && size <= of->size - at ? of->bytes + at : NULL;
}

/* The section of that type; NULL: there is none. */
static const ElfW(Shdr) *
    elf_symbol_find_section(const struct image *of, const ElfW(Ehdr) * head, uint32_t type)
{
    const ElfW(Shdr) *all =
        head->e_shentsize == sizeof *all && head->e_shoff % _Alignof(ElfW(Shdr)) == 0
            ? elf_symbol_file_part(of, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all)
            : NULL;
    for (unsigned i = 0; all && i < head->e_shnum; i++)
        if (all[i].sh_type == type && all[i].sh_link < head->e_shnum)
            return &all[i];
    return NULL;
}

static void elf_symbol_visit_all(const struct image *of, const ElfW(Ehdr) * head,
                                 const ElfW(Shdr) * table, uintptr_t bias,
                                 void (*take)(void *, uint64_t, const char *), void *context)
{
    const ElfW(Shdr) *all = elf_symbol_file_part(of, head->e_shoff, 0),
                     *strings = &all[table->sh_link];
    const ElfW(Sym) *symbol = elf_symbol_file_part(of, table->sh_offset, table->sh_size);
    const char *names = elf_symbol_file_part(of, strings->sh_offset, strings->sh_size);
    if (!symbol || !names || table->sh_offset % _Alignof(ElfW(Sym)) || !strings->sh_size ||
        names[strings->sh_size - 1])
        return;
    for (size_t i = 0; i < table->sh_size / sizeof *symbol; i++)
        if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC && symbol[i].st_shndx != SHN_UNDEF &&
            symbol[i].st_name < strings->sh_size)
            take(context, symbol[i].st_value + bias, names + symbol[i].st_name);
}

static void elf_symbol_read_image(const struct image *of, uintptr_t bias,
                                  void (*take)(void *, uint64_t, const char *), void *context)
{
    const ElfW(Ehdr) *head = elf_symbol_file_part(of, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return;
    const ElfW(Shdr) *table = elf_symbol_find_section(of, head, SHT_SYMTAB);
    if (!table)
        table = elf_symbol_find_section(of, head, SHT_DYNSYM); /* it was stripped */
    if (table)
        elf_symbol_visit_all(of, head, table, bias, take, context);
}

bool elf_symbols_read(const char *path, uintptr_t bias,
                      void (*take)(void *context, uint64_t address, const char *symbol),
                      void *context)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    void *bytes = is ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    elf_symbol_read_image(&(struct image){bytes, (size_t)st.st_size}, bias, take, context);
    munmap(bytes, (size_t)st.st_size);
    return true;
}

/* ---- names ---- */

void elf_symbol_is_plain(char plain[SYMBOL_BYTES], const char *symbol)
{
    size_t size = strcspn(symbol, ".@");
    snprintf(plain, SYMBOL_BYTES, "%.*s",
             size ? (int)(size < SYMBOL_BYTES ? size : SYMBOL_BYTES) : -1, symbol);
}

/* The next part of a name, of those that have their length before them. */
static bool elf_symbol_source_name(char *to, size_t *used, const char **at, size_t *part_at)
{
    size_t size = 0;
    while (**at >= '0' && **at <= '9' && size < SYMBOL_BYTES)
        size = 10 * size + (size_t)(*(*at)++ - '0');
    if (!size || strlen(*at) < size || *used + size + 3 > SYMBOL_BYTES)
        return false;
    if (*used) {
        memcpy(to + *used, "::", 2);
        *used += 2;
    }
    *part_at = *used;
    if (size > 10 && strncmp(*at, "_GLOBAL__N", 10) == 0)
        *used += (size_t)snprintf(to + *used, SYMBOL_BYTES - *used, "(anonymous namespace)");
    else {
        memcpy(to + *used, *at, size);
        *used += size;
    }
    *at += size;
    to[*used] = 0;
    return *used < SYMBOL_BYTES - 24;
}

/* A constructor or a destructor is called as its class. */
static bool elf_symbol_own_name(char *to, size_t used, const char *at, size_t last_at)
{
    bool is = used && (*at == 'C' || *at == 'D') && at[1] >= '0' && at[1] <= '5' && at[2] == 'E';
    size_t size = used - last_at;
    if (!is || used + size + 4 > SYMBOL_BYTES)
        return false;
    memcpy(to + used, *at == 'D' ? "::~" : "::", 3);
    used += *at == 'D' ? 3 : 2;
    memcpy(to + used, to + last_at, size);
    to[used + size] = 0;
    return true;
}

static bool elf_symbol_read_name(char *to, const char *symbol)
{
    size_t used = 0, last_at = 0;
    const char *at = symbol + 2;
    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    if (*at == 'L') /* of its file alone */
        at++;
    if (*at != 'N')
        return elf_symbol_source_name(to, &used, &at, &last_at);
    for (at++; *at == 'K' || *at == 'V' || *at == 'r' || *at == 'R' || *at == 'O';)
        at++;
    while (*at == 'L' || (*at >= '0' && *at <= '9')) {
        at += *at == 'L';
        if (!elf_symbol_source_name(to, &used, &at, &last_at))
            return false;
    }
    return (*at == 'E' && used) || elf_symbol_own_name(to, used, at, last_at);
}

void elf_symbol_demangle(char readable[SYMBOL_BYTES], const char *symbol)
{
    if (!elf_symbol_read_name(readable, symbol))
        snprintf(readable, SYMBOL_BYTES, "%s", symbol);
}
