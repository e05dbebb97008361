#define _GNU_SOURCE
#include "clients/cli/number_sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 65536u
#define SECONDS_MOST 10

extern char **environ;

static void number_sampler_set_error(struct error *error, const char *what)
{
    snprintf(error->text, sizeof error->text, "%s", what);
}

bool number_sampler_parse(const char *text, long long *thousandths)
{
    const char *at = text + strcspn(text, "0123456789");
    if (!*at)
        return false;
    if (at > text && at[-1] == '.')
        at--;
    if (at > text && (at[-1] == '-' || at[-1] == '+') &&
        (at - 1 == text || strchr(" \t\n=:,(", at[-2])))
        at--;
    double value = strtod(at, NULL);
    if (!isfinite(value) || fabs(value) > 9e15)
        return false;
    *thousandths = llround(value * 1000);
    return true;
}

static bool first_number(char *text, size_t size, long long *thousandths, struct error *error)
{
    text[size] = 0;
    if (number_sampler_parse(text, thousandths))
        return true;
    number_sampler_set_error(error, "no number found");
    return false;
}

bool number_sampler_read_file(const char *path, long long *thousandths, struct error *error)
{
    static char text[TEXT_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, TEXT_BYTES) : -1;
    int e = errno;
    if (fd >= 0)
        close(fd);
    if (n >= 0)
        return first_number(text, (size_t)n, thousandths, error);
    number_sampler_set_error(error, strerror(e));
    return false;
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts a command in its own process group, so that all its descendants can be killed. */
static pid_t number_sampler_start_command(const char *command, int output)
{
    char *arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                         (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    pid_t pid;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    int e = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = e;
    return e ? -1 : pid;
}

/* Reads until end of file; returns false after the time `until`, or if stopped. */
static bool read_all(int fd, char *text, size_t *size, const volatile int *stopped, long long until)
{
    for (*size = 0; !*stopped && now_ms() < until;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char more[4096];
        if (poll(&p, 1, 100) <= 0)
            continue;
        ssize_t n = read(fd, more, sizeof more);
        if (n <= 0)
            return true;
        size_t fits = TEXT_BYTES - *size < (size_t)n ? TEXT_BYTES - *size : (size_t)n;
        memcpy(text + *size, more, fits);
        *size += fits;
    }
    return false;
}

/* Waits for the command, which may have closed its output early. */
static bool has_ended(pid_t pid, int *status, const volatile int *stopped, long long until)
{
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (*stopped || now_ms() >= until)
            return false;
        poll(NULL, 0, 1);
    }
    return true;
}

static bool ended_well(int status, struct error *error)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status))
        snprintf(error->text, sizeof error->text, "exited with status %d", WEXITSTATUS(status));
    else
        snprintf(error->text, sizeof error->text, "killed by signal %d", WTERMSIG(status));
    return false;
}

bool number_sampler_run_command(const char *command, long long *thousandths,
                                const volatile int *stopped, struct error *error)
{
    static char text[TEXT_BYTES + 1];
    size_t size;
    int pipes[2], status = 0;
    pid_t pid = pipe2(pipes, O_CLOEXEC) == 0 ? number_sampler_start_command(command, pipes[1]) : -1;
    if (pid < 0) {
        number_sampler_set_error(error, strerror(errno));
        return false;
    }
    close(pipes[1]);
    long long until = now_ms() + SECONDS_MOST * 1000;
    bool whole = read_all(pipes[0], text, &size, stopped, until);
    close(pipes[0]);
    if (!whole || !has_ended(pid, &status, stopped, until)) {
        whole = false;
        kill(-pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        number_sampler_set_error(error, "timed out and was killed");
    }
    return whole && ended_well(status, error) && first_number(text, size, thousandths, error);
}
