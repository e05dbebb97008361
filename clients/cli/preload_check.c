#define _GNU_SOURCE
#include "clients/cli/preload_check.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool preload_check_find_program(const char *program, char *path, size_t size)
{
    if (strchr(program, '/')) {
        snprintf(path, size, "%s", program);
        return access(path, X_OK) == 0;
    }
    int error = ENOENT;
    for (const char *at = getenv("PATH"); at && *at; at += strcspn(at, ":"), at += *at == ':') {
        struct stat st;
        int n = (int)strcspn(at, ":");
        snprintf(path, size, "%.*s%s%s", n, at, n ? "/" : "", program);
        if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        error = errno == EACCES ? EACCES : error;
    }
    errno = error;
    return false;
}

/* ---- ELF files ---- */

static const char *at_address(Elf *elf, GElf_Addr address, size_t *left)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_LOAD || address < h.p_vaddr ||
            address - h.p_vaddr >= h.p_filesz)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)h.p_offset, h.p_filesz, ELF_T_BYTE);
        if (!data)
            return NULL;
        *left = h.p_filesz - (size_t)(address - h.p_vaddr);
        return (const char *)data->d_buf + (address - h.p_vaddr);
    }
    return NULL;
}

static bool is_sanitizer(const char *name)
{
    return strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "libtsan.so", 10) == 0 ||
           strncmp(name, "liblsan.so", 10) == 0 || strncmp(name, "libhwasan.so", 12) == 0;
}

static void read_needed(Elf *elf, const GElf_Phdr *dynamic, struct preload_check *loadable)
{
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)dynamic->p_offset, dynamic->p_filesz, ELF_T_DYN);
    GElf_Addr strings = 0;
    GElf_Dyn d;
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
        if (d.d_tag == DT_STRTAB)
            strings = d.d_un.d_ptr;
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
        size_t left = 0, used = strlen(loadable->sanitizers);
        const char *name =
            d.d_tag == DT_NEEDED ? at_address(elf, strings + d.d_un.d_val, &left) : NULL;
        size_t all = strlen(loadable->needed);
        if (name && memchr(name, 0, left))
            snprintf(loadable->needed + all, sizeof loadable->needed - all, "%s ", name);
        if (name && memchr(name, 0, left) && is_sanitizer(name))
            snprintf(loadable->sanitizers + used, sizeof loadable->sanitizers - used, "%s ", name);
    }
}

static bool is_go(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr h;
        const char *name = gelf_getshdr(section, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
        if (name && (strcmp(name, ".note.go.buildid") == 0 || strcmp(name, ".go.buildinfo") == 0))
            return true;
    }
    return false;
}

/* Returns whether a symbol table of that type defines the symbol. */
static bool preload_check_defines_symbol(Elf *elf, unsigned type, const char *symbol)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr h;
        GElf_Sym s;
        if (!gelf_getshdr(section, &h) || h.sh_type != type)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &s); i++) {
            const char *name = elf_strptr(elf, h.sh_link, s.st_name);
            if (name && s.st_shndx != SHN_UNDEF && strcmp(name, symbol) == 0)
                return true;
        }
    }
    return false;
}

/* Returns NULL, or why it cannot be recorded. */
static const char *preload_check_elf(Elf *elf, struct preload_check *loadable)
{
    GElf_Ehdr own, header;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    Elf *self = elf_begin(fd, ELF_C_READ, NULL);
    bool same = self && gelf_getehdr(self, &own) && gelf_getehdr(elf, &header) &&
                own.e_machine == header.e_machine &&
                own.e_ident[EI_CLASS] == header.e_ident[EI_CLASS];
    elf_end(self);
    close(fd);
    if (!same)
        return "it is built for another architecture";
    size_t count = 0, left = 0;
    elf_getphdrnum(elf, &count);
    const char *interpreter = NULL;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(elf, (int)i, &h))
            continue;
        if (h.p_type == PT_INTERP)
            interpreter = at_address(elf, h.p_vaddr, &left);
        else if (h.p_type == PT_DYNAMIC)
            read_needed(elf, &h, loadable);
    }
    loadable->traced = strstr(loadable->needed, "libpoet.so") ||
                       preload_check_defines_symbol(elf, SHT_SYMTAB, "poet_traced_unit");
    if (is_go(elf))
        return "it is a Go program, whose goroutines the C library does not know";
    if (!interpreter || !memchr(interpreter, 0, left))
        return "it is statically linked; link it dynamically, or compile it with poetcc -trace";
    /* clang links the runtime into the program statically, and exports its symbols */
    if (strstr(loadable->sanitizers, "libtsan.so") ||
        preload_check_defines_symbol(elf, SHT_DYNSYM, "__tsan_init"))
        return "it is built with -fsanitize=thread, which interposes the same calls; compile it "
               "with poetcc -trace -fsanitize=thread";
    if (strstr(interpreter, "ld-musl"))
        return "it uses another C library (musl)";
    return NULL;
}

/* ---- files ---- */

static const char *preload_check_privilege_problem(const char *path)
{
    struct stat st;
    if (geteuid() == 0 || stat(path, &st) < 0)
        return NULL; /* root gains no privileges, so the loader preloads */
    if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
        (st.st_mode & S_ISGID && st.st_gid != getegid()))
        return "it is set-user-ID or set-group-ID, so LD_PRELOAD is ignored";
    if (getxattr(path, "security.capability", NULL, 0) > 0)
        return "it has file capabilities, so LD_PRELOAD is ignored";
    return NULL;
}

/* Gets the interpreter of a script from its #! line; returns false for other files. */
static bool is_script(int fd, char *interpreter, size_t size)
{
    char line[256];
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    line[n > 0 ? n : 0] = 0;
    if (strncmp(line, "#!", 2) != 0)
        return false;
    const char *from = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, size, "%.*s", (int)strcspn(from, " \t\r\n"), from);
    return true;
}

#define SCRIPTS_MOST 5u /* the kernel executes interpreters that are scripts, so deep */

/* scripts: number of those that led to the file */
static const char *preload_check_check_file(const char *path, struct preload_check *loadable,
                                            unsigned scripts)
{
    char interpreter[256];
    const char *why = preload_check_privilege_problem(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (why || fd < 0) {
        if (fd >= 0)
            close(fd);
        return why; /* an unreadable file may still be executable: try it */
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        why = preload_check_elf(elf, loadable);
    else if (scripts < SCRIPTS_MOST && is_script(fd, interpreter, sizeof interpreter))
        why = preload_check_check_file(interpreter, loadable, scripts + 1);
    else
        why = "it is neither a program nor a script";
    elf_end(elf);
    close(fd);
    return why;
}

bool preload_check_program(const char *program, struct preload_check *loadable, bool *found,
                           char *why, size_t size)
{
    *loadable = (struct preload_check){0};
    *found = preload_check_find_program(program, loadable->path, sizeof loadable->path);
    if (!*found) {
        snprintf(why, size, "%s", strerror(errno));
        return false;
    }
    const char *reason = preload_check_check_file(loadable->path, loadable, 0);
    if (reason)
        snprintf(why, size, "%s", reason);
    return !reason;
}
