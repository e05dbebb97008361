#define _GNU_SOURCE
#include "clients/connection/line_labels.h"
#include "base/map.h"
#include "base/alloc.h"
#include "base/text_hash.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool is_exact(const char *symbol)
{
    const char *plus = strrchr(symbol, '+');
    return !plus || plus[1 + strspn(plus + 1, "0123456789")] != 0;
}

/* Returns the class of a constructor, "Buffer<a::b>" of "N::Buffer<a::b>::Buffer", or NULL for
 * another function. Valid until the next call. */
static const char *constructed_class(const char *function)
{
    static char text[128];
    const char *class = NULL, *name = function; /* the last two parts of the name */
    unsigned depth = 0;
    for (const char *c = function; *c; c++) {
        depth += *c == '<' ? 1u : *c == '>' && depth ? UINT32_MAX : 0u;
        if (!depth && c[0] == ':' && c[1] == ':') {
            class = name;
            name = ++c + 1;
        }
    }
    size_t n = class ? (size_t)(name - class) - 2 : 0, plain = class ? strcspn(class, "<:") : 0;
    if (!n || n >= sizeof text || strlen(name) != plain || strncmp(name, class, plain) != 0)
        return NULL;
    memcpy(text, class, n);
    text[n] = 0;
    return text;
}

/* Returns the entry function of a thread; or else the variable that is or contains the object; or
 * else the argument of the call that created it, or its location. */
static const char *looked_up(const struct line_metadata *line, const struct target_line_type *kind,
                             struct symbolizer *sites)
{
    uint32_t process = line->is.process;
    if (kind && kind->by_constructor && line->is.entry) {
        const char *built =
            constructed_class(symbolizer_frame(sites, process, line->is.entry, 0).function);
        return built ? built : kind->title;
    }
    const char *name = line->is.entry ? symbolizer_symbol(sites, process, line->is.entry) : NULL;
    if (name && is_exact(name))
        return name;
    name = line->is.object ? symbolizer_symbol(sites, process, line->is.object) : NULL;
    if (name || !line->is.entry)
        return name;
    name = symbolizer_argument(sites, process, line->is.entry);
    return name ? name : symbolize(sites, process, line->is.entry).place;
}

const char *line_label_text(const struct trace_metadata *book, struct symbolizer *sites,
                            uint32_t number)
{
    static char text[32];
    const struct line_metadata *line = metadata_line(book, number);
    if (!line)
        return "?";
    if (*line->is.name)
        return line->is.name;
    const char *name = looked_up(line, metadata_line_type(book, number), sites);
    uint64_t address = line->is.entry ? line->is.entry : line->is.object;
    if (name)
        return name;
    if (!address)
        return line->is.kind;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    return text;
}

static bool is_numbered(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return kind && kind->numbered && !book->some; /* numbers need all lines */
}

/* Returns the name; for lines without one the title of their kind, if it numbers its lines. */
static const char *plain_name(const struct trace_metadata *book, struct symbolizer *sites,
                              uint32_t line)
{
    const char *name = line_label_text(book, sites, line);
    const struct target_line_type *kind = metadata_line_type(book, line);
    return strncmp(name, "0x", 2) == 0 && is_numbered(book, line) ? kind->title : name;
}

static void line_label_one(struct trace_metadata *book, struct symbolizer *sites, uint32_t i,
                           enum labels how)
{
    struct line_metadata *line = metadata_line(book, i);
    const char *letter = metadata_line_letter(book, i), *name = line_label_text(book, sites, i);
    line->twin = 0;
    if (how == LABELS_ID)
        line->label = xasprintf("%s:%s #%u", letter, name, i);
    else if (how == LABELS_ADDRESS && line->is.object && strncmp(name, "0x", 2) != 0)
        line->label =
            xasprintf("%s:%s (0x%llx)", letter, name, (unsigned long long)line->is.object);
    else if (how == LABELS_NAME && is_numbered(book, i))
        line->label = xasprintf("%s:%s", letter, plain_name(book, sites, i)),
        line->own = (uint32_t)strlen(line->label), line->twin = 1;
    else
        line->label = xasprintf("%s:%s", letter, name);
}

/* Returns the file name of a line's program; NULL: it belongs to several, or is unknown. */
static const char *line_label_program(const struct trace_metadata *book, uint32_t i)
{
    const struct line_metadata *line = metadata_line(book, i);
    const struct target_line_type *kind = metadata_line_type(book, i);
    if ((kind && kind->everywhere) || line->is.process >= book->process_count)
        return NULL;
    const char *path = book->processes[line->is.process].path, *slash = strrchr(path, '/');
    path = slash ? slash + 1 : path;
    return *path ? path : NULL;
}

