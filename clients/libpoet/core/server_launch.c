/* Start of a server where none is running, or of an agent that forwards to one on another
 * machine. */
#define _GNU_SOURCE
#include "clients/libpoet/core/server_launch.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "wire/endpoint.h"
#include "wire/program_messages.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- request for a report ---- */

/* Returns NULL if none is wanted. */
static const char *report_request_get_path(void)
{
    const char *value = environment_get("POET_REPORT");
    return value && *value && strcmp(value, "0") != 0 ? value : NULL;
}

/* Returns whether the report goes to standard error. A server that the program started then keeps
 * that open. */
static bool report_request_is_stderr(void)
{
    const char *value = report_request_get_path();
    return value && strcmp(value, "1") == 0;
}

const char *report_request_agent_message(void)
{
    if (!report_request_get_path())
        return NULL;
    environment_unset("POET_REPORT");
    return "POET_REPORT: an agent has only a part of the run; run poet report on the server's host";
}

/* The server may be in another directory. */
static bool report_request_absolute_path(const char *value, char *path, size_t size)
{
    /* once in a lifetime of the process, under the lock of its beginning */
    static char here[PATH_MAX];
    if (*value != '/' && !getcwd(here, sizeof here))
        return false;
    int n = *value == '/' ? snprintf(path, size, "%s", value)
                          : snprintf(path, size, "%s/%s", here, value);
    return n > 0 && (size_t)n < size;
}

const char *report_request_announce(struct encoder *out, bool own)
{
    static char path[LIMIT_TEXT_BYTES];
    const char *value = report_request_get_path();
    if (!value)
        return NULL;
    *path = 0;
    if (report_request_is_stderr() && !own)
        return "POET_REPORT=1: requires a private server; specify a file instead";
    if (!report_request_is_stderr() && !report_request_absolute_path(value, path, sizeof path))
        return "POET_REPORT: the name of the file is too long";
    encoder_begin_message(out, MESSAGE_REPORT);
    encode_report(out, &(struct report_message){text_view_of(path)});
    encoder_end_message(out);
    return NULL;
}

/* ---- launch ---- */

static bool server_launch_is_executable(const char *path) { return access(path, X_OK) == 0; }

static bool server_launch_find_program(char *path, size_t size)
{
    const char *named = environment_get("POET_SERVER_PROGRAM");
    if (named && *named) {
        snprintf(path, size, "%s", named);
        return server_launch_is_executable(path);
    }
#if !defined(POET_STATIC)
    Dl_info info;
    char *slash;
    if (dladdr((void *)(uintptr_t)server_launch_find_program, &info) && info.dli_fname) {
        snprintf(path, size, "%s", info.dli_fname);
        /* (PREFIX/lib/libpoet.so.0, or in a folder of lib for this kind of machine) */
        for (int i = 0; i < 3 && (slash = strrchr(path, '/')) != NULL; i++) {
            *slash = 0;
            size_t n = strlen(path);
            snprintf(path + n, size - n, "/libexec/poet/poet-server");
            if (server_launch_is_executable(path))
                return true;
            path[n] = 0;
        }
    }
#endif
    const char *search = environment_get("PATH");
    for (const char *at = search; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        int n = (int)strcspn(at, ":");
        snprintf(path, size, "%.*s/poet-server", n, at);
        if (server_launch_is_executable(path))
            return true;
        snprintf(path, size, "%.*s/../libexec/poet/poet-server", n,
                 at); /* beside poet and poetcc */
        if (server_launch_is_executable(path))
            return true;
    }
    return false;
}

/* Called in the grandchild: none of the program's descriptors may stay open, or a process that
 * waits for the end of its output would wait for the server. */
static void server_launch_exec_server(const char *program, const struct server_launch *launch,
                                      const char *file, const char *endpoint, int fd)
{
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < (report_request_is_stderr() ? 2 : 3); i++)
        dup2(null, i);
    dup2(fd, 3);
    fcntl(3, F_SETFD, 0); /* if the number was the same already */
    struct rlimit most; /* of a file: the trace does not count as the program's */
    if (getrlimit(RLIMIT_FSIZE, &most) == 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){most.rlim_max, most.rlim_max});
