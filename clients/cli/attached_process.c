#define _GNU_SOURCE
#include "clients/cli/attached_process.h"

#include "base/alloc.h"
#include "clients/snapshot/core_file.h"
#include "clients/snapshot/proc_file.h"
#include "clients/snapshot/seized_process.h"
#include "clients/snapshot/snapshot.h"
#include "clients/snapshot/thread_stack.h"
#include "clients/symbols/demangle.h"
#include "wire/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR_PROCESSES 8u /* maximum number of other processes of which places are read */
#define NAMED 4u /* maximum number of threads named in a sentence */

/* ---- labels ---- */

static const char *attached_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the name that the program gave a thread; else the function with which it began. */
static const char *attached_thread_name(const struct attached_process *a, uint32_t i)
{
    const struct snapshot_thread *t = &a->snapshot.threads[i];
    if (t->tid == a->snapshot.pid)
        return "main";
    const char *program = "";
    for (size_t k = 0; k < a->snapshot.thread_count; k++)
        if (a->snapshot.threads[k].tid == a->snapshot.pid)
            program = a->snapshot.threads[k].name;
    if (*t->name && strcmp(t->name, program) != 0)
        return t->name;
    uint32_t start = runtime_frames_start(&a->stacks[i], a->sites);
    const char *function =
        start == UINT32_MAX
            ? ""
            : symbolize_outer(a->sites, 0, a->stacks[i].frames[start].address).function;
    return *function ? function : *t->name ? t->name : "thread";
}

/* A thread of another process: its process is named, too. */
static char *attached_other_label(const struct attached_process *a, const struct wait_node *node)
{
    const struct table_process *p = process_table_find(&a->graph.processes, node->pid);
    const char *name = p ? p->name : "PID";
    return node->tid == node->pid ? xasprintf("T:main (%s %u)", name, node->pid)
                                  : xasprintf("T:%u (%s %u)", node->tid, name, node->pid);
}

/* Adds #2, #3 to labels that are there already. */
static void attached_number_labels(struct attached_process *a, size_t count)
{
    char **plain = xcalloc(count, sizeof *plain);
    for (size_t i = 0; i < count; i++) {
        unsigned same = 1;
        plain[i] = xstrdup(a->labels[i]);
        for (size_t k = 0; k < i; k++)
            same += strcmp(plain[k], plain[i]) == 0;
        if (same > 1) {
            free(a->labels[i]);
            a->labels[i] = xasprintf("%s#%u", plain[i], same);
        }
    }
    for (size_t i = 0; i < count; i++)
        free(plain[i]);
    free(plain);
}

static void attached_set_labels(struct attached_process *a)
{
    a->labels = xcalloc(a->graph.count, sizeof *a->labels);
    for (uint32_t i = 0; i < a->graph.count; i++) {
        if (i < a->snapshot.thread_count) {
            a->labels[i] = xasprintf("T:%s", attached_thread_name(a, i));
            text_mask(a->labels[i]);
        } else {
            a->labels[i] = attached_other_label(a, &a->graph.nodes[i]);
            text_mask(a->labels[i]);
        }
    }
    attached_number_labels(a, a->snapshot.thread_count);
}

static char *attached_child_label(const struct attached_process *a, const struct wait_node *node)
{
    int64_t pid = (int64_t)node->object.address;
    const struct table_process *p =
        pid > 0 ? process_table_find(&a->graph.processes, (uint32_t)pid) : NULL;
    if (pid > 0)
        return xasprintf("process %" PRId64 "%s%s%s", pid, p ? " (" : "", p ? p->name : "",
                         p ? ")" : "");
    return xstrdup(pid ? "any child process" : "a child process");
}

static char *attached_joined_label(const struct attached_process *a, const struct wait_node *node)
{
    const struct snapshot_thread *t =
        snapshot_thread_of(&a->snapshot, (uint32_t)node->object.address);
    return t ? xstrdup(a->labels[t - a->snapshot.threads])
             : xasprintf("T:%" PRIu64, node->object.address);
}