/* Labels that occur in several programs. */
struct label_names {
    struct map program; /* by hash of a label: hash of the first program that has it */
    struct map several; /* by hash of a label: not NULL if another program has it, too */
};

static void line_label_note_program(struct label_names *names, uint64_t name, const char *program)
{
    uint64_t hash = program ? text_hash_add(TEXT_HASH_EMPTY, program, strlen(program)) | 1 : 0;
    uintptr_t first = (uintptr_t)map_get(&names->program, name, 0);
    if (hash && !first)
        map_put(&names->program, name, 0, (void *)(uintptr_t)hash);
    else if (hash && first != (uintptr_t)hash)
        map_put(&names->several, name, 0, names);
}

static bool line_label_is_numbered(const struct line_metadata *line)
{
    return line && line->label && line->twin;
}

static uint64_t line_label_hash(const struct line_metadata *line)
{
    return text_hash_add(TEXT_HASH_EMPTY, line->label, line->own);
}

/* Returns "T:main", or "T:main (server)" if several programs have such a line; new memory. */
static char *line_label_of_program(const struct trace_metadata *book, uint32_t i,
                                   const struct label_names *names)
{
    const struct line_metadata *line = metadata_line(book, i);
    const char *program =
        map_get(&names->several, line_label_hash(line), 0) ? line_label_program(book, i) : NULL;
    return program ? xasprintf("%.*s (%s)", (int)line->own, line->label, program)
                   : xstrndup(line->label, line->own);
}

/* Makes labels unique: w, w#2, w#3 in the order of the lines; w (client), w (server)#2 in several
 * programs. */
static void number_twins(struct trace_metadata *book)
{
    struct map seen = {0}; /* by hash of a label: number of lines so far */
    struct label_names names = {{0}, {0}};
    for (uint32_t i = 1; i <= book->line_count; i++)
        if (line_label_is_numbered(metadata_line(book, i)))
            line_label_note_program(&names, line_label_hash(metadata_line(book, i)),
                                    line_label_program(book, i));
    for (uint32_t i = 1; i <= book->line_count; i++) {
        struct line_metadata *line = metadata_line(book, i);
        if (!line_label_is_numbered(line))
            continue;
        char *label = line_label_of_program(book, i, &names), *bare = label;
        size_t n = strlen(bare);
        uint64_t hash = text_hash_add(TEXT_HASH_EMPTY, bare, n);
        line->twin = 1 + (uint32_t)(uintptr_t)map_get(&seen, hash, n);
        map_put(&seen, hash, n, (void *)(uintptr_t)line->twin);
        if (line->twin > 1) {
            label = xasprintf("%s#%u", bare, line->twin);
            free(bare);
        }
        free(line->label);
        line->label = label;
    }
    map_free(&seen);
    map_free(&names.program);
    map_free(&names.several);
}

bool line_label_matches(const struct trace_metadata *book, struct symbolizer *sites, uint32_t line,
                        const char *pattern)
{
    const char *name = line_label_text(book, sites, line), *label = metadata_label(book, line),
               *colon = strchr(label, ':');
    bool is = fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, label, 0) == 0 ||
              (colon && fnmatch(pattern, colon + 1, 0) == 0);
    if (is)
        return true;
    char *lettered = xasprintf("%s:%s", metadata_line_letter(book, line), name);
    is = fnmatch(pattern, lettered, 0) == 0;
    free(lettered);
    return is;
}

void line_labels_assign(struct trace_metadata *book, struct symbolizer *sites, uint32_t *known,
                        enum labels how)
{
    bool any = false;
    for (; *known < book->process_count; ++*known)
        symbolizer_process(sites, *known, &book->processes[*known]);
    if (!book->unlabelled)
        return;
    book->unlabelled = false;
    for (uint32_t i = 1; i <= book->line_count; i++) {
        const struct line_metadata *line = metadata_line(book, i);
        if (!line || line->label)
            continue;
        line_label_one(book, sites, i, how);
        any = true;
    }
    if (any && how == LABELS_NAME)
        number_twins(book);
}

void line_labels_reassign(struct trace_metadata *book, struct symbolizer *sites, uint32_t *known,
                          enum labels how)
{
    for (uint32_t i = 1; i <= book->line_count; i++) {
        struct line_metadata *line = metadata_line(book, i);
        if (!line)
            continue;
        free(line->label);
        line->label = NULL;
    }
    book->unlabelled = true;
    line_labels_assign(book, sites, known, how);
}
