/* Finding the files of target descriptions, and their includes. */
#define _GNU_SOURCE
#include "config/description_path.h"

#include "base/alloc.h"
#include "config/description_values.h"
#include "wire/limits.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- parts ----
 *
 * A description that includes others is kept, and sent, as one text.  Each of its parts begins with
 * a form feed, the name by which it was included, a tab, the file and the end of the line, and ends
 * with the end of a line; what is included comes first. */

bool target_part_next(char **text, const char *file, struct target_part *part)
{
    if (!*text)
        return false;
    *part = (struct target_part){"", file, *text};
    char *tab = strchr(*text, '\t'), *line = strchr(*text, '\n');
    if (**text == '\f' && tab && line && tab < line) {
        *tab = *line = 0;
        *part = (struct target_part){*text + 1, tab + 1, line + 1};
    }
    char *end = strstr(part->text, "\n\f");
    *text = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    return true;
}

/* ---- files ---- */

struct opened_description {
    char *path, *text;
    struct stat is;
    const struct opened_description *from; /* the description that includes it */
};

static void close_opened(struct opened_description *o)
{
    free(o->path);
    free(o->text);
    o->path = o->text = NULL;
}

/* Is the file open already? A description does not include itself: a user's layer has the name of
 * the description that it changes. */
static bool is_open(const struct opened_description *from, const struct stat *is)
{
    for (; from; from = from->from)
        if (from->is.st_ino == is->st_ino && from->is.st_dev == is->st_dev)
            return true;
    return false;
}

static char *read_whole(FILE *f)
{
    char *text = xmalloc(LIMIT_TARGET_BYTES + 1);
    size_t n = fread(text, 1, LIMIT_TARGET_BYTES + 1, f);
    int e = ferror(f) ? errno : 0;
    if (e || n > LIMIT_TARGET_BYTES) {
        free(text);
        errno = e ? e : EFBIG;
        return NULL;
    }
    text[n] = 0;
    return text;
}

static bool open_path(struct opened_description *o, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    if (fstat(fileno(f), &o->is) == 0 && !is_open(o->from, &o->is))
        o->text = read_whole(f);
    int e = errno;
    fclose(f);
    errno = e;
    o->path = o->text ? xstrdup(path) : NULL;
    return o->text != NULL;
}

static bool open_in(struct opened_description *o, const char *directory, const char *below,
                    const char *name)
{
    if (!directory)
        return false;
    char *path = xasprintf("%s%s/%s.conf", directory, below, name);
    bool done = open_path(o, path);
    int e = errno;
    free(path);
    errno = e;
    return done;
}

static bool open_own(struct opened_description *o, const char *name)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    return config && *config ? open_in(o, config, "/poet", name)
                             : open_in(o, getenv("HOME"), "/.config/poet", name);
}

