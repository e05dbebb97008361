/* The result of a replay, as text. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/replay.h"
#include "wire/recorded_input.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *replay_result_line_label(const struct replay_run *r, uint32_t line)
{
    return line && line <= r->script->line_count ? metadata_label(&r->subject.source.book, line)
                                                 : "another line";
}

/* Prints "enter on M:m (event 4:12, two.c:5)". */
static void replay_result_describe_event(struct replay_run *r, const struct event_info *e, FILE *f)
{
    const struct trace_metadata *book = &r->subject.source.book;
    char at[48];
    event_id_print(at, sizeof at, e->at);
    const char *site = command_source_site(&r->subject, e);
    fprintf(f, "%s on %s (event %s%s%s)", metadata_type_name(book, e->type),
            replay_result_line_label(r, e->about ? e->about : e->at.line), at, *site ? ", " : "",
            site);
}

/* Describes a divergence in which a thread received another event than the recorded one. */
static void replay_result_describe_received(struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    const char *all = (const char *)r->script;
    const struct schedule_line *lines = (const void *)(all + r->script->lines_at);
    const struct schedule_event *was = (const void *)(all + r->script->events_at);
    fprintf(f, "%s received event %u of %s", replay_result_line_label(r, end->thread), end->number,
            replay_result_line_label(r, end->line));
    if (end->thread <= r->script->line_count && end->event < lines[end->thread].count) {
        was += lines[end->thread].first + end->event;
        fprintf(f, ", recorded was event %u of %s", was->after_number,
                replay_result_line_label(r, was->after_line));
    }
    fputs(", for ", f);
}

static void replay_result_describe_divergence(struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    const char *label = replay_result_line_label(r, end->thread);
    if (end->why == SCHEDULE_END_OTHER_EVENT)
        fprintf(f, "%s performed %s on %s, recorded was ", label, end->did,
                replay_result_line_label(r, end->line));
    else if (end->why == SCHEDULE_END_INPUT)
        fprintf(f, "%s called %s (%u), recorded was %s (%u), before ", label, end->did, end->by,
                recorded_input_name(end->line), end->number);
    else if (end->why == SCHEDULE_END_FOREIGN_THREAD)
        fprintf(f, "%s reached ", label);
    else if (end->why == SCHEDULE_END_RECEIVED)
        replay_result_describe_received(r, f);
    else
        fprintf(f, "%s is waiting for event %u on %s before ", label, end->number,
                replay_result_line_label(r, end->line));
}

static void replay_result_describe_end(const struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    const char *by = end->by ? replay_result_line_label(r, end->by) : "an unknown thread";
    if (end->why == SCHEDULE_END_NO_WAKER)
        fprintf(f, "; %s should perform it, but is blocked, too", by);
    else if (end->why == SCHEDULE_END_TIMEOUT)
        fprintf(f, "; %s should perform it but has not reached it", by);
    else if (end->why == SCHEDULE_END_FOREIGN_THREAD)
        fprintf(f, " as number %u on %s: a thread that is not in the trace was there first",
                end->number, replay_result_line_label(r, end->line));
}

static void replay_result_describe_exit(struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    struct event_info was;
    replay_result_describe_divergence(r, f);
    if (schedule_builder_event_at(r->plan, end->thread, end->event, &was))
        replay_result_describe_event(r, &was, f);
    else
        fputs("no further event", f);
    replay_result_describe_end(r, f);
}

/* Describes how far the replay got, and how it ended. */
static void replay_result_describe(struct replay_run *r, const struct replay_result *o,
                                   uint64_t done, FILE *f)
{
    unsigned long long all = r->script->event_count;
    if (o->left) {
        fputs("divergence: ", f);
        replay_result_describe_exit(r, f);
        fputs("; ", f);
    } else if (r->led) {
        fprintf(f, "%s: ",
                o->good ? "order swapped" : "order not swapped: the other event did not occur");
    } else if (done < all) {
        fputs("ended early: ", f);
    } else {
        fprintf(f, "no divergence in %llu event%s", all, plural_suffix(all));
        if (o->more)
            fprintf(f, " (%llu additional record%s)", (unsigned long long)o->more,
                    plural_suffix(o->more));
        return;
    }
    fprintf(f, "%llu of %llu events were replayed", (unsigned long long)done, all);
}

void replay_result_make(struct replay_result *o, struct replay_run *r, uint64_t done, int status)
{
    struct event_info was;
    *o = (struct replay_result){.left = atomic_load(&r->script->state) == SCHEDULE_LEFT,
                                .more = r->led ? 0 : atomic_load(&r->script->more)};
    o->good =
        !o->left && (r->led ? hold_points_order_occurred(r->led) : done >= r->script->event_count);
    if (o->left &&
        schedule_builder_event_at(r->plan, r->script->end.thread, r->script->end.event, &was))
        o->at = was.at;
    size_t size = 0;
    FILE *f = open_memstream(&o->text, &size);
    command_source_label_lines(&r->subject);
    replay_result_describe(r, o, done, f);
    if (WIFSIGNALED(status))
        fprintf(f, "; the program was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(f, "; the program's exit status is %d", WEXITSTATUS(status));
    fclose(f);
}

void replay_result_free(struct replay_result *o) { free(o->text); }

/* Uncontrolled sources of nondeterminism in a replayed run, as explanations for its first
 * divergence. */

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
