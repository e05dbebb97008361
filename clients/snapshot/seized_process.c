#define _GNU_SOURCE
#include "clients/snapshot/seized_process.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "clients/snapshot/proc_file.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CAP_SYS_PTRACE 19u
#define RED_ZONE 128u     /* bytes below the stack pointer that a function may use */
#define WINDOW_BYTES 128u /* copied around a futex, */
#define THREAD_BYTES 1024u /* and of glibc's struct pthread */
#define ROUNDS 8u         /* of looking for threads that were created meanwhile */

/* ---- permission to trace ---- */

void trace_permission_text(uint32_t pid, int number, const struct trace_permission *known,
                           struct error *error)
{
    const char *refused = "not permitted to trace process";
    if (number == ESRCH)
        error_set(error, "%u: the process has exited", pid);
    else if (number != EPERM && number != EACCES)
        error_set(error, "%u: cannot be traced: %s", pid, strerror(number));
    else if (known->of_kernel)
        error_set(error, "%u: a thread of the kernel", pid);
    else if (!known->capable && !known->same_user)
        error_set(error, "%s %u: it belongs to another user; use that user, or root", refused, pid);
    else if (known->yama == 3)
        error_set(error, "%s %u: kernel.yama.ptrace_scope is 3, until the next boot", refused, pid);
    else if (!known->capable && known->yama == 2)
        error_set(error,
                  "%s %u: kernel.yama.ptrace_scope is 2: run poet attach as root, or as root: "
                  "sysctl kernel.yama.ptrace_scope=0",
                  refused, pid);
    else if (!known->capable && known->yama == 1)
        error_set(error,
                  "%s %u: kernel.yama.ptrace_scope is 1: run poet attach as root, or as root: "
                  "sysctl kernel.yama.ptrace_scope=0",
                  refused, pid);
    else if (!known->capable || !known->same_container)
        error_set(error,
                  "%s %u: it is not dumpable (set-user-ID, prctl), or a container or a seccomp "
                  "filter forbids ptrace: run poet attach as root, or start the container with "
                  "--cap-add=SYS_PTRACE",
                  refused, pid);
    else
        error_set(error, "%s %u: a security module or a seccomp filter forbids ptrace", refused,
                  pid);
}

static bool trace_permission_has_capability(void)
{
    char text[4096];
    proc_file_read(text, sizeof text, "self/status");
    const char *set = strstr(text, "CapEff:");
    return set && strtoull(set + 7, NULL, 16) >> CAP_SYS_PTRACE & 1;
}

/* Formats the same from what can be read. */
static void trace_permission_explain(uint32_t pid, int number, struct error *error)
{
    char text[64], own[64], its[64];
    struct trace_permission known = {.capable = trace_permission_has_capability(), .yama = -1};
    size_t n = proc_file_link(own, sizeof own, "self/ns/user"),
           m = proc_file_link(its, sizeof its, "%u/ns/user", pid);
    known.of_kernel = !proc_file_link(text, sizeof text, "%u/exe", pid) && errno == ENOENT;
    known.same_user = proc_file_status(pid).user == geteuid();
    known.same_container = n && m && strcmp(own, its) == 0;
    if (proc_file_read(text, sizeof text, "sys/kernel/yama/ptrace_scope"))
        known.yama = atoi(text);
    trace_permission_text(pid, number, &known, error);
}
/* ---- threads ---- */

/* What is done with a thread: */
enum seized_thread_state { SEIZED_NOT, SEIZED_RUNS, SEIZED_STOPPED, SEIZED_GONE };

struct seizing {
    struct snapshot *s;
    struct seized_thread {
        enum seized_thread_state state;
        int signal; /* to be delivered when it is released */
    } *threads; /* as those of the snapshot */
    size_t known; /* threads that were looked at */
    int refused; /* errno of the first refusal */
    uint64_t began_ns; /* of the stop */
};

static uint64_t seizing_now_ns(void) { return clock_read_ns(CLOCK_MONOTONIC); }

static bool seizing_is_late(const struct seizing *z)
{
    return z->began_ns && seizing_now_ns() - z->began_ns >= SEIZED_STOP_NS;
}

/* ---- before the stop ---- */