#if defined(PR_SET_TSC)
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
#endif
    signal(SIGXFSZ, SIG_IGN); /* a full disk then returns an error */
    syscall(SYS_close_range, 4u, ~0u, 0u);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN);
    environment_unset("LD_PRELOAD");
    if (launch->to)
        execl(program, program, "--client", "3", "--once", "--to", launch->to, "-l", endpoint, "-q",
              (char *)NULL);
    if (launch->to)
        _exit(127);
    if (!environment_get("POET_KEEP"))
        environment_set("POET_KEEP", "1G");
    execl(program, program, "--client", "3", "--once", "-o", file, "-l", endpoint,
          report_request_is_stderr() ? "-q" : (char *)NULL, (char *)NULL);
    _exit(127);
}

static void server_launch_name_file(char *file, size_t size)
{
    const char *wanted = environment_get("POET_OUTPUT");
    if (wanted && *wanted)
        snprintf(file, size, "%s", wanted);
    else
        snprintf(file, size, "%.200s.%d.poet", program_invocation_short_name, (int)getpid());
}

static struct error error;

/* FNV-1a (Fowler, Noll and Vo) */
static uint64_t server_launch_mix_in(uint64_t hash, const char *s)
{
    do
        hash = (hash ^ (uint8_t)*s) * 0x100000001b3u;
    while (*s++);
    return hash;
}

/* Hashes its name, the target of its agent, and the key of that. */
static uint64_t server_launch_hash(const struct server_launch *launch)
{
    const char *key = launch->to ? environment_get("POET_KEY_FILE") : NULL;
    uint64_t hash = server_launch_mix_in(0xcbf29ce484222325u, launch->name);
    return server_launch_mix_in(server_launch_mix_in(hash, launch->to ? launch->to : ""),
                                key ? key : "");
}

/* Names the socket of an agent of all processes of the run, or of a server of this one. */
static bool server_launch_name_socket(const struct server_launch *launch, char *endpoint,
                                      size_t size)
{
    static char directory[256];
    if (!endpoint_directory(directory, sizeof directory, &error))
        return false;
    if (launch->to)
        snprintf(endpoint, size, "unix:%s/agent-%016llx.sock", directory,
                 (unsigned long long)server_launch_hash(launch));
    else
        snprintf(endpoint, size, "unix:%s/poet-%d.sock", directory, (int)getpid());
    return true;
}

/* ---- the process between the program and its server ---- */

/* Processes that lose their parents are reparented to the first process of a container, or to a
 * subreaper: such a program would find the server among its own children. A keeper, which is a
 * child that wait() does not see, is the server's parent as long as the program runs. */
static pid_t server_launch_keeper, kept_by; /* and its parent */

static bool server_launch_inherits_children(void)
{
    int asked = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &asked, 0, 0, 0) == 0 && asked);
}

/* (libpoet interposes syscall(), too, and this is not a child of the program's) */
static long server_launch_make_process(unsigned long flags)
{
    return real_functions.syscall(SYS_clone, (long)flags, NULL, NULL, NULL, NULL);
}

