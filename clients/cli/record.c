/* poet record: runs a program with libpoet preloaded. The program replaces this process, so its
 * process id, signals and exit status are those of an untraced run. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/measurement_option.h"
#include "clients/cli/preload.h"
#include "clients/cli/recorded_program.h"
#include "clients/cli/repeated_runs.h"
#include "clients/cli/report_page.h"
#include "clients/cli/table_options.h"
#include "clients/connection/install_paths.h"
#include "clients/connection/session.h"
#include "clients/metadata/event_text.h"
#include "config/assertion_file.h"
#include "config/options.h"
#include "wire/endpoint.h"
#include "wire/trace_header.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the environment of the program ---- */

#define EXIT_NOT_FOUND 127 /* as env and nohup return */
#define EXIT_NOT_EXECUTABLE 126

enum {
    WITHOUT = 256,
    REPORT,
    WITH_INPUT,
    HANG_TIMEOUT,
    FINDING_STATUS,
    REPEAT,
    UNTIL_FAILURE,
    PERTURB,
    ASSERT
};

struct record_options {
    const char *output, *keep, *without, *report; /* report: a file, "" standard error */
    char include[PATH_MAX], exclude[PATH_MAX];
    bool libraries, view, force, input;
    const char *meters; /* --measure: a list or a file, later the list; NULL: none */
    bool memory; /* `meters` includes it */
    int64_t hang_timeout_ns; /* 0: none */
    int finding_status;
    unsigned repeat; /* 0: one run */
    bool until_failure, perturbs;
    const char *assertion_file;
    struct assertions assertions;
};

static void record_directory(const char *library, char *directory, size_t size)
{
    snprintf(directory, size, "%.*s", (int)(strrchr(library, '/') - library), library);
}