static void find_self(char self[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
    self[n > 0 ? n : 0] = 0;
}

static bool open_installed(struct opened_description *o, const char *name)
{
    char self[PATH_MAX];
    find_self(self);
    for (char *slash = self + strlen(self); slash > self; slash--) {
        if (*slash != '/')
            continue;
        *slash = 0;
        if (open_in(o, self, "/share/poet/config", name))
            return true;
    }
    return false;
}

static bool is_path(const char *name) { return strchr(name, '/') || strstr(name, ".conf"); }

static bool open_named(struct opened_description *o, const char *name)
{
    if (open_in(o, getenv("POET_CONFIG"), "", name) || open_own(o, name) || open_installed(o, name))
        return true;
    errno = ENOENT;
    return false;
}

/* Opens a path or a name relative to the file that includes it. */
static bool open_beside(struct opened_description *o, const char *name)
{
    const char *slash = strrchr(o->from->path, '/');
    char *path =
        xasprintf("%.*s%s%s", *name == '/' || !slash ? 0 : (int)(slash + 1 - o->from->path),
                  o->from->path, name, is_path(name) ? "" : ".conf");
    bool done = open_path(o, path);
    free(path);
    return done;
}

/* ---- includes ---- */

struct joined_text {
    FILE *out;
    unsigned parts;
    size_t bytes;
};

#define DEEPEST 16
#define MOST_PARTS 64

static void description_path_append_text(struct joined_text *joined, const char *include,
                                         const struct opened_description *o, unsigned depth);

static void join_included(struct joined_text *joined, const char *name,
                          const struct opened_description *from, unsigned depth)
{
    struct opened_description o = {.from = from};
    if (depth < DEEPEST && joined->parts < MOST_PARTS &&
        (open_beside(&o, name) || (!is_path(name) && open_named(&o, name))))
        description_path_append_text(joined, name, &o, depth + 1);
    close_opened(&o);
}

static void description_path_append_text(struct joined_text *joined, const char *include,
                                         const struct opened_description *o, unsigned depth)
{
    struct arena texts = {0};
    struct description_reader quiet = {.texts = &texts};
    struct target_names names = {0};
    config_t config;
    config_init(&config);
    if (!strcasestr(o->text, "@include") && config_read_string(&config, o->text))
        description_get_name_or_names(&quiet, config_root_setting(&config), "include", &names);
    config_destroy(&config);
    for (size_t i = 0; i < names.count; i++)
        join_included(joined, names.items[i], o, depth);
    size_t n = strlen(o->text);
    if (*include || names.count)
        fprintf(joined->out, "\f%s\t%s\n%s%s", include, o->path, o->text,
                n && o->text[n - 1] == '\n' ? "" : "\n");
    else
        fputs(o->text, joined->out);
    joined->parts++;
    arena_free(&texts);
}

/* Returns the text with all that it includes, or NULL with errno if that is too long. Frees
 * o->text; *path receives o->path. */
static char *description_path_append_all(struct opened_description *o, char **path)
{
    char *text = NULL;
    size_t bytes = 0;
    struct joined_text joined = {.out = xcheck(open_memstream(&text, &bytes), sizeof(FILE))};
    description_path_append_text(&joined, "", o, 0);
    fclose(joined.out);
    free(o->text);
    *path = o->path;
    if (bytes <= LIMIT_TARGET_BYTES)
        return text;
    free(text);
    free(*path);
    *path = NULL;
    errno = EFBIG;
    return NULL;
}

char *target_load(const char *name, char **path)
{
    struct opened_description o = {0};
    *path = NULL;
    bool found = is_path(name) ? open_path(&o, name) : open_named(&o, name);
    return found ? description_path_append_all(&o, path) : NULL;
}

struct description_walk {
    void (*take)(void *user, const char *name);
    void *user;
};

static bool each_in(const struct description_walk *each, const char *directory, const char *below)
{
    glob_t found = {0};
    if (!directory || !*directory)
        return false;
    char *pattern = xasprintf("%s%s/*.conf", directory, below);
    bool any = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; any && i < found.gl_pathc; i++) {
        char *name = xstrdup(strrchr(found.gl_pathv[i], '/') + 1);
        name[strlen(name) - strlen(".conf")] = 0;
        each->take(each->user, name);
        free(name);
    }
    globfree(&found);
    free(pattern);
    return any;
}

void target_each(void (*take)(void *user, const char *name), void *user)
{
    struct description_walk each = {take, user};
    char self[PATH_MAX];
    each_in(&each, getenv("POET_CONFIG"), "");
    const char *config = getenv("XDG_CONFIG_HOME");
    if (config && *config)
        each_in(&each, config, "/poet");
    else
        each_in(&each, getenv("HOME"), "/.config/poet");
    find_self(self);
    bool any = false;
    for (char *slash = self + strlen(self); slash > self && !any; slash--)
        if (*slash == '/') {
            *slash = 0;
            any = each_in(&each, self, "/share/poet/config");
        }
}

char *target_installed(const char *name, char **path)
{
    struct opened_description o = {0};
    *path = NULL;
    bool found = !strchr(name, '/') &&
                 (open_in(&o, getenv("POET_CONFIG"), "", name) || open_installed(&o, name));
    return found ? description_path_append_all(&o, path) : NULL;
}

char *target_own_layer(const char *name, char **path)
{
    struct opened_description o = {0};
    *path = NULL;
    if (strchr(name, '/') || !open_own(&o, name))
        return NULL;
    char *text = description_path_append_all(&o, path);
    if (text && *text != '\f') { /* it includes nothing: a complete description, not a layer */
        free(text);
        free(*path);
        *path = text = NULL;
    }
    return text;
}