char *attached_process_object(const struct attached_process *a, const struct wait_node *node)
{
    const struct glibc_object *o = &node->object;
    const char *letter = wait_kind_letter(o->kind);
    if (!o->kind)
        return xstrdup("");
    if (o->kind == WAIT_CHILD)
        return attached_child_label(a, node);
    if (o->kind == WAIT_JOIN)
        return attached_joined_label(a, node);
    if (node->name) {
        char *label = xstrdup(node->name);
        text_mask(label);
        return label;
    }
    const char *name = attached_process_futex(a, node);
    if (o->of_loader)
        return xasprintf("%s:loader lock", letter);
    if (!*letter)
        return name ? xasprintf("%s %s", wait_kind_word(o->kind), name)
                    : xasprintf("%s 0x%" PRIx64, wait_kind_word(o->kind), o->address);
    return name ? xasprintf("%s:%s", letter, name) : xasprintf("%s:0x%" PRIx64, letter, o->address);
}

const char *attached_process_futex(const struct attached_process *a, const struct wait_node *node)
{
    const char *name = symbolizer_symbol(a->sites, 0, node->object.address);
    return name && !strstr(name, "__waiter_pool") ? name : NULL; /* which objects share */
}

const char *attached_process_library_object(const struct attached_process *a, uint32_t thread)
{
    const struct thread_stack *stack = &a->stacks[thread];
    const char *object = NULL;
    if (a->graph.nodes[thread].object.kind != WAIT_FUTEX)
        return NULL;
    for (uint32_t i = 0; i < stack->count && i <= a->frames[thread] && !object; i++) {
        uint64_t address = stack->frames[i].address;
        uint32_t count = symbolizer_frames(a->sites, 0, address);
        for (uint32_t k = 0; k < count && !object; k++)
            object = demangle_library_object(symbolizer_frame(a->sites, 0, address, k).function);
    }
    return object;
}

/* ---- places ---- */

const char *attached_process_site(const struct attached_process *a, uint32_t thread)
{
    uint32_t frame = a->frames[thread];
    return frame == UINT32_MAX
               ? ""
               : symbolize(a->sites, 0, a->stacks[thread].frames[frame].address).place;
}

const char *attached_process_far_site(const struct attached_process *a, uint32_t node)
{
    return a->far_sites[node] ? a->far_sites[node] : "";
}

/* ---- states ---- */

enum sleep_call attached_process_call(const struct attached_process *a, uint32_t thread)
{
    const struct snapshot_thread *t = &a->snapshot.threads[thread];
    enum sleep_call call = t->in_kernel ? sleep_call_of(t->call.number) : SLEEP_IN_NOT;
    return call != SLEEP_IN_NOT ? call : asleep_wchan(t->wchan, strlen(t->wchan));
}

enum attached_state attached_process_state(const struct attached_process *a, uint32_t thread)
{
    const struct snapshot_thread *t = &a->snapshot.threads[thread];
    enum wait_kind kind = a->graph.nodes[thread].object.kind;
    if (kind && kind != WAIT_FUTEX && !a->graph.nodes[thread].object.awake)
        return ATTACHED_WAITS;
    if (t->state == 'T' || t->state == 't')
        return ATTACHED_STOPPED;
    bool asleep = t->in_kernel || (t->state && t->state != 'R' && !t->registers.known);
    return asleep && !a->graph.nodes[thread].object.awake ? ATTACHED_SLEEPS : ATTACHED_RUNS;
}

/* ---- sentences ---- */

/* "according to glibc's mutex": what a claim about an owner is based on. */
static char *attached_basis(const struct wait_node *node)
{
    if (node->object.kind == WAIT_ONCE)
        return xstrdup("according to its stack");
    return xasprintf("according to %sglibc's %s", node->object.by_content ? "what looks like " : "",
                     wait_kind_word(node->object.kind));
}

