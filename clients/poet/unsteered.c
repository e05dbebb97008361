#define _GNU_SOURCE
#include "clients/poet/unsteered.h"

#include "memory/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void unsteered_event(struct unsteered *u, const struct book *book, const struct shown_event *e)
{
    const char *type = book_type(book, e->type);
    if (strcmp(type, "exit") == 0)
        map_put(&u->exits, e->at.line, e->at.number, u);
    if (strcmp(type, "handler") != 0 && strcmp(type, "signalled") != 0)
        return;
    for (uint32_t i = 0; i < e->partner_count; i++)
        if (map_get(&u->exits, e->partners[i].line, e->partners[i].number))
            map_put(&u->children, e->at.line, e->at.number, u);
}

void unsteered_free(struct unsteered *u)
{
    map_free(&u->exits);
    map_free(&u->children);
}

/* ---- what is likely ---- */

static const char *unsteered_reason(const char *type)
{
    static const char *const reasons[][2] = {
        {"handler", "when a signal comes"},
        {"signalled", "when a signal comes"},
        {"readable", "which descriptor poll or epoll finds ready first"},
        {"reap", "which child ends first"},
        {"reaped", "which child ends first"},
        {"choose", "among how many the program chose"},
        {NULL, NULL}};
    for (size_t i = 0; reasons[i][0]; i++)
        if (strcmp(reasons[i][0], type) == 0)
            return reasons[i][1];
    return NULL;
}

/* (The thread's last events before the place count where they are of signals: what follows
 * depends on when one came.) */
static char *unsteered_likely(const struct unsteered *u, const struct book *book,
                              const struct unsteered_place *p)
{
    const char *why = unsteered_reason(p->did);
    if (why)
        return memory_copied(why);
    for (uint32_t i = 0; i < p->was_count; i++) {
        const struct shown_event *e = &p->was[i];
        char at[48];
        why = unsteered_reason(book_type(book, e->type));
        if (!why || (i && strcmp(why, "when a signal comes") != 0))
            continue;
        bool child = map_get(&u->children, e->at.line, e->at.number) != NULL;
        ref_print(at, sizeof at, e->at);
        return memory_printed("%s (%s)", child ? "when SIGCHLD comes" : why, at);
    }
    return NULL;
}

/* ---- what is possible ---- */

static bool unsteered_has_module(const struct shown_process *p, const char *name)
{
    for (uint32_t i = 0; i <= p->module_count; i++) {
        const char *path = i ? p->modules[i - 1].path : p->path, *slash = strrchr(path, '/');
        if (strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

/* Whether the file of a program bears this word, as Rust's standard library does. */
static bool unsteered_bears(const char *path, const char *word)
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

static void unsteered_add(FILE *to, const char *what, bool *any)
{
    fprintf(to, "%s%s", *any ? ", " : "", what);
    *any = true;
}

static void unsteered_possible(const struct book *book, const struct unsteered_place *p, FILE *to)
{
    bool python = false, rust = false, any = false;
    for (uint32_t i = 0; i < book->process_count; i++) {
        const struct shown_process *process = &book->processes[i];
        python |= unsteered_has_module(process, "libpython") ||
                  unsteered_has_module(process, "python");
        rust |= unsteered_bears(process->path, "RUST_BACKTRACE");
    }
    if (!p->input)
        unsteered_add(to, "input, time and random numbers (poet record --with-input)", &any);
    if (p->input && p->streams)
        unsteered_add(to, "what C's stdio reads", &any);
    if (python)
        unsteered_add(to, "Python's hash seed (PYTHONHASHSEED=0) and its switches of threads",
                      &any);
    if (rust)
        unsteered_add(to, "Rust's hash seeds", &any);
    unsteered_add(to, "addresses, process ids", &any);
    unsteered_add(to, "data that is shared without a recorded call", &any);
}

char *unsteered_say(const struct unsteered *u, const struct book *book,
                    const struct unsteered_place *p)
{
    char *likely = unsteered_likely(u, book, p), *said = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&said, &size);
    if (!to)
        memory_is_out(1);
    if (likely)
        fprintf(to, "likely %s; ", likely);
    fputs("possible: ", to);
    unsteered_possible(book, p, to);
    fclose(to);
    free(likely);
    return said;
}