/* Calls that a stop ends, without a signal (signal(7)): with EINTR, or with a part of the bytes. */
static bool seizing_would_end(int64_t call)
{
    static const long calls[] = {
        SYS_epoll_pwait,    SYS_rt_sigtimedwait, SYS_semtimedop, SYS_io_getevents, SYS_msgrcv,
        SYS_msgsnd,         SYS_write,           SYS_writev,     SYS_pwrite64,     SYS_sendto,
        SYS_sendmsg,        SYS_sendfile,        SYS_splice,     SYS_recvfrom,     SYS_recvmsg,
        SYS_accept,         SYS_accept4,         SYS_connect,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
#ifdef SYS_semop
        SYS_semop,
#endif
#ifdef SYS_epoll_pwait2
        SYS_epoll_pwait2,
#endif
#ifdef SYS_io_pgetevents
        SYS_io_pgetevents,
#endif
#ifdef SYS_io_uring_enter
        SYS_io_uring_enter,
#endif
        SYS_sendmmsg,       SYS_recvmmsg};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* Returns whether a thread reads from a socket, which can have a timeout. */
static bool seizing_reads_socket(uint32_t pid, const struct system_call *call)
{
    char link[64];
    return (call->number == SYS_read || call->number == SYS_readv) &&
           proc_file_link(link, sizeof link, "%u/fd/%" PRIu64, pid, call->arguments[0]) &&
           strncmp(link, "socket:", 7) == 0;
}

/* Returns whether a thread sleeps at a futex that has another value than when it began: after a
 * stop, the kernel compares them again, and the wait ends. */
static bool seizing_has_changed(uint32_t pid, const struct system_call *call)
{
    uint32_t now;
    struct iovec to = {&now, sizeof now},
                 from = {(void *)(uintptr_t)call->arguments[0], sizeof now};
    uint64_t command = call->arguments[1] & FUTEX_CMD_MASK;
    return call->number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
           process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof now &&
           now != (uint32_t)call->arguments[2];
}

static bool seizing_read_call(uint32_t pid, struct snapshot_thread *t)
{
    char text[256];
    uint64_t stack = 0, program = 0;
    size_t size = proc_file_read(text, sizeof text, "%u/task/%u/syscall", pid, t->tid);
    t->call.number = -1;
    t->in_kernel = size && proc_text_syscall(text, size, &t->call, &stack, &program);
    if (t->in_kernel)
        registers_set_position(&t->registers, stack, program);
    return t->in_kernel;
}

static void seizing_add(void *user, uint32_t tid)
{
    struct seizing *z = user;
    struct snapshot *s = z->s;
    struct snapshot_thread t = {.tid = tid, .inner_tid = tid};
    struct proc_status status;
    char text[4096];
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].tid == tid)
            return;
    size_t size = proc_file_read(text, sizeof text, "%u/task/%u/stat", s->pid, tid);
    if (!size || !proc_text_stat(text, size, t.name, sizeof t.name, &t.state))
        return;
    size = proc_file_read(text, sizeof text, "%u/task/%u/status", s->pid, tid);
    proc_text_status(text, size, &status);
    t.inner_tid = status.inner ? status.inner : tid;
    proc_file_read(t.wchan, sizeof t.wchan, "%u/task/%u/wchan", s->pid, tid);
    if (strcmp(t.wchan, "0") == 0)
        *t.wchan = 0;
    t.unstopped = status.tracer ? UNSTOPPED_TRACED : UNSTOPPED_NOT;
    seizing_read_call(s->pid, &t);
    if (!t.unstopped && t.in_kernel &&
        (seizing_would_end(t.call.number) || seizing_reads_socket(s->pid, &t.call) ||
         seizing_has_changed(s->pid, &t.call)))
        t.unstopped = UNSTOPPED_CALL;
    /* A stop begins only after an uninterruptible sleep, such as that of vfork. */
    if (!t.unstopped && t.state == 'D')
        t.unstopped = UNSTOPPED_LATE;
    ARRAY_PUSH(s->threads, s->thread_count, t);
}

/* ---- the stop ---- */

static void seizing_seize(struct seizing *z, size_t from)
{
    struct snapshot *s = z->s;
    for (size_t i = from; i < s->thread_count && !z->refused; i++) {
        pid_t tid = (pid_t)s->threads[i].tid;
        if (s->threads[i].unstopped)
            continue;
        if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
            z->threads[i].state = SEIZED_RUNS;
        else if (errno == ESRCH)
            z->threads[i].state = SEIZED_GONE;
        else
            z->refused = errno;
    }
    if (!z->began_ns)
        z->began_ns = seizing_now_ns();
    for (size_t i = from; i < s->thread_count; i++)
        if (z->threads[i].state == SEIZED_RUNS)
            ptrace(PTRACE_INTERRUPT, (pid_t)s->threads[i].tid, NULL, NULL);
}