/* Returns the labels of the threads that can end a wait, of a socket those at its other end; of the
 * waiting thread only if it is the only one. */
static char *attached_blockers(const struct attached_process *a, const struct wait_node *node)
{
    char *text = NULL;
    size_t size;
    FILE *f = xcheck(open_memstream(&text, &size), 1);
    uint32_t count = node->far_count ? node->far_count : node->blocker_count, named = 0, left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (count > 1 && &a->graph.nodes[node->blockers[i]] == node)
            continue;
        else if (named == NAMED)
            left++;
        else
            fprintf(f, "%s%s", named++ ? ", " : "", a->labels[node->blockers[i]]);
    if (left)
        fprintf(f, " and %u more", left);
    if (fclose(f) != 0)
        out_of_memory(size);
    return text;
}

/* Returns which threads have an object of the kernel, and what else is known of it. */
static char *attached_ends(const struct attached_process *a, const struct wait_node *node)
{
    enum wait_kind kind = node->object.kind;
    bool socket = kind == WAIT_SOCKET_READ || kind == WAIT_SOCKET_WRITE;
    if (node->fact || !node->blocker_count || (!node->closed && !socket && kind != WAIT_FILE_LOCK))
        return node->fact ? xstrdup(node->fact) : NULL;
    char *ends = attached_blockers(a, node), *text;
    if (kind == WAIT_FILE_LOCK)
        text = xasprintf("locked by %s", ends);
    else if (socket)
        text = xasprintf("its other end is %s of %s", node->closed ? "only" : "that", ends);
    else
        text =
            xasprintf("%s only by %s",
                      kind == WAIT_PIPE_WRITE || kind == WAIT_FIFO_WRITE || kind == WAIT_QUEUE_SEND
                          ? "read"
                          : "written",
                      ends);
    free(ends);
    return text;
}

char *attached_process_holder(const struct attached_process *a, const struct wait_node *node)
{
    const struct glibc_object *o = &node->object;
    char *basis = attached_basis(node), *text = NULL;
    if (o->kind >= WAIT_PIPE_READ && o->kind != WAIT_CHILD) {
        text = attached_ends(a, node);
    } else if (o->kind == WAIT_BARRIER) {
        text = xasprintf("%u of %u threads have arrived, %s", o->count, o->total, basis);
    } else if (o->kind == WAIT_CONDITION_IN_USE) {
        char *users = node->blocker_count ? attached_blockers(a, node) : NULL;
        text = users ? xasprintf("until %s no longer wait%s on it", users,
                                 node->blocker_count == 1 ? "s" : "")
                     : NULL;
        free(users);
    } else if (o->kind == WAIT_ONCE && node->blocker_count) {
        text = xasprintf("its initializer is run by %s, %s", a->labels[node->blockers[0]], basis);
    } else if (o->kind != WAIT_JOIN && node->blocker_count && o->kind != WAIT_CHILD) {
        text = xasprintf("held by %s, %s", a->labels[node->blockers[0]], basis);
    } else if (o->kind != WAIT_JOIN && o->owner) {
        text = xasprintf("held by thread %u, %s", o->owner, basis);
    } else if (o->kind == WAIT_RWLOCK_WRITE && o->count) {
        text = xasprintf("held by %u reader%s, which glibc does not store", o->count,
                         o->count == 1 ? "" : "s");
    }
    free(basis);
    return text;
}

