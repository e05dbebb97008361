#define _GNU_SOURCE
#include "clients/cli/terminal.h"

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

#define WIDTH_UNKNOWN 100u /* columns without a terminal */

/* ---- pager: its option ---- */

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

static const struct argp_option pager_rows[] = {
    {"no-pager", 256 + 'p', NULL, 0,
     "do not page: on a terminal, output longer than the screen goes through $PAGER (less)", 9},
    {0}};
const struct argp pager_options = {.options = pager_rows, .parser = pager_parse_option};

bool pager_is_terminal(void) { return terminal >= 0 || isatty(STDOUT_FILENO); }

unsigned pager_columns(void)
{
    struct winsize size;
    int fd = terminal >= 0 ? terminal : STDOUT_FILENO;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

unsigned terminal_text_columns(void)
{
    unsigned columns = pager_columns();
    return columns ? columns : WIDTH_UNKNOWN;
}

/* ---- color ---- */

static enum when { AUTO, ALWAYS, NEVER } when;

static error_t terminal_color_parse_option(int key, char *value, struct argp_state *state)
{
    static const char *const words[] = {"auto", "always", "never"};
    if (key != 256 + 'c')
        return ARGP_ERR_UNKNOWN;
    for (int i = 0; i < 3; i++)
        if (!value || strcmp(value, words[i]) == 0) {
            when = value ? (enum when)i : ALWAYS;
            return 0;
        }
    fprintf(stderr, "%s: --color=%s: auto, always or never\n", state->name, value);
    return EINVAL;
}

static const struct argp_option terminal_color_rows[] = {
    {"color", 256 + 'c', "WHEN", OPTION_ARG_OPTIONAL,
     "colored output: auto (default: on a terminal, unless $NO_COLOR is set), always or never", 9},
    {0}};
static const struct argp_child terminal_color_children[] = {{&pager_options, 0, NULL, 0}, {0}};
const struct argp color_options = {.options = terminal_color_rows,
                                   .parser = terminal_color_parse_option,
                                   .children = terminal_color_children};

bool terminal_color_is_enabled(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != AUTO)
        return when == ALWAYS;
    return !(no && *no) && term && strcmp(term, "dumb") != 0 && pager_is_terminal();
}

const char *terminal_color_begin(enum terminal_color color)
{
    static const char *const codes[] = {"\033[1;31m", "\033[33m", "\033[32m",
                                        "\033[35m",   "\033[36m", "\033[2m",
                                        "\033[1m",    "\033[34m", "\033[33m"};
    return terminal_color_is_enabled() ? codes[color] : "";
}

const char *terminal_color_end(void) { return terminal_color_is_enabled() ? "\033[m" : ""; }

/* ---- pager: choice of the command ---- */

static bool pager_is_in_path(const char *program, size_t length)
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
    if (length == strcspn(command, " \"'$`\\|&;<>()*?[=") && !pager_is_in_path(command, length)) {
        if (words)
            fprintf(stderr, "poet: PAGER=%s: not found; printing without a pager\n", words);
        return NULL;
    }
    return command;
}

/* ---- pager: its process ---- */

static void pager_wait(void)
{
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
    pager = 0;
}

/* Waits for the pager before this process ends by a signal, since both use the terminal. SIGPIPE
 * means that the user left the pager: not a failure. */
static void pager_end_by_signal(int signal_number)
{
    close(STDOUT_FILENO);
    if (pager)
        pager_wait();
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
            signal(ends[i], pager_end_by_signal);
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
        pager_wait();
}

/* ---- redrawing ---- */

static struct {
    FILE *screen; /* the standard output, while it is collected */
    char *text;
    size_t size;
    bool again; /* something was drawn before */
} redrawn;

void terminal_redraw_begin(void)
{
    FILE *collected = open_memstream(&redrawn.text, &redrawn.size);
    if (!collected)
        return; /* it is printed at once */
    redrawn.screen = stdout;
    stdout = collected;
}

/* Returns the number of lines of the screen. */
static unsigned terminal_lines(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : 24;
}

/* What stood on the screen moves up at first. Then each line, and what is below the last one, is
 * cleared as it is drawn, without wrapping; the last line has the number of those that do not
 * fit. */
static void terminal_redraw_print(const char *text)
{
    unsigned rows = terminal_lines(), lines = rows - 1, hidden = 0;
    for (unsigned i = 0; i < rows && !redrawn.again; i++)
        putchar('\n');
    redrawn.again = true;
    fputs("\033[H\033[?7l", stdout);
    for (; *text && lines; lines--) {
        size_t size = strcspn(text, "\n");
        printf("%.*s\033[K\n", (int)size, text);
        text += size + (text[size] == '\n');
    }
    for (; *text; text += *text == '\n')
        text += strcspn(text, "\n"), hidden++;
    if (hidden)
        printf("... %u more line%s", hidden, hidden == 1 ? "" : "s");
    fputs("\033[J\033[?7h", stdout);
}

void terminal_redraw_end(void)
{
    if (!redrawn.screen)
        return;
    fclose(stdout);
    stdout = redrawn.screen;
    redrawn.screen = NULL;
    if (isatty(STDOUT_FILENO))
        terminal_redraw_print(redrawn.text);
    else
        fputs(redrawn.text, stdout);
    fflush(stdout);
    free(redrawn.text);
}
