#define _GNU_SOURCE
#include "clients/cli/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <glob.h>
#include <libelf.h>
#include <limits.h>
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

/* ---- check: ELF files ---- */

static const char *preload_check_at_address(Elf *elf, GElf_Addr address, size_t *left)
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

static bool preload_check_is_sanitizer(const char *name)
{
    return strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "libtsan.so", 10) == 0 ||
           strncmp(name, "liblsan.so", 10) == 0 || strncmp(name, "libhwasan.so", 12) == 0;
}

static void preload_check_read_needed(Elf *elf, const GElf_Phdr *dynamic,
                                      struct preload_check *loadable)
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
        const char *name = d.d_tag == DT_NEEDED
                               ? preload_check_at_address(elf, strings + d.d_un.d_val, &left)
                               : NULL;
        size_t all = strlen(loadable->needed);
        if (name && memchr(name, 0, left))
            snprintf(loadable->needed + all, sizeof loadable->needed - all, "%s ", name);
        if (name && memchr(name, 0, left) && preload_check_is_sanitizer(name))
            snprintf(loadable->sanitizers + used, sizeof loadable->sanitizers - used, "%s ", name);
    }
}

static bool preload_check_is_go(Elf *elf)
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
            interpreter = preload_check_at_address(elf, h.p_vaddr, &left);
        else if (h.p_type == PT_DYNAMIC)
            preload_check_read_needed(elf, &h, loadable);
    }
    loadable->traced = strstr(loadable->needed, "libpoet.so") ||
                       preload_check_defines_symbol(elf, SHT_SYMTAB, "poet_traced_unit");
    if (preload_check_is_go(elf))
        return "it is a Go program, and the C library does not know goroutines";
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

/* ---- check: files ---- */

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
static bool preload_check_is_script(int fd, char *interpreter, size_t size)
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
static const char *preload_check_file(const char *path, struct preload_check *loadable,
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
    else if (scripts < SCRIPTS_MOST && preload_check_is_script(fd, interpreter, sizeof interpreter))
        why = preload_check_file(interpreter, loadable, scripts + 1);
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
    const char *reason = preload_check_file(loadable->path, loadable, 0);
    if (reason)
        snprintf(why, size, "%s", reason);
    return !reason;
}

/* ---- libraries ---- */

#define LINE_BYTES 1024

struct preload_rules {
    char library[PATH_MAX];
    char needs[LINE_BYTES], starts[LINE_BYTES], starter[LINE_BYTES], also[LINE_BYTES];
    bool otherwise, always;
};

static void preload_read_rules(struct preload_rules *r, const char *path)
{
    char line[LINE_BYTES];
    size_t n = strlen(path) - strlen(".preload");
    *r = (struct preload_rules){0};
    snprintf(r->library, sizeof r->library, "%.*s.so", (int)n, path);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        const char *rest = line + strcspn(line, " ");
        const struct {
            const char *word;
            char *into;
        } words[] = {{"needs ", r->needs},
                     {"starts ", r->starts},
                     {"starter ", r->starter},
                     {"also ", r->also}};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
                snprintf(words[i].into, LINE_BYTES, "%s", rest + 1);
        r->otherwise |= strcmp(line, "otherwise") == 0;
        r->always |= strcmp(line, "always") == 0;
    }
    if (f)
        fclose(f);
}

/* Returns whether any of the names matches any of the patterns; both are separated by spaces. */
static bool preload_matches_pattern(const char *names, const char *patterns)
{
    char name[PATH_MAX], pattern[256];
    for (const char *n = names; *n; n += strcspn(n, " "), n += *n == ' ')
        for (const char *p = patterns; *p; p += strcspn(p, " "), p += *p == ' ') {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(n, " "), n);
            snprintf(pattern, sizeof pattern, "%.*s", (int)strcspn(p, " "), p);
            if (*name && *pattern && fnmatch(pattern, name, 0) == 0)
                return true;
        }
    return false;
}

static const char *preload_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Why a library is loaded, strongest first: only the libraries with the strongest reason are. */
enum preload_class { LINKED, STARTED, OTHERWISE, NOT };

static enum preload_class preload_classify_command(const struct preload_rules *r,
                                                   char *const *arguments)
{
    enum preload_class asked = r->otherwise ? OTHERWISE : NOT;
    for (unsigned i = 0; arguments[i] && i < 256; i++) {
        struct preload_check loadable;
        char why[256], real[PATH_MAX];
        bool found,
            starts = i == 0 && preload_matches_pattern(preload_base_name(arguments[0]), r->starts);
        preload_check_program(arguments[i], &loadable, &found, why, sizeof why);
        if (found && !starts && preload_matches_pattern(loadable.needed, r->needs))
            return LINKED;
        if (found && starts && realpath(loadable.path, real) &&
            preload_matches_pattern(preload_base_name(real), r->starter))
            asked = STARTED;
    }
    return asked;
}

static bool preload_is_left_out(const struct preload_rules *r, const char *without)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "libpoet-%s.so", without ? without : "");
    return strcmp(preload_base_name(r->library), name) == 0;
}

static void preload_append_library(char *list, size_t size, const char *what)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, " %s", what);
}

bool preload_is_installed(const char *directory, const char *name)
{
    static const char *const folders[] = {"poet/", ""};
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%slibpoet-%s.so", directory, folders[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

void preload_print(const char *directory)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/{poet/,}libpoet-*.preload", directory);
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *name = preload_base_name(found.gl_pathv[i]) + strlen("libpoet-");
            printf("%.*s\n", (int)(strlen(name) - strlen(".preload")), name);
        }
    globfree(&found);
}

void preload_add(char *list, size_t size, const char *directory, char *const *arguments,
                 const char *without)
{
    char pattern[PATH_MAX];
    struct preload_rules r;
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/{poet/,}libpoet-*.preload", directory);
    if (glob(pattern, GLOB_BRACE, NULL, &found) != 0)
        return;
    enum preload_class strongest = NOT;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        preload_read_rules(&r, found.gl_pathv[i]);
        enum preload_class asked = preload_classify_command(&r, arguments);
        strongest = asked < strongest ? asked : strongest;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        preload_read_rules(&r, found.gl_pathv[i]);
        bool wanted =
            r.always || (strongest != NOT && preload_classify_command(&r, arguments) == strongest);
        if (!wanted || preload_is_left_out(&r, without) || access(r.library, R_OK) != 0)
            continue;
        preload_append_library(list, size, r.library);
        if (strongest == STARTED && !r.always)
            preload_append_library(list, size, r.also);
    }
    globfree(&found);
}