char *attached_process_edge(const struct attached_process *a, const struct wait_cycle *cycle,
                            uint32_t step)
{
    const struct wait_node *node = &a->graph.nodes[cycle->nodes[step]];
    const char *label = a->labels[cycle->nodes[step]],
               *next = a->labels[cycle->nodes[(step + 1) % cycle->count]];
    char *object = attached_process_object(a, node), *holder = attached_process_holder(a, node),
         *text;
    if (node->object.kind == WAIT_JOIN)
        text = xasprintf("%s waits for %s", label, next);
    else if (node->object.kind == WAIT_CHILD)
        text = xasprintf("%s waits for the end of %s", label, object);
    else if (node->object.owner)
        text = xasprintf("%s waits for %s%s, %s %s (%s)", label, object,
                         wait_kind_mode(node->object.kind),
                         node->object.kind == WAIT_ONCE ? "initialized by" : "held by", next,
                         strstr(holder, "according"));
    else
        text = xasprintf("%s %s %s, %s", label, wait_kind_verb(node->object.kind), object, holder);
    free(object);
    free(holder);
    return text;
}

char *attached_process_chain(const struct attached_process *a, const struct wait_node *node)
{
    const struct wait_node *by = node->blocker_count ? &a->graph.nodes[node->blockers[0]] : NULL;
    if (by && !by->own && !by->object.kind && by->call.number >= 0)
        return xasprintf("%s is asleep in %s: see poet attach %u", a->labels[node->blockers[0]],
                         sleep_call_name(sleep_call_of(by->call.number)), by->pid);
    if (!by || by == node || !by->object.kind)
        return NULL;
    char *object = attached_process_object(a, by);
    char *text = xasprintf("%s is itself blocked on %s%s", a->labels[node->blockers[0]], object,
                           by->stuck ? " and will never resume" : "");
    free(object);
    return text;
}

/* Returns what is known of an owner that is not a thread of the process. */
static char *attached_owner_text(const struct attached_process *a, uint32_t owner, bool shared)
{
    if (a->snapshot.core >= 0)
        return xasprintf("thread %u, which is not in the core file", owner);
    if (shared)
        return xasprintf("thread %u, which has exited", owner);
    uint32_t parent = proc_file_status(a->snapshot.pid).parent,
             process = proc_file_status(owner).process;
    bool numbers_agree = a->snapshot.threads[0].tid == a->snapshot.threads[0].inner_tid;
    if (numbers_agree && process && process == parent)
        return xasprintf("thread %u of the parent process %u since the fork", owner, parent);
    return xasprintf("thread %u, which is not a thread of this process", owner);
}

char *attached_process_abandoned(const struct attached_process *a, const struct wait_node *node)
{
    char *object = attached_process_object(a, node), *basis = attached_basis(node),
         *owner = attached_owner_text(a, node->object.owner, node->object.shared);
    char *text = xasprintf("HANG: %s is held by %s, %s: its waiters will never resume", object,
                           owner, basis);
    free(object);
    free(basis);
    free(owner);
    return text;
}

char *attached_process_all_wait(const struct attached_process *a)
{
    const char *certain = a->graph.handlers ? "LIKELY HANG" : "HANG",
               *doubt = a->graph.handlers ? "\n    uncertain: a signal handler could wake one" : "";
    if (a->snapshot.thread_count == 1)
        return xasprintf("%s: the only thread of the process waits for another one to wake it%s",
                         certain, doubt);
    return xasprintf(
        "%s: all %zu threads of the process wait, without a timeout, until another one "
        "of them wakes them%s",
        certain, a->snapshot.thread_count, doubt);
}

char *attached_process_uncertainty(const struct attached_process *a)
{
    const struct process_table *table = &a->graph.processes;
    if (!a->graph.uncertain && a->graph.reopened == a->graph.count)
        return NULL;
    if (!a->graph.uncertain) {
        char *object = attached_process_object(a, &a->graph.nodes[a->graph.reopened]);
        char *text = xasprintf("uncertain: another process could open %s", object);
        free(object);
        return text;
    }
    if (table->partial)
        return xstrdup("uncertain: a process of another PID name space could hold an end of the "
                       "pipes");
    return xasprintf("uncertain: %u process%s with unreadable descriptors could hold an end "
                     "of the pipes",
                     table->hidden_count, table->hidden_count == 1 ? "" : "es");
}

/* ---- reading ---- */

