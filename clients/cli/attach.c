/* poet attach: blocked threads and stacks of a running process or of a core file; of a traced
 * process with its run. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/attached_process.h"
#include "clients/cli/blocked.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "config/options.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct attach_options {
    const char *source, *gdb, *core;
    bool stay, json;
};

/* ---- the run of a traced process ---- */

static bool attach_has_process(const struct trace_metadata *book, uint32_t pid)
{
    for (uint32_t i = 0; i < book->process_count; i++)
        if (book->processes[i].pid == pid)
            return true;
    return false;
}

/* Returns whether a source can be opened and has the process. */
static bool attach_is_in(const char *source, uint32_t pid)
{
    struct session session;
    struct error ignored;
    bool is = session_open(&session, source, SESSION_NAMED_LINES, &ignored);
    if (is) {
        is = session_wait(&session, session_send(&session, REQUEST_RUNS, NULL, NULL, NULL),
                          &ignored) &&
             attach_has_process(&session.book, pid);
        session_close(&session);
    }
    return is;
}

/* Returns the source that has the process: the server that the program started for itself, or the
 * user's default. The caller frees it; NULL: the process is not traced. */
static char *attach_find_source(uint32_t pid)
{
    char directory[256], text[400];
    struct error error;
    if (endpoint_directory(directory, sizeof directory, &error)) {
        snprintf(text, sizeof text, "unix:%s/poet-%u.sock", directory, pid);
        if (access(text + strlen("unix:"), F_OK) == 0 && attach_is_in(text, pid))
            return xstrdup(text);
    }
    if (endpoint_default(text, sizeof text, &error) &&
        (strncmp(text, "unix:/", 6) != 0 || access(text + strlen("unix:"), F_OK) == 0) &&
        attach_is_in(text, pid))
        return xstrdup(text);
    return NULL;
}

/* The threads of the run are tasks of a runtime, which its threads of the system run: none of these
 * is a task of the same name. */
static void attach_label_workers(struct attached_process *a)
{
    for (uint32_t i = 0; i < a->snapshot.thread_count; i++) {
        char *label = a->labels[i];
        if (strncmp(label, "T:", 2) != 0)
            continue;
        a->labels[i] = xasprintf("system thread %s", label + 2);
        free(label);
    }
}

/* Labels the threads with the lines of the run, found by their pthread_t, the lines' objects. */
static void attach_map_lines(struct attach_output *output)
{
    struct attached_process *a = output->attached;
    const struct trace_metadata *book = &output->run->source.book;
    bool has_lines = false, maps_any = false;
    output->lines = xcalloc(a->snapshot.thread_count, sizeof *output->lines);
    for (uint32_t n = 1; n <= book->line_count; n++) {
        const struct line_metadata *line = metadata_line(book, n);
        if (!line || line->is.process >= book->process_count ||
            book->processes[line->is.process].pid != a->snapshot.pid)
            continue;
        const struct snapshot_thread *t = snapshot_thread_at(&a->snapshot, line->is.object);
        has_lines = true;
        if (!t)
            continue;
        maps_any = true;
        size_t i = (size_t)(t - a->snapshot.threads);
        output->lines[i] = n;
        free(a->labels[i]);
        a->labels[i] = xstrdup(metadata_label(book, n));
    }
    if (has_lines && !maps_any)
        attach_label_workers(a);
}

/* ---- the command ---- */

/* Replaces this process by gdb. */
static int attach_stay(const struct command *command, const struct attach_options *a,
                       const char *pid)
{
    fflush(NULL);
    execlp(a->gdb, a->gdb, "-q", "-iex", "set debuginfod enabled off", "-p", pid, (char *)NULL);
    command_fail(command, "%s: %s%s", a->gdb, strerror(errno),
                 errno == ENOENT ? " (Debian: gdb)" : "");
    return 126;
}

static void attach_print(const struct attach_options *options, const struct attach_output *output)
{
    if (!options->stay)
        pager_begin();
    if (options->json)
        json_print(attach_json(output));
    else
        attach_text_print(output);
}