/* A signal that arrives at the same time stops the thread instead, and is delivered afterwards. */
static void seizing_note_stop(struct seized_thread *t, int status)
{
    bool event = WIFSTOPPED(status) && status >> 16;
    t->state = WIFSTOPPED(status) ? SEIZED_STOPPED : SEIZED_GONE;
    t->signal = WIFSTOPPED(status) && !event ? WSTOPSIG(status) : 0;
}

/* Waits until all seized threads have stopped, or it is late. Returns the number of others. */
static size_t seizing_await(struct seizing *z)
{
    for (;;) {
        size_t left = 0;
        for (size_t i = 0; i < z->s->thread_count; i++) {
            int status;
            if (z->threads[i].state != SEIZED_RUNS)
                continue;
            pid_t got = waitpid((pid_t)z->s->threads[i].tid, &status, __WALL | WNOHANG);
            if (got > 0)
                seizing_note_stop(&z->threads[i], status);
            else if (got < 0)
                z->threads[i].state = SEIZED_GONE;
            left += got == 0;
        }
        if (!left || seizing_is_late(z))
            return left;
        usleep(100);
    }
}

/* Stops all threads, also those that a thread creates before it is stopped. */
static void seizing_stop(struct seizing *z)
{
    struct snapshot *s = z->s;
    char name[32];
    snprintf(name, sizeof name, "%u/task", s->pid);
    for (unsigned round = 0; round < ROUNDS && !z->refused && !seizing_is_late(z); round++) {
        size_t from = s->thread_count;
        if (!proc_file_each(name, seizing_add, z) || s->thread_count == from)
            break;
        z->threads = xreallocarray(z->threads, s->thread_count, sizeof *z->threads);
        memset(z->threads + from, 0, (s->thread_count - from) * sizeof *z->threads);
        seizing_seize(z, from);
        seizing_await(z);
    }
}

static void seizing_release(struct seizing *z)
{
    for (size_t i = 0; i < z->s->thread_count; i++)
        if (z->threads[i].state == SEIZED_STOPPED) {
            ptrace(PTRACE_DETACH, (pid_t)z->s->threads[i].tid, NULL,
                   (void *)(intptr_t)z->threads[i].signal);
            z->threads[i].state = SEIZED_NOT;
        }
}

/* ---- copies ---- */

static void seizing_read_mappings(struct snapshot *s)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", s->pid);
    FILE *maps = fopen(path, "re");
    while (maps && getline(&line, &room, maps) > 0) {
        struct proc_mapping is;
        line[strcspn(line, "\n")] = 0;
        if (!proc_text_mapping(line, &is))
            continue;
        struct snapshot_mapping mapping = {is.start, is.end, is.offset, is.shared,
                                           xstrdup(is.path)};
        ARRAY_PUSH(s->mappings, s->mapping_count, mapping);
    }
    free(line);
    if (maps)
        fclose(maps);
}

static void seizing_copy(struct snapshot *s, uint64_t start, uint64_t end)
{
    size_t size = end > start ? (size_t)(end - start) : 0;
    unsigned char *bytes = size ? xmalloc(size) : NULL;
    struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)start, size};
    ssize_t got = size ? process_vm_readv((pid_t)s->pid, &to, 1, &from, 1, 0) : 0;
    if (got > 0)
        snapshot_add_memory(s, (struct snapshot_memory){start, (size_t)got, bytes, 0});
    else
        free(bytes);
}

static void seizing_copy_stack(struct snapshot *s, struct snapshot_thread *t)
{
    uint64_t at = t->registers.values[REGISTER_STACK], end;
    const struct snapshot_mapping *stack = t->registers.known ? snapshot_mapping_at(s, at) : NULL;
    if (!stack)
        return;
    at = at - stack->start > RED_ZONE ? at - RED_ZONE : stack->start;
    end = stack->end - at > SNAPSHOT_STACK_BYTES ? at + SNAPSHOT_STACK_BYTES : stack->end;
    t->stack_cut = end != stack->end || s->memory_bytes > SNAPSHOT_STACKS_BYTES;
    if (s->memory_bytes <= SNAPSHOT_STACKS_BYTES)
        seizing_copy(s, at, end);
}

static void seizing_copy_window(struct snapshot *s, const struct snapshot_thread *t)
{
    uint64_t word = t->call.arguments[0];
    bool futex = t->call.number == SYS_futex || t->call.number == SYS_restart_syscall;
    const struct snapshot_mapping *mapping = futex ? snapshot_mapping_at(s, word) : NULL;
    if (!mapping)
        return;
    uint64_t start =
        word - mapping->start > WINDOW_BYTES / 2 ? word - WINDOW_BYTES / 2 : mapping->start;
    uint64_t end = mapping->end - word > WINDOW_BYTES / 2 ? word + WINDOW_BYTES / 2 : mapping->end;
    seizing_copy(s, start, end);
}