static void server_launch_wait_child(pid_t server)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    syscall(SYS_close_range, 0u, ~0u, 0u);
    while (waitpid(server, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

#define LOOK_NS 2000000

void server_launch_wait(unsigned ms)
{
    if (!server_launch_keeper || kept_by != getpid())
        return;
    server_forget();
    for (uint64_t begin = tracer_clock_now(); tracer_clock_now() - begin < ms * 1000000ull;) {
        if (waitpid(server_launch_keeper, NULL, WNOHANG | __WALL) != 0)
            return;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

/* ---- a server of one process ---- */

/* Starts a server that no wait() of the program can see. */
static int server_launch_alone(const struct server_launch *launch, char *file, size_t file_size,
                               char *endpoint, size_t endpoint_size)
{
    static char program[PATH_MAX]; /* once in a lifetime of the process */
    int pair[2];
    if (!server_launch_find_program(program, sizeof program)) {
        stderr_log_print_once("%s and poet-server was not found: tracing disabled "
                              "(set POET_SERVER_PROGRAM, or POET_SERVER=none)",
                              launch->to ? "an agent is needed" : "no server is running");
        return -1;
    }
    if (!launch->to)
        server_launch_name_file(file, file_size);
    if (!server_launch_name_socket(launch, endpoint, endpoint_size)) {
        stderr_log_print_once("%s", error.text);
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    pair[0] = server_connection_move_fd(pair[0], 4);
    pair[1] = server_connection_move_fd(pair[1], 4);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    /* Forks without SIGCHLD, and hidden from a debugger, which would take it for a thread. */
    bool keeps = server_launch_inherits_children();
    long child = server_launch_make_process(CLONE_UNTRACED);
    if (child == 0) {
        setsid();
        long server = server_launch_make_process(0);
        if (server == 0)
            server_launch_exec_server(program, launch, file, endpoint, pair[1]);
        if (server > 0 && keeps)
            server_launch_wait_child((pid_t)server);
        real_functions._exit(0);
    }
    close(pair[1]);
    if (child < 0) {
        close(pair[0]);
        return -1;
    }
    if (keeps)
        server_launch_keeper = (pid_t)child, kept_by = getpid();
    while (!keeps && waitpid((pid_t)child, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return pair[0];
}

/* ---- one server for all processes of a launch ---- */

#define TIMEOUT_MS 3000

static int lock_file = -1;
static char lock_path[400];
static pid_t server_launch_starter; /* of the server that it names */

/* Locks the file of the launch; all agents share one. */
static bool server_launch_lock_file(const struct server_launch *launch)
{
    static char directory[256];
    if (!endpoint_directory(directory, sizeof directory, &error))
        return false;
    if (launch->to)
        snprintf(lock_path, sizeof lock_path, "%s/launch-agents", directory);
    else
        snprintf(lock_path, sizeof lock_path, "%s/launch-%016llx", directory,
                 (unsigned long long)server_launch_hash(launch));
    if (lock_file < 0)
        lock_file =
            server_connection_move_fd(open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), 3);
    for (int waited = 0; lock_file >= 0 && waited < TIMEOUT_MS; waited += 10) {
        if (flock(lock_file, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return false;
}

/* Connects to the server that another process of the launch has started. Returns -1 if none
 * answers. */
static int server_launch_join(const struct server_launch *launch, char *endpoint,
                              size_t endpoint_size)
{
    static char known[400];
    bool absent, locked = server_launch_lock_file(launch);
    ssize_t n = locked && !launch->to ? pread(lock_file, known, sizeof known - 1, 0) : 0;
    known[n > 0 ? n : 0] = 0;
    if (launch->to && !server_launch_name_socket(launch, known, sizeof known))
        return -1;
    int fd = *known ? endpoint_connect(known, 1000, &absent, &error) : -1;
    if (fd >= 0)
        snprintf(endpoint, endpoint_size, "%s", known);
    return fd;
}

int server_launch_start(const struct server_launch *launch, bool *joined, char *file,
                        size_t file_size, char *endpoint, size_t endpoint_size)
{
    int fd = launch->name ? server_launch_join(launch, endpoint, endpoint_size) : -1;
    *joined = fd >= 0;
    if (*joined)
        return fd;
    fd = server_launch_alone(launch, file, file_size, endpoint, endpoint_size);
    if (!launch->name || launch->to)
        return fd;
    if (fd >= 0 && lock_file >= 0 &&
        (ftruncate(lock_file, 0) < 0 || pwrite(lock_file, endpoint, strlen(endpoint), 0) < 0))
        stderr_log_print("other processes of this launch are traced as separate runs: %s",
                         strerror(errno));
    server_launch_starter = fd >= 0 ? getpid() : 0;
    return fd;
}

void server_launch_done(void)
{
    if (lock_file >= 0)
        close(lock_file);
    lock_file = -1;
}

void server_launch_end(void)
{
    if (server_launch_starter == getpid())
        unlink(lock_path);
}
