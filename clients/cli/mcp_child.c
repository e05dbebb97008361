#define _GNU_SOURCE
#include "clients/cli/mcp_child.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "clients/cli/kill_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_MS 100 /* how often the child's end is checked without a descriptor for it */

/* Appends what there is; returns false at the end of the output. */
static bool mcp_output_read(struct mcp_output *output, int fd, size_t limit)
{
    char bytes[65536];
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t left = limit - output->size, more = (size_t)n < left ? (size_t)n : left;
    memcpy(output->text + output->size, bytes, more);
    output->size += more;
    output->text[output->size] = 0;
    output->total += (uint64_t)n;
    return n > 0;
}

/* Replaces this process, the child, which has its own process group. */
static _Noreturn void mcp_child_exec(const char *path, char *const *arguments, int out, int errors)
{
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    setenv("PAGER", "", 1);
    setenv("NO_COLOR", "1", 1);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(errors, STDERR_FILENO) < 0)
        _exit(127);
    execv(path, arguments);
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

/* A child that runs, and its descriptors; -1: closed. */
struct mcp_running {
    pid_t pid;
    int out, errors, end; /* end: of the process; -1: unknown */
    uint64_t until_ns;
};

static void mcp_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool mcp_child_start(const char *path, char *const *arguments, struct mcp_running *r,
                            struct error *error)
{
    int out[2], errors[2];
    if (pipe2(out, O_CLOEXEC) < 0) {
        error_set(error, "%s", strerror(errno));
        return false;
    }
    if (pipe2(errors, O_CLOEXEC) < 0) {
        error_set(error, "%s", strerror(errno));
        close(out[0]);
        close(out[1]);
        return false;
    }
    r->pid = fork();
    if (r->pid == 0)
        mcp_child_exec(path, arguments, out[1], errors[1]);
    if (r->pid < 0)
        error_set(error, "%s: %s", path, strerror(errno));
    else
        setpgid(r->pid, r->pid); /* whichever of the two comes first */
    close(out[1]);
    close(errors[1]);
    r->out = out[0];
    r->errors = errors[0];
    fcntl(r->out, F_SETFL, O_NONBLOCK);
    fcntl(r->errors, F_SETFL, O_NONBLOCK);
    r->end = r->pid > 0 ? (int)syscall(SYS_pidfd_open, r->pid, 0) : -1;
    return r->pid > 0;
}

static bool mcp_child_has_ended(const struct mcp_running *r)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

/* Waits for output, input, or the end; returns false once the child has ended or must. */
static bool mcp_child_step(struct mcp_running *r, const struct mcp_limits *limits,
                           struct mcp_child *child)
{
    uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    uint64_t left_ms = now_ns < r->until_ns ? (r->until_ns - now_ns) / 1000000 + 1 : 0;
    int most = r->end < 0 && left_ms > CHECK_MS ? CHECK_MS : (int)left_ms;
    struct pollfd p[] = {{.fd = r->out, .events = POLLIN},
                         {.fd = r->errors, .events = POLLIN},
                         {.fd = r->end, .events = POLLIN},
                         {.fd = *limits->input, .events = POLLIN}};
    if (!left_ms) {
        child->timed_out = true;
        return false;
    }
    poll(p, sizeof p / sizeof *p, most);
    if (p[0].revents && !mcp_output_read(&child->out, r->out, limits->bytes))
        mcp_close(&r->out);
    if (p[1].revents && !mcp_output_read(&child->errors, r->errors, limits->bytes))
        mcp_close(&r->errors);
    if (p[3].revents && limits->receive(limits->user)) {
        child->cancelled = true;
        return false;
    }
    return !mcp_child_has_ended(r);
}

/* Reads what was written before the end; processes that remain may keep the pipes open. */
static void mcp_child_drain(const struct mcp_running *r, const struct mcp_limits *limits,
                            struct mcp_child *child)
{
    uint64_t before;
    do {
        before = child->out.total + child->errors.total;
        if (r->out >= 0)
            mcp_output_read(&child->out, r->out, limits->bytes);
        if (r->errors >= 0)
            mcp_output_read(&child->errors, r->errors, limits->bytes);
    } while (child->out.total + child->errors.total != before &&
             child->out.total + child->errors.total < 2 * (uint64_t)limits->bytes);
}

bool mcp_child_run(const char *path, char *const *arguments, const struct mcp_limits *limits,
                   struct mcp_child *child, struct error *error)
{
    struct mcp_running r = {.out = -1, .errors = -1, .end = -1};
    int status = 0;
    *child = (struct mcp_child){.out = {.text = xcalloc(limits->bytes + 1, 1)},
                                .errors = {.text = xcalloc(limits->bytes + 1, 1)}};
    r.until_ns = clock_read_ns(CLOCK_MONOTONIC) + (uint64_t)limits->seconds * 1000000000u;
    bool started = mcp_child_start(path, arguments, &r, error);
    while (started && mcp_child_step(&r, limits, child))
        ;
    if (started) {
        if (child->timed_out || child->cancelled)
            kill_tree_run(r.pid);
        while (waitpid(r.pid, &status, 0) < 0 && errno == EINTR)
            ;
        mcp_child_drain(&r, limits, child);
        child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    mcp_close(&r.out);
    mcp_close(&r.errors);
    mcp_close(&r.end);
    return started;
}

void mcp_child_free(struct mcp_child *child)
{
    free(child->out.text);
    free(child->errors.text);
    *child = (struct mcp_child){0};
}
