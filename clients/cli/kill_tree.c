#define _GNU_SOURCE
#include "clients/cli/kill_tree.h"

#include "base/alloc.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 100u /* maximum number of searches for processes that were created meanwhile */

struct kill_tree_processes {
    pid_t *items;
    size_t count, room;
};

static bool kill_tree_has(const struct kill_tree_processes *f, pid_t pid)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i] == pid)
            return true;
    return false;
}

/* Stops a process, so that it can neither exit and orphan its children nor create more. */
static void kill_tree_stop_and_add(struct kill_tree_processes *f, pid_t pid)
{
    f->items = array_reserve(f->items, &f->room, f->count + 1, sizeof *f->items);
    f->items[f->count++] = pid;
    kill(pid, SIGSTOP);
}

/* Returns 0 if there is no such process. */
static pid_t kill_tree_parent(pid_t pid)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    const char *name_end = strrchr(text, ')'); /* the name may contain parentheses */
    return name_end && strlen(name_end) > 4 ? (pid_t)strtol(name_end + 4, NULL, 10) : 0;
}

/* Adds the children of the processes found so far; returns whether there are new ones. */
static bool kill_tree_add_children(struct kill_tree_processes *f)
{
    size_t before = f->count;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && !kill_tree_has(f, pid) && kill_tree_has(f, kill_tree_parent(pid)))
            kill_tree_stop_and_add(f, pid);
    }
    if (d)
        closedir(d);
    return f->count > before;
}

void kill_tree_run(pid_t child)
{
    struct kill_tree_processes f = {0};
    kill_tree_stop_and_add(&f, child);
    for (unsigned round = 0; round < ROUNDS && kill_tree_add_children(&f); round++)
        ;
    kill(-child, SIGKILL);
    for (size_t i = 0; i < f.count; i++)
        kill(f.items[i], SIGKILL);
    free(f.items);
}
