/* LD_PRELOAD of programs that this process becomes or starts: libpoet is preloaded only if the
 * program's ELF file supports it, after a sanitizer that must come first. */
#define _GNU_SOURCE
#include "clients/libpoet/core/child_preload.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/environment.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD="
#define VARIABLE_BYTES (sizeof VARIABLE - 1)
#define MOST_BYTES 65536u /* of an environment that is changed, on the stack of its caller */
#define MOST_HEADERS 24u

/* ---- LD_PRELOAD: names divided by blanks and colons ---- */

static size_t child_preload_name(const char *at) { return strcspn(at, " :"); }

static bool child_preload_is_ours(const char *at)
{
    size_t size = child_preload_name(at);
    const char *base = at;
    for (size_t i = 0; i < size; i++)
        base = at[i] == '/' ? at + i + 1 : base;
    return strncmp(base, "libpoet", 7) == 0 && base + 7 <= at + size;
}

static bool child_preload_is_sanitizer(const char *at)
{
    static const char *const names[] = {"libasan.so", "liblsan.so", "libhwasan.so", "libtsan.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(at, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static const char *child_preload_first_own(const char *list)
{
    for (const char *at = list; *at; at += child_preload_name(at), at += *at != 0)
        if (child_preload_is_ours(at))
            return at;
    return NULL;
}

/* ---- ELF files ---- */

struct child_preload_file {
    int fd;
    unsigned count;
    ElfW(Phdr) headers[MOST_HEADERS];
};

static bool child_preload_read(int fd, void *into, size_t size, uint64_t at)
{
    return pread(fd, into, size, (off_t)at) == (ssize_t)size;
}

static bool child_preload_text(const struct child_preload_file *f, uint64_t address, char *into,
                               size_t size)
{
    memset(into, 0, size);
    for (unsigned i = 0; i < f->count; i++) {
        const ElfW(Phdr) *h = &f->headers[i];
        if (h->p_type == PT_LOAD && address >= h->p_vaddr && address - h->p_vaddr < h->p_filesz)
            return pread(f->fd, into, size - 1, (off_t)(h->p_offset + (address - h->p_vaddr))) > 0;
    }
    return false;
}

static uint64_t child_preload_dynamic(const struct child_preload_file *f, const ElfW(Phdr) * part,
                                      unsigned n, ElfW(Dyn) * d)
{
    return (n + 1) * sizeof *d <= part->p_filesz &&
           child_preload_read(f->fd, d, sizeof *d, part->p_offset + n * sizeof *d) &&
           d->d_tag != DT_NULL;
}

/* Finds a sanitizer among the libraries that the file is linked with, else "". */
static void child_preload_needed(const struct child_preload_file *f, const ElfW(Phdr) * part,
                                 char name[64])
{
    ElfW(Dyn) d;
    uint64_t strings = 0;
    for (unsigned i = 0; child_preload_dynamic(f, part, i, &d); i++)
        strings = d.d_tag == DT_STRTAB ? d.d_un.d_ptr : strings;
    for (unsigned i = 0; child_preload_dynamic(f, part, i, &d); i++)
        if (d.d_tag == DT_NEEDED && child_preload_text(f, strings + d.d_un.d_val, name, 64) &&
            child_preload_is_sanitizer(name))
            return;
    *name = 0;
}

/* Returns false if libpoet cannot be loaded there. */
static bool child_preload_check_elf(int fd, const ElfW(Ehdr) * head, char sanitizer[64])
{
    extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
    struct child_preload_file f = {.fd = fd, .count = head->e_phnum};
    char text[64];
    bool dynamic = false;
    if (head->e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
        head->e_machine != __ehdr_start.e_machine)
        return false;
    if (f.count > MOST_HEADERS ||
        !child_preload_read(fd, f.headers, f.count * sizeof *f.headers, head->e_phoff))
        return true;
    for (unsigned i = 0; i < f.count; i++) {
        const ElfW(Phdr) *h = &f.headers[i];
        if (h->p_type == PT_DYNAMIC)
            child_preload_needed(&f, h, sanitizer);
        if (h->p_type != PT_INTERP)
            continue;
        dynamic = true;
        if (child_preload_text(&f, h->p_vaddr, text, sizeof text) && strstr(text, "ld-musl"))
            return false;
    }
    return dynamic && strncmp(sanitizer, "libtsan", 7) != 0;
}

/* Checks a file, or the interpreter of a script. A file that cannot be read is assumed to be
 * supported. */
static bool child_preload_supports(const char *path, char sanitizer[64])
{
    union {
        ElfW(Ehdr) head;
        char line[256];
    } begin = {.line = {0}};
    for (int tries = 0; tries < 3; tries++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t n = fd >= 0 ? pread(fd, begin.line, sizeof begin.line - 1, 0) : 0;
        bool elf = n > (ssize_t)sizeof begin.head && memcmp(begin.line, ELFMAG, SELFMAG) == 0;
        bool bears = !elf || child_preload_check_elf(fd, &begin.head, sanitizer);
        if (fd >= 0)
            close(fd);
        if (n < 3 || strncmp(begin.line, "#!", 2) != 0)
            return bears;
        begin.line[n] = 0;
        char *name = begin.line + 2 + strspn(begin.line + 2, " \t");
        name[strcspn(name, " \t\r\n")] = 0;
        path = name;
    }
    return true;
}

/* Returns whether each library of Poet's can be opened from here: elsewhere it may have been
 * another root. */
static bool child_preload_file_exists(const char *list)
{
    char path[PATH_MAX];
    for (const char *at = list; *at; at += child_preload_name(at), at += *at != 0) {
        size_t size = child_preload_name(at);
        if (!child_preload_is_ours(at) || size >= sizeof path || !memchr(at, '/', size))
            continue;
        memcpy(path, at, size);
        path[size] = 0;
        if (access(path, R_OK) != 0)
            return false;
    }
    return true;
}

/* ---- what is changed ---- */

bool child_preload_check(const char *path, char *const *environment,
                         struct child_preload_change *change)
{
    size_t count = 0, at = SIZE_MAX;
    if (!path || !environment || environment_is_unsafe() || !seccomp_allows(ALLOWED_PROGRAMS))
        return false;
    for (; environment[count]; count++)
        if (at == SIZE_MAX && strncmp(environment[count], VARIABLE, VARIABLE_BYTES) == 0)
            at = count;
    const char *list = at == SIZE_MAX ? "" : environment[at] + VARIABLE_BYTES;
    const char *ours = child_preload_first_own(list);
    if (!ours)
        return false;
    int saved = errno;
    *change = (struct child_preload_change){.environment = environment, .at = at};
    change->without_ours =
        !child_preload_supports(path, change->sanitizer) || !child_preload_file_exists(list);
    if (change->without_ours)
        *change->sanitizer = 0;
    errno = saved;
    change->bytes = (count + 1) * sizeof(char *) + VARIABLE_BYTES + sizeof change->sanitizer + 1 +
                    strlen(list) + 1;
    size_t wanted = strlen(change->sanitizer);
    bool same =
        wanted ? strncmp(list, change->sanitizer, wanted) == 0 && child_preload_name(list) == wanted
               : !(ours != list && child_preload_is_sanitizer(list));
    return change->bytes <= MOST_BYTES && (change->without_ours || !same);
}

/* Appends "/NAME" to the first directory of a list; nothing to an empty one, which is the current
 * directory. Returns false if it is not the path of a file that can be executed. */
static bool child_preload_is_program(char path[PATH_MAX], const char *list, const char *name)
{
    size_t n = strcspn(list, ":"), size = strlen(name);
    if (n + size + 4 >= PATH_MAX)
        return false;
    memcpy(path, list, n);
    path[n] = '/';
    char *end = path + n + (n != 0);
    memcpy(end, name, size + 1);
    if (access(path, X_OK) != 0)
        return false;
    memcpy(end + size, "/.", 3);
    bool is_directory = access(path, X_OK) == 0;
    end[size] = 0;
    return !is_directory;
}

bool child_preload_check_in_path(const char *name, char *const *environment,
                                 struct child_preload_change *change)
{
    char path[PATH_MAX];
    if (!name || strchr(name, '/') || !seccomp_allows(ALLOWED_PROGRAMS))
        return child_preload_check(name, environment, change);
    const char *at = environment_get("PATH");
    int saved = errno;
    bool is = child_preload_is_program(path, at = at ? at : "/bin:/usr/bin", name);
    while (!is && (at = strchr(at, ':')) != NULL)
        is = child_preload_is_program(path, ++at, name);
    errno = saved;
    return is && child_preload_check(path, environment, change);
}

/* Writes the list for the program; returns its end. Sanitizers in front of the first library of
 * Poet's were added for another program. */
static char *child_preload_write_list(const struct child_preload_change *c, const char *list,
                                      char *to)
{
    const char *ours = child_preload_first_own(list);
    char *begin = to;
    to = stpcpy(to, c->sanitizer);
    for (const char *at = list; *at; at += child_preload_name(at), at += *at != 0) {
        size_t size = child_preload_name(at);
        if (!size || (at < ours && child_preload_is_sanitizer(at)) ||
            (c->without_ours && child_preload_is_ours(at)))
            continue;
        if (to != begin)
            *to++ = ' ';
        memcpy(to, at, size);
        to += size;
    }
    *to = 0;
    return to;
}

char **child_preload_write(const struct child_preload_change *c, void *room)
{
    char **environment = room;
    size_t count = 0, n = 0;
    while (c->environment[count])
        count++;
    char *text = (char *)(environment + count + 1);
    memcpy(text, VARIABLE, VARIABLE_BYTES);
    bool any = child_preload_write_list(c, c->environment[c->at] + VARIABLE_BYTES,
                                        text + VARIABLE_BYTES) != text + VARIABLE_BYTES;
    for (size_t i = 0; i < count; i++)
        if (i != c->at)
            environment[n++] = c->environment[i];
        else if (any)
            environment[n++] = text;
    environment[n] = NULL;
    return environment;
}

void child_preload_begin(void)
{
    const char *list = environment_get("LD_PRELOAD");
    char changed[4 * PATH_MAX];
    const struct child_preload_change none = {.at = 0};
    const char *ours = list ? child_preload_first_own(list) : NULL;
    if (!ours || ours == list || !child_preload_is_sanitizer(list) ||
        strlen(list) >= sizeof changed)
        return;
    child_preload_write_list(&none, list, changed);
    environment_set("LD_PRELOAD", changed);
}
