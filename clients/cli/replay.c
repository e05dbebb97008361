/* poet replay: re-runs a program with the recorded synchronization order. */
#define _GNU_SOURCE
#include "clients/cli/replay.h"

#include "clients/cli/compare.h"
#include "clients/cli/preload.h"
#include "clients/cli/recorded_program.h"
#include "clients/cli/rerun.h"
#include "config/options.h"
#include "wire/endpoint.h"
#include "wire/recorded_input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 10000000
#define REPORT_AFTER 100 /* polls */

/* ---- the schedule ---- */

/* Begins and ends of threads are not calls: their site is the thread's function, which may lie in a
 * library. */
static bool replay_is_lifetime_event(const char *type)
{
    return strcmp(type, "start") == 0 || strcmp(type, "end") == 0 || strcmp(type, "exit") == 0 ||
           strcmp(type, "close") == 0;
}

/* Returns whether it is a call from a library, which is recorded only on request. */
static bool is_library_call(const struct trace_metadata *book, const struct event_info *e)
{
    const struct target_line_type *kind =
        metadata_line_type(book, e->about ? e->about : e->at.line);
    if (!e->site || e->process >= book->process_count || (kind && kind->everywhere) ||
        replay_is_lifetime_event(metadata_type_name(book, e->type)))
        return false;
    const struct process_info *p = &book->processes[e->process];
    for (uint32_t i = 0; i < p->module_count; i++)
        if (e->site - p->modules[i].start < p->modules[i].end - p->modules[i].start)
            return strcmp(p->modules[i].path, p->path) != 0;
    return false;
}

static void replay_check_event(void *user, const struct response_chunk *answer)
{
    struct replay_run *r = user;
    struct event_info event;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    if (!answer->in->error)
        swap_events_find(&r->flip, &event);
    event_info_free(&event);
}

static void replay_receive_event(void *user, const struct response_chunk *answer)
{
    struct replay_run *r = user;
    struct event_info event;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    if (!answer->in->error)
        uncontrolled_event(&r->unsteered, &r->subject.source.book, &event);
    if (!answer->in->error && swap_events_filter(&r->flip, &event))
        schedule_builder_add_event(r->plan, &event);
    if (!answer->in->error && !r->libraries)
        r->libraries = is_library_call(&r->subject.source.book, &event);
    event_info_free(&event);
}

