#define _GNU_SOURCE
#include "clients/cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refused; /* --no-pager */
static int terminal = -1; /* copy of standard output from before the pager */
static volatile pid_t pager;

static error_t pager_parse_option(int key, char *value, struct argp_state *state)
{
    (void)value;
    (void)state;
    if (key != 256 + 'p')
        return ARGP_ERR_UNKNOWN;
    refused = true;
    return 0;
}

static const struct argp_option options[] = {
    {"no-pager", 256 + 'p', NULL, 0,
     "do not page: on a terminal, output longer than the screen goes through $PAGER (less)", 9},
    {0}};
const struct argp pager_options = {.options = options, .parser = pager_parse_option};

bool pager_is_terminal(void) { return terminal >= 0 || isatty(STDOUT_FILENO); }

unsigned pager_columns(void)
{
    struct winsize size;
    int fd = terminal >= 0 ? terminal : STDOUT_FILENO;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---- choice of the command ---- */

static bool is_in_path(const char *program, size_t length)
{
    const char *path = getenv("PATH");
    char file[4096];
    if (memchr(program, '/', length)) {
        snprintf(file, sizeof file, "%.*s", (int)length, program);
        return access(file, X_OK) == 0;
    }
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        size_t n = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%.*s", (int)n, path, (int)length, program);
        if (access(file, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* Returns a shell command; NULL: the pager is not wanted or not installed. */
static const char *pager_choose_command(void)
{
    const char *words = getenv("PAGER"), *term = getenv("TERM");
    if (refused || !isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
        return NULL;
    const char *command = words ? words : "less";
    command += strspn(command, " ");
    size_t length = strcspn(command, " ");
    if (!length || strcmp(command, "cat") == 0)
        return NULL;
    if (length == strcspn(command, " \"'$`\\|&;<>()*?[=") && !is_in_path(command, length)) {
        if (words)
            fprintf(stderr, "poet: PAGER=%s: not found; printing without a pager\n", words);
        return NULL;
    }
    return command;
}

/* ---- pager process ---- */

static void wait_for_pager(void)
{
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
    pager = 0;
}

/* Waits for the pager before this process ends by a signal, since both use the terminal. SIGPIPE
 * means that the user left the pager: not a failure. */
static void end_by_signal(int signal_number)
{
    close(STDOUT_FILENO);
    if (pager)
        wait_for_pager();
    if (signal_number == SIGPIPE)
        _exit(0);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static pid_t pager_start_command(const char *command, int input)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    char *arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                         (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    if (posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ) != 0)
        child = 0;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

void pager_begin(void)
{
    static const int ends[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const char *command = pager ? NULL : pager_choose_command();
    int pipes[2];
    if (!command || fflush(stdout) != 0 || pipe2(pipes, O_CLOEXEC) < 0)
        return;
    int before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    pid_t child = before >= 0 ? pager_start_command(command, pipes[0]) : 0;
    if (child && dup2(pipes[1], STDOUT_FILENO) >= 0) {
        terminal = before;
        pager = child;
        setvbuf(stdout, NULL, _IOFBF, 1 << 16);
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            signal(ends[i], end_by_signal);
    } else if (before >= 0) {
        close(before);
    }
    close(pipes[0]);
    close(pipes[1]);
}

bool pager_is_running(void) { return pager != 0; }

void pager_end(void)
{
    fflush(stdout);
    close(STDOUT_FILENO);
    if (pager)
        wait_for_pager();
}