static void attached_read_stacks(struct attached_process *a)
{
    struct stack_unwinder *unwinder = stack_unwinder_new(&a->snapshot, a->sites);
    a->stacks = xcalloc(a->snapshot.thread_count, sizeof *a->stacks);
    a->frames = xcalloc(a->snapshot.thread_count, sizeof *a->frames);
    for (size_t i = 0; i < a->snapshot.thread_count; i++) {
        struct snapshot_thread *t = &a->snapshot.threads[i];
        stack_unwinder_read(unwinder, t, &a->stacks[i]);
        t->call.number = glibc_object_call(t, &a->stacks[i], a->sites);
        a->frames[i] = runtime_frames_count(&a->stacks[i], a->sites);
        if (a->frames[i] == a->stacks[i].count)
            a->frames[i] = UINT32_MAX;
    }
    stack_unwinder_free(unwinder);
}

/* Reads all but the graph and what is based on it. */
static bool attached_read_threads(struct attached_process *a, uint32_t pid, const char *core,
                                  struct error *error)
{
    *a = (struct attached_process){.snapshot.core = -1};
    if (!(core ? core_file_read(&a->snapshot, core, error)
               : seized_process_read(&a->snapshot, pid, error))) {
        snapshot_free(&a->snapshot);
        return false;
    }
    a->sites = symbolizer_new();
    a->process.pid = a->snapshot.pid;
    a->process.path = xstrdup(attached_base_name(a->snapshot.name));
    loaded_modules_list(&a->snapshot, &a->process);
    symbolizer_process(a->sites, 0, &a->process);
    attached_read_stacks(a);
    return true;
}

/* Reads where threads of a process that hang wait. */
static void attached_read_far_sites(struct attached_process *a, uint32_t pid)
{
    struct attached_process other;
    struct error error;
    if (!attached_read_threads(&other, pid, NULL, &error))
        return;
    for (uint32_t i = 0; i < a->graph.count; i++)
        for (uint32_t k = 0; k < other.snapshot.thread_count; k++)
            if (a->graph.nodes[i].stuck && other.snapshot.threads[k].tid == a->graph.nodes[i].tid)
                a->far_sites[i] = xstrdup(attached_process_site(&other, k));
    attached_process_free(&other);
}

/* Does this for each other process that hangs, too. */
static void attached_read_far_processes(struct attached_process *a)
{
    uint32_t last = 0, processes = 0;
    a->far_sites = xcalloc(a->graph.count, sizeof *a->far_sites);
    for (uint32_t i = 0; i < a->graph.count; i++) {
        const struct wait_node *node = &a->graph.nodes[i];
        if (node->own || !node->stuck || node->pid == last || processes == FAR_PROCESSES)
            continue;
        last = node->pid;
        processes++;
        attached_read_far_sites(a, node->pid);
    }
}

bool attached_process_read(struct attached_process *a, uint32_t pid, const char *core,
                           struct error *error)
{
    if (!attached_read_threads(a, pid, core, error))
        return false;
    wait_for_graph_build(&a->graph, &a->snapshot, a->stacks, a->sites);
    attached_read_far_processes(a);
    attached_set_labels(a);
    return true;
}

void attached_process_free(struct attached_process *a)
{
    for (uint32_t i = 0; a->labels && i < a->graph.count; i++)
        free(a->labels[i]);
    for (uint32_t i = 0; a->far_sites && i < a->graph.count; i++)
        free(a->far_sites[i]);
    free(a->far_sites);
    for (size_t i = 0; a->stacks && i < a->snapshot.thread_count; i++)
        thread_stack_free(&a->stacks[i]);
    free(a->labels);
    free(a->stacks);
    free(a->frames);
    wait_for_graph_free(&a->graph);
    symbolizer_free(a->sites);
    process_info_free(&a->process);
    snapshot_free(&a->snapshot);
    *a = (struct attached_process){.snapshot.core = -1};
}