/* Prints the process, with its run if it is traced. */
static int attach_show(const struct command *command, const struct attach_options *options,
                       struct attached_process *attached, uint32_t pid)
{
    struct attach_output output = {.attached = attached};
    struct command_source run;
    char *found = options->source ? xstrdup(options->source)
                  : options->core ? NULL
                                  : attach_find_source(pid);
    bool ok = !found || command_source_open(command, &run, found, SESSION_ALL_LINES, LABELS_NAME);
    if (ok && found) {
        output.run = &run;
        ok = attach_has_process(&run.source.book, pid);
        if (!ok)
            command_fail(command, "process %u is not in the run of %s", pid, found);
        ok = ok && command_source_waits(command, &run, &output.waits);
        if (ok)
            attach_map_lines(&output);
    }
    if (ok)
        attach_print(options, &output);
    free(output.lines);
    wait_list_free(&output.waits);
    if (output.run)
        command_source_close(&run);
    free(found);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static const struct option_row attach_rows[] = {OPTION_STORES('s', struct attach_options, source),
                                                OPTION_SETS('i', struct attach_options, stay),
                                                OPTION_SETS('j', struct attach_options, json),
                                                OPTION_STORES('c', struct attach_options, core),
                                                OPTION_STORES('g', struct attach_options, gdb),
                                                {0}};

static error_t attach_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(attach_rows, key, value, state);
}

/* Reads the operands. Returns OPTIONS_READ, or the exit status. */
static int attach_read_operands(const struct command *command, const struct attach_options *options,
                                int count, char **operands, uint32_t *pid)
{
    char *end = NULL;
    long number = count == 1 ? strtol(operands[0], &end, 10) : 0;
    if (options->core && count)
        return command_usage(command, "extra operand: %s", operands[0]);
    if (options->core && (options->stay || options->source))
        return command_usage(command, "--core excludes --interactive and --source");
    if (options->core)
        return OPTIONS_READ;
    if (number <= 0 || number > INT_MAX || *end)
        return command_usage(command, count ? "expected one PID" : "missing operand: PID");
    if (kill((pid_t)number, 0) != 0 && errno == ESRCH)
        return command_fail(command, "%ld: no such process", number);
    *pid = (uint32_t)number;
    return OPTIONS_READ;
}

static int attach_run(const struct command *command, int argc, char **argv)
{
    struct attach_options options = {.gdb = "gdb"};
    struct attached_process attached;
    struct error error;
    uint32_t pid = 0;
    int first, status = command_read(command, argc, argv, &options, &first);
    if (status != OPTIONS_READ)
        return status;
    status = attach_read_operands(command, &options, argc - first, argv + first, &pid);
    if (status != OPTIONS_READ)
        return status;
    if (!attached_process_read(&attached, pid, options.core, &error))
        return command_fail(command, "%s", error.text);
    status = attach_show(command, &options, &attached, pid);
    attached_process_free(&attached);
    return status == EXIT_DONE && options.stay ? attach_stay(command, &options, argv[first])
                                               : status;
}

static const struct argp_option options[] = {
    {"core", 'c', "FILE", 0, "a core file instead of a process", 0},
    {"json", 'j', NULL, 0, "as one JSON object", 0},
    {"interactive", 'i', NULL, 0, "stay in gdb afterwards", 0},
    {"source", 's', "SOURCE", 0, "the run of the process, instead of that of its server", 0},
    {"gdb", 'g', "PROGRAM", 0, "use this debugger instead of gdb", 0},
    {0}};
static const struct argp_child children[] = {
    {&color_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = attach_parse_option,
    .args_doc = "PID\n--core=FILE",
    .doc = "Show the blocked threads of any running process or of a core file, as poet blocked "
           "does, and the stack of every thread.  Owners of locks are those that glibc stores in "
           "them.  The process is only read, and stopped for a moment: after 0.15 s it is "
           "released, whatever was copied.  Threads in a system call that a stop would end, such "
           "as epoll_wait, are not stopped.  If the process is traced, its run comes first.",
    .children = children};

const struct command command_attach = {
    .name = "attach",
    .summary = "show blocked threads and stack traces of a running program",
    .run = attach_run,
    .argp = &argp};