static void seizing_read_registers(struct seizing *z, size_t i)
{
    struct snapshot_thread *t = &z->s->threads[i];
    unsigned char set[4096];
    struct iovec to = {set, sizeof set};
    if (z->threads[i].state != SEIZED_STOPPED) {
        if (z->threads[i].state == SEIZED_RUNS)
            t->unstopped = UNSTOPPED_LATE;
        return;
    }
    if (ptrace(PTRACE_GETREGSET, (pid_t)t->tid, (void *)(uintptr_t)NT_PRSTATUS, &to) == 0)
        registers_read(set, to.iov_len, &t->registers, &t->call);
    t->in_kernel = t->call.number >= 0;
}

static void seizing_copy_objects(struct snapshot *s, const struct snapshot_thread *t)
{
    uint64_t pointer = t->registers.thread_pointer;
    seizing_copy_window(s, t);
    if (pointer)
        seizing_copy(s, pointer, pointer + THREAD_BYTES);
}

static void seizing_copy_threads(struct seizing *z)
{
    struct snapshot *s = z->s;
    for (size_t i = 0; i < s->thread_count; i++)
        seizing_read_registers(z, i);
    seizing_read_mappings(s);
    for (size_t i = 0; i < s->thread_count; i++) {
        if (seizing_is_late(z) && !s->threads[i].unstopped)
            s->threads[i].unstopped = UNSTOPPED_LATE;
        if (s->threads[i].unstopped)
            continue;
        seizing_copy_stack(s, &s->threads[i]);
        seizing_copy_objects(s, &s->threads[i]);
    }
}

/* ---- after the stop ---- */

/* Copies threads that were not stopped and sleep. Forgets those that have run meanwhile: what they
 * are in is not what was read before. */
static void seizing_copy_unstopped(struct snapshot *s)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].unstopped && s->threads[i].in_kernel) {
            seizing_copy_stack(s, &s->threads[i]);
            seizing_copy_objects(s, &s->threads[i]);
        }
    for (size_t i = 0; i < s->thread_count; i++) {
        struct snapshot_thread *t = &s->threads[i], now = *t;
        if (!t->unstopped || !t->in_kernel)
            continue;
        if (seizing_read_call(s->pid, &now) &&
            now.registers.values[REGISTER_STACK] == t->registers.values[REGISTER_STACK] &&
            now.registers.values[REGISTER_PROGRAM] == t->registers.values[REGISTER_PROGRAM])
            continue;
        t->registers = (struct registers){0};
        t->call.number = -1;
        t->in_kernel = false;
    }
}

static void seizing_drop_gone(struct seizing *z)
{
    struct snapshot *s = z->s;
    size_t kept = 0;
    for (size_t i = 0; i < s->thread_count; i++)
        if (z->threads[i].state != SEIZED_GONE)
            s->threads[kept++] = s->threads[i];
    s->thread_count = kept;
}

static void seizing_read_name(struct snapshot *s)
{
    char path[PATH_MAX];
    if (!proc_file_link(path, sizeof path, "%u/exe", s->pid) &&
        proc_file_read(path, sizeof path, "%u/comm", s->pid))
        path[strcspn(path, "\n")] = 0;
    s->name = xstrdup(path);
}

/* Threads that did not stop in time would trap later, and remain so. They are released by the end
 * of the thread that seized them: ptrace(2). */
static void *seizing_run(void *user)
{
    struct seizing *z = user;
    seizing_stop(z);
    if (!z->refused && z->s->thread_count)
        seizing_copy_threads(z);
    seizing_release(z);
    return NULL;
}

bool seized_process_read(struct snapshot *s, uint32_t pid, struct error *error)
{
    struct seizing z = {.s = s};
    pthread_t tracer;
    *s = (struct snapshot){.pid = pid, .core = -1};
    seizing_read_name(s);
    int failed = pthread_create(&tracer, NULL, seizing_run, &z);
    if (failed) {
        error_set(error, "%u: no thread can be created: %s", pid, strerror(failed));
        return false;
    }
    pthread_join(tracer, NULL);
    s->stopped_ns = z.began_ns ? seizing_now_ns() - z.began_ns : 0;
    seizing_copy_unstopped(s);
    seizing_drop_gone(&z);
    free(z.threads);
    if (z.refused && s->threads[0].state != 'Z')
        trace_permission_explain(pid, z.refused, error);
    else if (!s->thread_count || s->threads[0].state == 'Z')
        error_set(error, "%u: the process has exited", pid);
    else
        return true;
    return false;
}
