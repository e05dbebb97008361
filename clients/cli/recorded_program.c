#define _GNU_SOURCE
#include "clients/cli/recorded_program.h"

#include "clients/cli/command_source.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_NS 30000000

static volatile pid_t followed; /* the program */

static void recorded_program_forward_signal(int number)
{
    int kept = errno;
    if (followed > 0)
        kill(followed, number);
    errno = kept;
}

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static void set_signals(void (*others)(int), void (*terminal)(int))
{
    struct sigaction action = {.sa_handler = others, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaction(passed_on[i], &action, NULL);
    action.sa_handler = terminal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
}

/* Signals are blocked until `followed` is set, so that none is forwarded to no process. */
pid_t recorded_program_begin(void)
{
    sigset_t some, before;
    sigfillset(&some);
    sigprocmask(SIG_SETMASK, &some, &before);
    pid_t child = fork();
    if (child > 0) {
        followed = child;
        set_signals(recorded_program_forward_signal, SIG_IGN);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* ---- completeness of the file ---- */

static void recorded_program_receive_stat(void *user, const struct response_chunk *answer)
{
    bool *whole = user;
    struct stat_info stat;
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *whole = !answer->in->error && !stat.connected && !stat.unfinished;
    stat_info_free(&stat);
}

/* Waits until the program's own server reports that the file is complete, or has exited. */
void recorded_program_is_complete(pid_t program)
{
    char directory[256], endpoint[400];
    struct error error;
    struct session source;
    bool whole = false;
    if (!endpoint_directory(directory, sizeof directory, &error))
        return;
    snprintf(endpoint, sizeof endpoint, "unix:%s/poet-%d.sock", directory, (int)program);
    while (!whole && session_open(&source, endpoint, SESSION_NAMED_LINES, &error)) {
        bool answered = session_wait(
            &source,
            session_send(&source, REQUEST_STAT, NULL, recorded_program_receive_stat, &whole),
            &error);
        session_close(&source);
        if (answered && !whole)
            nanosleep(&(struct timespec){0, AGAIN_NS}, NULL);
    }
}

/* ---- exit ---- */

static int write_report(const struct command *command, const char *file, const char *report)
{
    char *arguments[] = {(char[]){"report"}, (char *)(uintptr_t)file,
                         report ? (char[]){"-o"} : NULL, (char *)(uintptr_t)report, NULL};
    if (access(file, R_OK) < 0)
        return command_fail(command, "%s: no report: the program was not recorded", file);
    fflush(stdout);
    if (!report && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return EXIT_FAILED;
    return command_report.run(&command_report, report ? 4 : 2, arguments);
}

/* Ends by the same signal as the program, so that a shell sees it; without a second core dump. */
static int recorded_program_exit_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    set_signals(SIG_DFL, SIG_DFL);
    signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int recorded_program_end(const struct command *command, pid_t program, const char *file,
                         const char *report)
{
    int status = 0;
    while (waitpid(program, &status, 0) < 0 && errno == EINTR)
        ;
    followed = 0;
    set_signals(SIG_DFL, SIG_DFL);
    recorded_program_is_complete(program);
    write_report(command, file, report);
    return recorded_program_exit_like(status);
}