static void record_set_or_unset(const char *variable, const char *value)
{
    if (value && *value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

static void record_add_pattern(char *list, const char *pattern)
{
    size_t used = strlen(list);
    snprintf(list + used, PATH_MAX - used, "%s%s", used ? ":" : "", pattern);
}

/* For `python3 -m poet PROGRAM`: lets Python find Poet's own module. */
static void record_add_python_module(char *const *arguments)
{
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0],
               *before = getenv("PYTHONPATH");
    char module[PATH_MAX], path[3 * PATH_MAX];
    if (strncmp(name, "python", 6) != 0 || !arguments[1] || strcmp(arguments[1], "-m") != 0 ||
        !arguments[2] || strcmp(arguments[2], "poet") != 0 ||
        !install_path_find("share/poet/python/poet.py", R_OK, module, sizeof module))
        return;
    record_directory(module, path, sizeof path);
    size_t used = strlen(path);
    snprintf(path + used, sizeof path - used, "%s%s", before ? ":" : "", before ? before : "");
    setenv("PYTHONPATH", path, 1);
}

static void record_set_environment(const struct record_options *o,
                                   const struct preload_check *loadable, const char *library,
                                   char *const *arguments)
{
    char preload[4 * PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    snprintf(preload, sizeof preload, "%s%s", loadable->sanitizers, library);
    char directory[PATH_MAX];
    record_directory(library, directory, sizeof directory);
    preload_add(preload, sizeof preload, directory, arguments, o->without);
    size_t used = strlen(preload);
    if (o->meters)
        setenv("POET_MEASURE", o->meters, 1);
    if (o->memory) {
        used += (size_t)snprintf(preload + used, sizeof preload - used,
                                 " %s/poet/libpoet-memory.so", directory);
        used = used < sizeof preload ? used : sizeof preload - 1;
    }
    snprintf(preload + used, sizeof preload - used, "%s%s", before ? " " : "",
             before ? before : "");
    setenv("LD_PRELOAD", preload, 1);
    setenv("POET_RECORD", o->libraries ? "all" : "program", 1);
    /* so that this run prints its warnings, even if it is started by a traced one */
    unsetenv("POET_SAID");
    record_add_python_module(arguments);
    record_set_or_unset("POET_INCLUDE", o->include);
    record_set_or_unset("POET_EXCLUDE", o->exclude);
    if (o->input)
        setenv("POET_INPUT", "1", 1);
    if (o->keep)
        setenv("POET_KEEP", o->keep, 1);
    if (o->output) {
        setenv("POET_OUTPUT", o->output, 1);
        unsetenv("POET_SERVER");
        unsetenv("POET_RUN");
    }
}

/* ---- the viewer and the trace file ---- */

static bool record_server_answers(const char *endpoint)
{
    bool absent;
    struct error error;
    int fd = endpoint_connect(endpoint, 1000, &absent, &error);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool record_wait_for_server(const char *endpoint)
{
    struct timespec pause = {0, 20000000};
    for (int i = 0; i < 250 && !record_server_answers(endpoint); i++) /* at most 5 s */
        nanosleep(&pause, NULL);
    return record_server_answers(endpoint);
}

/* Starts the viewer, detached. With a trace file, the program has a server of its own, which
 * listens under the process id that the program will have; otherwise the viewer starts the default
 * server. */
static void record_open_viewer(const struct command *command, const struct record_options *o)
{
    char path[PATH_MAX], directory[256], endpoint[400];
    struct error error;
    bool own = o->output != NULL;
    if (!install_path_program("poet-view", path, sizeof path)) {
        command_fail(command, "poet-view: not installed; running without the viewer");
        return;
    }
    if (own ? !endpoint_directory(directory, sizeof directory, &error)
            : !endpoint_default(endpoint, sizeof endpoint, &error)) {
        command_fail(command, "%s", error.text);
        return;
    }
    if (own)
        snprintf(endpoint, sizeof endpoint, "unix:%s/poet-%d.sock", directory, (int)getpid());
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        if (own && record_wait_for_server(endpoint))
            execl(path, "poet-view", endpoint, (char *)NULL);
        else if (!own)
            execl(path, "poet-view", (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    if (!own && !record_wait_for_server(endpoint))
        command_fail(command, "%s: no answer from the viewer's server", endpoint);
}

/* Returns whether the file is a trace, empty, or unreadable. */
static bool record_is_trace_or_empty(const char *path)
{
    char head[TRACEHEAD_MAGIC_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : 0;
    if (fd >= 0)
        close(fd);
    return n <= 0 || (n == (ssize_t)sizeof head && tracehead_is_trace(head));
}

static bool record_may_write(const struct command *command, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        command_fail(command, "%s: is a directory; name a file", path);
        return false;
    }
    if (!record_is_trace_or_empty(path)) {
        command_fail(command, "%s: exists and is not a trace file; not overwritten", path);
        return false;
    }
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (access(directory, W_OK) == 0)
        return true;
    command_fail(command, "%s: %s", path, strerror(errno));
    return false;
}

static const struct option_row record_rows[] = {
    OPTION_STORES('o', struct record_options, output),
    OPTION_SETS('l', struct record_options, libraries),
    OPTION_STORES('k', struct record_options, keep),
    OPTION_SETS('v', struct record_options, view),
    OPTION_STORES(WITHOUT, struct record_options, without),
    OPTION_SETS(WITH_INPUT, struct record_options, input),
    OPTION_STORES('m', struct record_options, meters),
    OPTION_SETS('f', struct record_options, force),
    OPTION_SETS(UNTIL_FAILURE, struct record_options, until_failure),
    OPTION_SETS(PERTURB, struct record_options, perturbs),
    OPTION_STORES(ASSERT, struct record_options, assertion_file),
    {0}};

/* ---- the command ---- */

/* Returns an exit status other than 0; 0: it is none. */
static int record_status(const char *value)
{
    char *end;
    long status = strtol(value, &end, 10);
    return end != value && !*end && status > 0 && status < 256 ? (int)status : 0;
}

static error_t record_parse_option(int key, char *value, struct argp_state *state)
{
    struct record_options *o = state->input;
    switch (key) {
    case 'i':
        record_add_pattern(o->include, value);
        return 0;
    case 'x':
        record_add_pattern(o->exclude, value);
        return 0;
    case REPORT:
        o->report = value ? value : "";
        return 0;
    case HANG_TIMEOUT:
        if (duration_read(value, &o->hang_timeout_ns) && o->hang_timeout_ns > 0)
            return 0;
        fprintf(stderr, "%s: --hang-timeout %s: not a time, such as 60s\n", state->name, value);
        return EINVAL;
    case REPEAT:
        if (command_number(value, REPEATED_RUNS_MOST, &o->repeat))
            return 0;
        fprintf(stderr, "%s: --repeat %s: not a number from 1 to %u\n", state->name, value,
                REPEATED_RUNS_MOST);
        return EINVAL;
    case FINDING_STATUS:
        o->finding_status = record_status(value);
        if (o->finding_status)
            return 0;
        fprintf(stderr, "%s: --error-exitcode %s: not a status from 1 to 255\n", state->name,
                value);
        return EINVAL;
    default:
        return option_rows_parse(record_rows, key, value, state);
    }
}

/* Replaces this process by the program. */
static int record_exec_program(const struct command *command, const struct record_options *o,
                               const struct preload_check *loadable, const char *library,
                               char **argv)
{
    if (o->view)
        record_open_viewer(command, o);
    record_set_environment(o, loadable, library, argv);
    execv(loadable->path, argv);
    command_fail(command, "%s: %s", argv[0], strerror(errno));
    return EXIT_NOT_EXECUTABLE;
}

/* Returns whether something is left to do after the program has ended. */
static bool record_is_followed(const struct record_options *o)
{
    return o->report || o->hang_timeout_ns || o->assertions.count || finding_options_given();
}

/* Runs the program as a child with its own server and file, so that the supervisor knows where the
 * trace is, and when it is complete. */
static int record_start_followed(const struct command *command, struct record_options *o,
                                 const struct preload_check *loadable, const char *library,
                                 char **argv)
{
    char output[PATH_MAX];
    const char *slash = strrchr(argv[0], '/');
    pid_t child = recorded_program_begin();
    if (child < 0)
        return command_fail(command, "%s", strerror(errno));
    if (!o->output) {
        snprintf(output, sizeof output, "%.200s.%d.poet", slash ? slash + 1 : argv[0],
                 (int)(child ? child : getpid()));
        o->output = output;
    }
    unsetenv("POET_REPORT"); /* this process prints the report */
    if (o->report)
        setenv("POET_PREPARE_REPORT", "0", 1); /* and so saves its tables */
    if (child > 0)
        return recorded_program_end(
            &(struct recorded_program){.command = command,
                                       .file = o->output,
                                       .report = o->report,
                                       .hang_timeout_ns = o->hang_timeout_ns,
                                       .finding_status = o->finding_status,
                                       .assertions = o->assertions.count ? &o->assertions : NULL},
            child);
    return record_exec_program(command, o, loadable, library, argv);
}

/* What each run of a program that is recorded many times needs. */
struct record_task {
    const struct command *command;
    struct record_options *options;
    const struct preload_check *loadable;
    const char *library;
    char **argv;
};

static int record_start(const struct record_task *task)
{
    return record_is_followed(task->options)
               ? record_start_followed(task->command, task->options, task->loadable, task->library,
                                       task->argv)
               : record_exec_program(task->command, task->options, task->loadable, task->library,
                                     task->argv);
}

static int record_start_repeated(void *user, const char *trace)
{
    const struct record_task *task = user;
    task->options->output = trace;
    return record_start(task);
}

static int record_repeat(const struct record_task *task)
{
    const struct record_options *o = task->options;
    const char *slash = strrchr(task->argv[0], '/');
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.200s.runs", slash ? slash + 1 : task->argv[0]);
    struct repeated_runs runs = {.command = task->command,
                                 .directory = o->output ? o->output : directory,
                                 .count = o->repeat ? o->repeat : REPEATED_RUNS_MOST,
                                 .until_failure = o->until_failure,
                                 .perturbs = o->perturbs};
    return repeated_runs_record(&runs, record_start_repeated, (void *)(uintptr_t)task);
}

static int record_run(const struct command *command, int argc, char **argv)
{
    struct record_options o = {.finding_status = EXIT_FAILED};
    struct preload_check loadable;
    char library[PATH_MAX], directory[PATH_MAX], why[256];
    bool found;
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    if (first == argc)
        return command_usage(command, "missing operand: PROGRAM");
    argv += first;
    if (!install_path_library(library, sizeof library))
        return command_fail(command,
                            "libpoet.so.0: not found beside poet; build or install Poet first");
    record_directory(library, directory, sizeof directory);
    if (o.without && !preload_is_installed(directory, o.without))
        return command_usage(command, "--without %s: no libpoet-%s.so", o.without, o.without);
    if (!measurement_option_read(command, o.meters, &o.meters, &o.memory) ||
        !measurement_option_check_lists(command))
        return EXIT_USAGE;
    status = finding_options_check(command, RECORDED_FINDINGS |
                                                (o.assertion_file ? FINDINGS_OF_ASSERTIONS : 0u));
    if (status != EXIT_DONE)
        return status;
    if (o.assertion_file && !assertions_load(o.assertion_file, stderr, &o.assertions))
        return EXIT_USAGE;
    if (o.report && *o.report && !report_may_be_named(o.report))
        return command_usage(command, "--report=%s: " REPORT_NAMES, o.report);
    bool repeats = o.repeat || o.until_failure;
    if (repeats && o.view)
        return command_usage(command, "--view: not with --repeat");
    if (o.output && !repeats && !record_may_write(command, o.output))
        return EXIT_FAILED;
    if (!preload_check_program(argv[0], &loadable, &found, why, sizeof why)) {
        command_fail(command, "%s: %s%s", argv[0], why,
                     found && !o.force ? "; not started (--force starts it)" : "");
        if (!found)
            return errno == EACCES ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
        if (!o.force)
            return EXIT_FAILED;
    }
    if (o.memory && *loadable.sanitizers) {
        command_fail(command, "%s: memory is not traced: the program is built with a sanitizer",
                     argv[0]);
        o.memory = false;
    }
    const struct record_task task = {command, &o, &loadable, library, argv};
    if (o.perturbs && !repeats)
        setenv("POET_PERTURB", "1", 1);
    return repeats ? record_repeat(&task) : record_start(&task);
}

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Recording:", 1},
    {"libraries", 'l', NULL, 0,
     "also trace calls made from shared libraries (default: main program only)", 1},
    {"include", 'i', "PATTERN", 0,
     "also trace calls made from shared libraries matching PATTERN (name or path, * and ?); may be "
     "repeated",
     1},
    {"exclude", 'x', "PATTERN", 0, "do not trace calls from matching libraries; may be repeated",
     1},
    {"without", WITHOUT, "LIBRARY", 0,
     "do not preload libpoet-LIBRARY.so: process (pipes, sockets, queues and file locks) or omp "
     "(OpenMP)",
     1},
    {"with-input", WITH_INPUT, NULL, 0,
     "record input (reads, clocks, random numbers) for deterministic replay; at most 256 MB per "
     "run",
     1},
    {"measure", 'm', "LIST|FILE", 0,
     "what to measure, separated by commas: memory (heap blocks), calls=counts|real|cpu|every "
     "(functions of a program compiled with -profile), calls=libraries (also calls of libraries by "
     "these), samples=N (functions of any program, by N "
     "samples per second of CPU time), states, metrics, usage, counters (of the processor: cycles, "
     "instructions, cache misses; poet usage), waits, throttle, rate=N (samples per second of "
     "usage); or a file with such a list (docs/config.md); default: metrics, and calls=cpu if "
     "compiled with -profile",
     1},
    {"force", 'f', NULL, 0,
     "run even if the program cannot be traced: static programs, programs that change their user, "
     "other runtimes",
     1},
    {NULL, 0, NULL, 0, "Output:", 2},
    {"output", 'o', "FILE", 0,
     "write the trace to FILE; default: the running server keeps it; if none is running, "
     "PROGRAM.PID.poet in the working directory",
     2},
    {"keep", 'k', "SIZE", 0, "ring-buffer mode: keep at least the newest SIZE of the trace (1G)",
     2},
    {"view", 'v', NULL, 0, "open the viewer on the run", 2},
    {"report", REPORT, "FILE", OPTION_ARG_OPTIONAL,
     "print a report at the end of the run (poet report), on standard error or to FILE (.txt, "
     ".pdf, .svg, .png, .csv, .json); the program then runs as a child process with its own trace "
     "file",
     2},
    {"hang-timeout", HANG_TIMEOUT, "TIME", 0,
     "if no event is recorded for TIME (60s), print the blocked threads, kill the program with its "
     "descendants, and exit with status 1",
     5},
    {"assert", ASSERT, "FILE", 0,
     "after the program has ended, check the run against the assertions of FILE (docs/find.md); "
     "print those that it violates, and exit with status 1",
     5},
    {NULL, 0, NULL, 0, "Many runs (poet suspect):", 3},
    {"repeat", REPEAT, "N", 0,
     "record N runs: the traces, and what the program printed, are written to failed/ and passed/ "
     "in the directory of --output (default: PROGRAM.runs), by its exit status",
     3},
    {"until-failure", UNTIL_FAILURE, NULL, 0, "repeat until a run fails", 3},
    {"perturb", PERTURB, NULL, 0,
     "let threads pause for random times of up to 2 ms before some events, differently in each "
     "run, so that rare orders occur",
     3},
    {"error-exitcode", FINDING_STATUS, "N", 0,
     "exit with status N instead of 1 if there is a finding", 5},
    {0}};
static const struct argp_child children[] = {
    {&finding_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = record_parse_option,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Run an unmodified program and record its synchronization.  "
           "The program needs symbols for names, and -g for call sites.\vThe exit status "
           "is the program's; 126 or 127 if it could not be started, 1 if it cannot be traced.",
    .children = children};

const struct command command_record = {.name = "record",
                                       .summary = "run a program and record a trace",
                                       .run = record_run,
                                       .argp = &argp,
                                       .program_follows = true};
