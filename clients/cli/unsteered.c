#define _GNU_SOURCE
#include "clients/cli/unsteered.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void uncontrolled_event(struct uncontrolled_events *u, const struct trace_metadata *book,
                        const struct event_info *e)
{
    const char *type = metadata_type_name(book, e->type);
    if (strcmp(type, "process_exit") == 0)
        map_put(&u->exits, e->at.line, e->at.number, u);
    if (strcmp(type, "handler") != 0 && strcmp(type, "signal_received") != 0)
        return;
    for (uint32_t i = 0; i < e->partner_count; i++)
        if (map_get(&u->exits, e->partners[i].line, e->partners[i].number))
            map_put(&u->children, e->at.line, e->at.number, u);
}

void uncontrolled_free(struct uncontrolled_events *u)
{
    map_free(&u->exits);
    map_free(&u->children);
}

/* ---- likely source ---- */

static const char *uncontrolled_reason(const char *type)
{
    static const char *const reasons[][2] = {
        {"handler", "signal arrival"},
        {"signal_received", "signal arrival"},
        {"readable", "descriptor readiness order (poll, epoll)"},
        {"waitpid", "child exit order"},
        {"reaped", "child exit order"},
        {"choose", "number of alternatives of a recorded choice"},
        {NULL, NULL}};
    for (size_t i = 0; reasons[i][0]; i++)
        if (strcmp(reasons[i][0], type) == 0)
            return reasons[i][1];
    return NULL;
}

/* Returns the likely source; new memory. Of the events before the divergence only signals count,
 * since what follows depends on their arrival. */
static char *uncontrolled_likely(const struct uncontrolled_events *u,
                                 const struct trace_metadata *book,
                                 const struct uncontrolled_place *p)
{
    const char *why = uncontrolled_reason(p->did);
    if (why)
        return xstrdup(why);
    for (uint32_t i = 0; i < p->was_count; i++) {
        const struct event_info *e = &p->was[i];
        char at[48];
        why = uncontrolled_reason(metadata_type_name(book, e->type));
        if (!why || (i && strcmp(why, "signal arrival") != 0))
            continue;
        bool child = map_get(&u->children, e->at.line, e->at.number) != NULL;
        event_id_print(at, sizeof at, e->at);
        return xasprintf("%s (%s)", child ? "SIGCHLD arrival" : why, at);
    }
    return NULL;
}

/* ---- possible sources ---- */

static bool uncontrolled_has_module(const struct process_info *p, const char *name)
{
    for (uint32_t i = 0; i <= p->module_count; i++) {
        const char *path = i ? p->modules[i - 1].path : p->path, *slash = strrchr(path, '/');
        if (strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

/* Returns whether a program's file contains a word, as RUST_BACKTRACE in Rust's standard
 * library. */
static bool uncontrolled_file_contains(const char *path, const char *word)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    bool bears = map != MAP_FAILED && memmem(map, (size_t)st.st_size, word, strlen(word)) != NULL;
    if (map != MAP_FAILED)
        munmap(map, (size_t)st.st_size);
    if (fd >= 0)
        close(fd);
    return bears;
}

static void uncontrolled_add(FILE *to, const char *what, bool *any)
{
    fprintf(to, "%s%s", *any ? ", " : "", what);
    *any = true;
}

static void uncontrolled_possible(const struct trace_metadata *book,
                                  const struct uncontrolled_place *p, FILE *to)
{
    bool python = false, rust = false, any = false;
    for (uint32_t i = 0; i < book->process_count; i++) {
        const struct process_info *process = &book->processes[i];
        python |= uncontrolled_has_module(process, "libpython") ||
                  uncontrolled_has_module(process, "python");
        rust |= uncontrolled_file_contains(process->path, "RUST_BACKTRACE");
    }
    if (!p->input)
        uncontrolled_add(to, "input, time and random numbers (poet record --with-input)", &any);
    if (p->input && p->streams)
        uncontrolled_add(to, "stdio input", &any);
    if (python)
        uncontrolled_add(to, "Python's hash seed (PYTHONHASHSEED=0) and its thread switches", &any);
    if (rust)
        uncontrolled_add(to, "Rust's hash seeds", &any);
    uncontrolled_add(to, "addresses, process ids", &any);
    uncontrolled_add(to, "data shared without a traced call", &any);
}

char *uncontrolled_report(const struct uncontrolled_events *u, const struct trace_metadata *book,
                          const struct uncontrolled_place *p)
{
    char *likely = uncontrolled_likely(u, book, p), *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        out_of_memory(1);
    if (likely)
        fprintf(to, "likely %s; ", likely);
    fputs("possible: ", to);
    uncontrolled_possible(book, p, to);
    fclose(to);
    free(likely);
    return text;
}