static bool write_file(const struct command *command, struct replay_run *r, const void *data,
                       size_t bytes)
{
    char directory[256];
    struct error error;
    if (!endpoint_directory(directory, sizeof directory, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    snprintf(r->file, sizeof r->file, "%s/poet-%d.script", directory, (int)getpid());
    int fd = open(r->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written =
        fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0;
    void *map = written ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (map == MAP_FAILED)
        command_fail(command, "%s: %s", r->file, strerror(errno));
    else
        r->script = memcpy(map, data, bytes);
    if (fd >= 0)
        close(fd);
    return map != MAP_FAILED;
}

static bool is_launched(const struct replay_run *r, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(&r->subject.source.book, line);
    return kind && kind->launched;
}

/* Adds the line to the schedule as a thread without a traced creator, if its first event is its own
 * start. */
static void replay_add_foreign(struct replay_run *r, uint32_t line)
{
    const struct line_metadata *is = metadata_line(&r->subject.source.book, line);
    struct event_info first;
    if (!is || !schedule_builder_event_at(r->plan, line, 0, &first) || first.at.line != line ||
        first.at.number != 1)
        return;
    schedule_builder_add_foreign(r->plan, line, is->is.name);
    r->launched += is_launched(r, line);
}

/* Clears r->launched unless an untraced launcher, such as mpirun, started the processes. If one
 * did, clears script->main: their order is arbitrary, so they are identified by their names. */
static void replay_check_launcher(struct replay_run *r)
{
    if (r->launched < 2 || !is_launched(r, r->script->main))
        r->launched = 0;
    else
        r->script->main = 0;
}

static bool replay_line_is_remote(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return kind && kind->remote;
}

bool replay_script(const struct command *command, struct replay_run *r)
{
    const char *why;
    size_t bytes;
    const struct trace_metadata *book = &r->subject.source.book;
    r->plan = schedule_builder_new();
    if (r->flip.events[0].line &&
        !command_source_request(command, &r->subject, REQUEST_DUMP, NULL, replay_check_event, r))
        return false;
    if (!command_source_request(command, &r->subject, REQUEST_DUMP, NULL, replay_receive_event, r))
        return false;
    for (uint32_t i = 1; i <= book->type_count; i++)
        schedule_builder_set_type(r->plan, i, metadata_type_name(book, i));
    for (uint32_t i = 1; i <= book->line_count; i++)
        replay_add_foreign(r, i);
    struct schedule_head *script = schedule_builder_write(r->plan, &bytes, &why);
    for (uint32_t i = 1; script && i <= book->line_count; i++)
        script->remote |= replay_line_is_remote(book, i);
    if (!script)
        command_fail(command, "%s: cannot be replayed: %s", r->subject.source.name, why);
    bool done = script && write_file(command, r, script, bytes);
    free(script);
    if (done)
        replay_check_launcher(r);
    return done;
}

bool replay_command_words(const struct command *command, const struct replay_run *r,
                          const char *trace, char ***words, char ***recorded)
{
    if (!**words)
        *words = *recorded = rerun_arguments(&r->subject.source.book);
    if (!*words)
        command_usage(command, "%s does not record its complete command line; specify the program",
                      trace);
    else if (*recorded && r->launched)
        command_usage(
            command,
            "%s has %u processes without their launcher in the trace; specify it, as in poet %s %s "
            "-- mpirun -n %u %s",
            trace, r->launched, command->name, trace, r->launched, **words);
    else
        return !*recorded || rerun_may_run(command, trace, *words, r->quiet);
    return false;
}

bool replay_input(const struct command *command, struct replay_run *r)
{
    char directory[256];
    struct error error;
    if (!input_files_request(command, &r->subject, true, &r->inputs))
        return false;
    if (!r->inputs.calls)
        return true;
    if (!endpoint_directory(directory, sizeof directory, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    snprintf(r->input_file, sizeof r->input_file, "%s/poet-%d.input", directory, (int)getpid());
    return input_files_write(command, &r->inputs, r->input_file);
}

static void replay_report_input(const struct command *command, const struct replay_run *r)
{
    if (r->inputs.cut)
        command_fail(command,
                     "input of %u thread%s was recorded only in part; the rest is live input",
                     r->inputs.cut, plural_suffix(r->inputs.cut));
    if (r->inputs.passed)
        command_fail(command,
                     "input of %llu call%s in signal handlers was not recorded; live input is used",
                     (unsigned long long)r->inputs.passed, plural_suffix(r->inputs.passed));
    if (r->inputs.streams)
        command_fail(command, "stdio input was not recorded; live input is used");
}

/* ---- the program ---- */

void replay_environment(const struct replay_run *r)
{
    setenv("POET_REPLAY", r->file, 1);
    if (*r->input_file) { /* the new trace records its input, too */
        setenv("POET_REPLAY_INPUT", r->input_file, 1);
        setenv("POET_INPUT", "1", 1);
    } else {
        unsetenv("POET_REPLAY_INPUT");
        unsetenv("POET_INPUT");
    }
}

void replay_free(struct replay_run *r)
{
    if (*r->file)
        unlink(r->file);
    if (*r->input_file)
        unlink(r->input_file);
    input_files_free(&r->inputs);
    uncontrolled_free(&r->unsteered);
    schedule_builder_free(r->plan);
}

/* Replaces this process, a child, by the program. */
static int replay_exec_program(const struct command *command, const struct replay_run *r,
                               const struct preload_check *loadable, char **argv)
{
    replay_environment(r);
    if (r->led)
        setenv("POET_SCHEDULE_CONTROL", r->steer_file, 1);
    else
        unsetenv("POET_SCHEDULE_CONTROL");
    return rerun_start(
        command,
        &(struct rerun){.output = r->output, .libraries = r->libraries, .starts = r->launched != 0},
        loadable, argv);
}

/* Writes the hold points if two events are to be swapped. */
static bool replay_make_hold_points(const struct command *command, struct replay_run *r)
{
    struct schedule_control head;
    const char *why;
    if (!r->flip.events[0].line)
        return true;
    if (!swap_events_hold_points(&r->flip, &r->subject.source.book, &head, &why)) {
        command_fail(command, "%s: cannot swap the events: %s", r->subject.source.name, why);
        return false;
    }
    if (!hold_points_file(command, r->steer_file, sizeof r->steer_file, &r->led))
        return false;
    memcpy(r->led, &head, sizeof head);
    return true;
}

static struct schedule_line *line_at(const struct replay_run *r, uint32_t line)
{
    return (struct schedule_line *)((char *)r->script + r->script->lines_at) + line;
}

static uint64_t replay_replayed_count(const struct replay_run *r)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i <= r->script->line_count; i++)
        count += atomic_load(&line_at(r, i)->at);
    return count;
}

/* Reports that the schedule is complete if the program still runs then: it may hang as the recorded
 * one did. */
static void replay_check_progress(const struct command *command, struct replay_run *r, pid_t child)
{
    if (r->strict && atomic_load(&r->script->state) == SCHEDULE_LEFT)
        kill(child, SIGTERM);
    if (r->reported || replay_replayed_count(r) < r->script->event_count)
        return;
    if (++r->after < REPORT_AFTER)
        return;
    r->reported = true;
    if (!r->quiet)
        command_fail(command,
                     "end of the recorded schedule of %s reached; the program continues "
                     "uncontrolled",
                     r->subject.source.name);
}

static int replay_wait_program(const struct command *command, struct replay_run *r, pid_t child)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) <= 0) {
        if (ended < 0 && errno != EINTR)
            break;
        replay_check_progress(command, r, child);
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
    return status;
}

/* ---- the result ---- */

/* Returns an exit status. */
static int replay_draw_divergence(const struct command *command, struct replay_run *r,
                                  const struct replay_result *o, pid_t child)
{
    struct divergence apart = {.command = command,
                               .recorded = r->subject.source.name,
                               .again = r->output,
                               .named = o->at,
                               .caption = o->text};
    if (o->good && !r->led) {
        if (!r->quiet)
            command_fail(command, "no divergence; no diagram written");
        return EXIT_DONE;
    }
    recorded_program_is_complete(child);
    return divergence_draw(&apart, r->picture);
}

#define BEFORE 3u /* recorded events of the thread that precede the divergence */

/* Reports which sources of nondeterminism at the divergence are not controlled. */
static void replay_report_unsteered(const struct command *command, const struct replay_run *r)
{
    const struct schedule_end *end = &r->script->end;
    struct event_info was[BEFORE + 1];
    struct uncontrolled_place place = {.did = end->why == SCHEDULE_END_OTHER_EVENT ? end->did : "",
                                       .was = was,
                                       .input = r->inputs.calls != 0,
                                       .streams = r->inputs.streams};
    for (uint64_t i = 0; i <= BEFORE && i <= end->event; i++)
        if (schedule_builder_event_at(r->plan, end->thread, end->event - i, &was[place.was_count]))
            place.was_count++;
    char *text = uncontrolled_report(&r->unsteered, &r->subject.source.book, &place);
    command_fail(command, "not controlled by the replay: %s", text);
    free(text);
}

static int replay_report_outcome(const struct command *command, struct replay_run *r, pid_t child,
                                 int status)
{
    struct replay_result o;
    replay_result_make(&o, r, replay_replayed_count(r), status);
    char *differ = o.left ? variables_differ(&r->subject.source.book) : NULL;
    if (differ)
        command_fail(command, "the environment differs from the recorded one: %s", differ);
    free(differ);
    if (!r->quiet || !o.good || o.more)
        command_fail(command, "%s", o.text);
    if (o.left)
        replay_report_unsteered(command, r);
    int drawn = r->picture ? replay_draw_divergence(command, r, &o, child) : EXIT_DONE;
    replay_result_free(&o);
    return o.good ? drawn : EXIT_FAILED;
}

/* ---- the command ---- */

static const struct option_row replay_rows[] = {OPTION_STORES('o', struct replay_run, output),
                                                OPTION_SETS('s', struct replay_run, strict),
                                                OPTION_SETS('q', struct replay_run, quiet),
                                                {0}};

static error_t replay_parse_option(int key, char *value, struct argp_state *state)
{
    struct replay_run *r = state->input;
    switch (key) {
    case 'w':
        if (swap_events_read(&r->flip, value, state->argv[state->next]))
            return state->next++, 0;
        command_usage(&command_replay, "--swap: expected two different events, as in 3:7 5:12");
        return EINVAL;
    case 'p':
        r->picture = value;
        return divergence_format_is_supported(&command_replay, value) ? 0 : EINVAL;
    default:
        return option_rows_parse(replay_rows, key, value, state);
    }
}

static int run_again(const struct command *command, struct replay_run *r, char **argv)
{
    struct preload_check loadable;
    char why[256];
    bool found;
    if (!preload_check_program(argv[0], &loadable, &found, why, sizeof why) && !loadable.traced) {
        command_fail(command, "%s: %s", argv[0], why);
        return found ? EXIT_FAILED : 127;
    }
    replay_report_input(command, r);
    variables_restore(command, &r->subject.source.book, r->quiet);
    pid_t child = recorded_program_begin();
    if (child < 0)
        return command_fail(command, "%s", strerror(errno));
    if (child == 0)
        _exit(replay_exec_program(command, r, &loadable, argv));
    return replay_report_outcome(command, r, child, replay_wait_program(command, r, child));
}

static int replay_run(const struct command *command, int argc, char **argv)
{
    struct replay_run r = {0};
    int first, status = command_read(command, argc, argv, &r, &first);
    if (status != OPTIONS_READ)
        return status;
    if (first == argc)
        return command_usage(command, "missing operand: TRACE");
    const char *trace = argv[first];
    argc -= first, argv += first; /* options may follow TRACE, too */
    status = command_read(command, argc, argv, &r, &first);
    if (status != OPTIONS_READ)
        return status;
    if (!r.output)
        rerun_output_name(r.again, sizeof r.again, trace, "again"), r.output = r.again;
    if (!command_source_open(command, &r.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    char **recorded = NULL, **words = argv + first;
    if (!replay_script(command, &r) || !replay_make_hold_points(command, &r) ||
        !replay_input(command, &r))
        status = EXIT_FAILED;
    else if (!replay_command_words(command, &r, trace, &words, &recorded))
        status = EXIT_USAGE;
    else
        status = run_again(command, &r, words);
    if (*r.steer_file)
        unlink(r.steer_file);
    swap_events_free(&r.flip);
    replay_free(&r);
    free(recorded);
    command_source_close(&r.subject);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write the trace of the new run to FILE (TRACE.again.poet)", 0},
    {"swap", 'w', "A B", 0,
     "replay up to events A and B of two threads (as poet predict reports them), then let them "
     "occur in the opposite order and continue uncontrolled",
     0},
    {"picture", 'p', "FILE", 0,
     "draw the recorded run above the new one at the first divergence or the swapped events: "
     "FILE.pdf, .svg, .png or .txt",
     0},
    {"strict", 's', NULL, 0, "send SIGTERM at the first divergence", 0},
    {"quiet", 'q', NULL, 0, "print nothing if there is no divergence", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = replay_parse_option,
    .args_doc = "TRACE [--] [PROGRAM ARGUMENT...]",
    .doc =
        "Re-run a program so that locks, wake-ups and timeouts occur in the recorded order.  Input "
        "is not replayed unless it was recorded (poet record --with-input).\vAt the first "
        "divergence a message is printed and the program continues uncontrolled.  Exit status: 0 "
        "if everything was replayed, 1 if not.",
    .children = options_children};

const struct command command_replay = {
    .name = "replay",
    .summary = "re-run a program with the recorded synchronization order",
    .run = replay_run,
    .argp = &argp,
    .program_follows = true};
