/* poet attach: blocked threads of a running program, and a stack trace of each of its threads. */
#define _GNU_SOURCE
#include "clients/cli/command_source.h"
#include "clients/cli/json_output.h"
#include "clients/connection/install_paths.h"
#include "base/alloc.h"
#include "wire/endpoint.h"
#include "config/options.h"

#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct attach_options {
    const char *source, *gdb;
    bool stay;
    char endpoint[400], file[400];
};

/* Sets the endpoint: that of the server that the program started for itself, if its socket exists,
 * else the user's default. */
static bool attach_find_source(const struct command *command, struct attach_options *a, int pid)
{
    char directory[256];
    struct error error;
    if (!endpoint_directory(directory, sizeof directory, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    snprintf(a->file, sizeof a->file, "%s/poet-%d.attach", directory, (int)getpid());
    snprintf(a->endpoint, sizeof a->endpoint, "unix:%s/poet-%d.sock", directory, pid);
    if (access(a->endpoint + strlen("unix:"), F_OK) != 0 &&
        !endpoint_default(a->endpoint, sizeof a->endpoint, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    if (!a->source)
        a->source = a->endpoint;
    return true;
}

/* Returns whether the server's socket exists, if it is a local one; reports an error if not. */
static bool attach_has_server(const struct command *command, const struct attach_options *a,
                              int pid)
{
    if (strncmp(a->source, "unix:/", 6) != 0 || access(a->source + strlen("unix:"), F_OK) == 0)
        return true;
    command_fail(command,
                 "%d: not traced, or its server exited (%s is missing); start it with poet record",
                 pid, a->source + strlen("unix:"));
    return false;
}

static bool attach_has_process(const struct trace_metadata *book, int pid)
{
    for (uint32_t i = 0; i < book->process_count; i++)
        if (book->processes[i].pid == (uint32_t)pid)
            return true;
    return false;
}

/* ---- system calls of the threads, read before gdb stops them ---- */

static const struct {
    long number;
    const char *name;
} calls[] = {{SYS_futex, "futex_wait"},
             {SYS_read, "read"},
             {SYS_write, "write"},
             {SYS_ppoll, "ppoll"},
             {SYS_pselect6, "pselect"},
             {SYS_epoll_pwait, "epoll_wait"},
             {SYS_recvfrom, "recvfrom"},
             {SYS_recvmsg, "recvmsg"},
             {SYS_accept, "accept"},
             {SYS_accept4, "accept4"},
             {SYS_wait4, "wait4"},
             {SYS_waitid, "waitid"},
             {SYS_nanosleep, "nanosleep"},
             {SYS_clock_nanosleep, "clock_nanosleep"},
             {SYS_rt_sigtimedwait, "sigtimedwait"},
#ifdef SYS_poll
             {SYS_poll, "poll"},
             {SYS_select, "select"},
             {SYS_epoll_wait, "epoll_wait"},
             {SYS_pause, "pause"},
#endif
             {SYS_flock, "flock"}};

/* Returns the system call that a thread is in, in new memory; NULL: none, or it cannot be read (the
 * permission is the same as for gdb). */
static char *attach_call_name(const char *path)
{
    char text[200] = "", *end = NULL;
    FILE *f = fopen(path, "r");
    size_t got = f ? fread(text, 1, sizeof text - 1, f) : 0;
    long number = got ? strtol(text, &end, 10) : -1;
    if (f)
        fclose(f);
    if (!got || end == text || number < 0)
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return xstrdup(calls[i].name);
    return xasprintf("system call %ld", number);
}

static struct json_object *attach_call_names(int pid)
{
    struct json_object *o = json_object_new_object();
    char path[100];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;) {
        if (*e->d_name == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/syscall", pid, e->d_name);
        char *call = attach_call_name(path);
        if (call)
            json_object_object_add(o, e->d_name, json_take_text(call));
    }
    if (tasks)
        closedir(tasks);
    return o;
}

/* Writes the input of gdb's script: the lines of the process, with the addresses of their objects,
 * by which gdb can identify threads, too; and the threads' system calls. */
static bool attach_write_lines(const struct command *command, const struct attach_options *a,
                               struct command_source *subject, int pid)
{
    const struct trace_metadata *book = &subject->source.book;
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    char self[PATH_MAX] = "";
    command_source_label_lines(subject);
    install_path_find("bin/poet", X_OK, self, sizeof self);
    for (uint32_t i = 1; i <= book->line_count; i++) {
        const struct line_metadata *line = metadata_line(book, i);
        if (!line || !line->is.object || line->is.process >= book->process_count ||
            book->processes[line->is.process].pid != (uint32_t)pid)
            continue;
        struct json_object *one = json_object_new_object();
        json_object_object_add(one, "line", json_object_new_int64(i));
        json_object_object_add(one, "label", json_object_new_string(metadata_label(book, i)));
        json_object_object_add(one, "object", json_object_new_uint64(line->is.object));
        json_object_object_add(one, "last", json_object_new_int64((int64_t)line->is.last));
        json_object_array_add(list, one);
    }
    json_object_object_add(o, "lines", list);
    json_object_object_add(o, "calls", attach_call_names(pid));
    json_object_object_add(o, "poet", json_object_new_string(self));
    json_object_object_add(o, "source", json_object_new_string(a->source));
    bool written = json_object_to_file_ext(a->file, o, JSON_C_TO_STRING_PLAIN) == 0;
    if (!written)
        command_fail(command, "%s: %s", a->file, strerror(errno));
    json_object_put(o);
    return written;
}

static int attach_run_debugger(const struct command *command, const struct attach_options *a,
                               const char *pid)
{
    char commands[PATH_MAX];
    int status = 0;
    if (!install_path_find("share/poet/gdb/poet-attach.py", R_OK, commands, sizeof commands))
        return command_fail(command, "share/poet/gdb/poet-attach.py: not installed");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("POET_ATTACH", a->file, 1);
        execlp(a->gdb, a->gdb, "-q", "-iex", "set debuginfod enabled off", "-p", pid, "-x",
               commands, a->stay ? (char *)NULL : "-batch", (char *)NULL);
        command_fail(command, "%s: %s%s", a->gdb, strerror(errno),
                     errno == ENOENT ? " (Debian: gdb)" : "");
        _exit(126);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static const struct option_row attach_rows[] = {OPTION_STORES('s', struct attach_options, source),
                                                OPTION_SETS('i', struct attach_options, stay),
                                                OPTION_STORES('g', struct attach_options, gdb),
                                                {0}};

static error_t attach_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(attach_rows, key, value, state);
}

static int attach_run(const struct command *command, int argc, char **argv)
{
    struct attach_options a = {.gdb = "gdb"};
    struct command_source subject;
    int first, status = command_read(command, argc, argv, &a, &first);
    if (status != OPTIONS_READ)
        return status;
    char *end = NULL;
    long pid = argc - first == 1 ? strtol(argv[first], &end, 10) : 0;
    if (pid <= 0 || pid > INT_MAX || *end)
        return command_usage(command, argc == first ? "missing operand: PID" : "expected one PID");
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return command_fail(command, "%ld: no such process", pid);
    if (!attach_find_source(command, &a, (int)pid) || !attach_has_server(command, &a, (int)pid) ||
        !command_source_open(command, &subject, a.source, SESSION_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    if (!attach_has_process(&subject.source.book, (int)pid))
        status = command_fail(command, "process %ld is not in the run of %s", pid, a.source);
    else
        status = attach_write_lines(command, &a, &subject, (int)pid)
                     ? attach_run_debugger(command, &a, argv[first])
                     : EXIT_FAILED;
    unlink(a.file);
    command_source_close(&subject);
    return status;
}

static const struct argp_option options[] = {
    {"interactive", 'i', NULL, 0, "stay in gdb", 0},
    {"source", 's', "SOURCE", 0, "the run of the process, instead of that of its server", 0},
    {"gdb", 'g', "PROGRAM", 0, "use this debugger instead of gdb", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = attach_parse_option,
    .args_doc = "PID",
    .doc = "Show the blocked threads of a running traced program (as poet blocked), with a stack "
           "trace of every thread.  The program is stopped by gdb while this runs.",
    .children = options_children};

const struct command command_attach = {
    .name = "attach",
    .summary = "show blocked threads and stack traces of a running program",
    .run = attach_run,
    .argp = &argp};
