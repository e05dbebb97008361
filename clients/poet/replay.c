/* poet replay: runs a program again, in the order that a trace has of it. */
#define _GNU_SOURCE
#include "clients/poet/replay.h"

#include "clients/poet/again.h"
#include "clients/poet/apart.h"
#include "clients/poet/loadable.h"
#include "clients/poet/outcome.h"
#include "clients/poet/recorded.h"
#include "clients/poet/variables.h"
#include "wire/endpoint.h"
#include "wire/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 10000000
#define SAY_AFTER 100 /* looks */

/* ---- the script ---- */

/* Of no call: its site is what the thread runs, which may be a library's. */
static bool is_of_life(const char *type)
{
    return strcmp(type, "start") == 0 || strcmp(type, "end") == 0 || strcmp(type, "close") == 0;
}

/* A call that is recorded only where those of libraries were asked for. */
static bool is_library_call(const struct book *book, const struct shown_event *e)
{
    const struct target_kind *kind = book_kind(book, e->about ? e->about : e->at.line);
    if (!e->site || e->process >= book->process_count || (kind && kind->everywhere) ||
        is_of_life(book_type(book, e->type)))
        return false;
    const struct shown_process *p = &book->processes[e->process];
    for (uint32_t i = 0; i < p->module_count; i++)
        if (e->site - p->modules[i].start < p->modules[i].end - p->modules[i].start)
            return strcmp(p->modules[i].path, p->path) != 0;
    return false;
}

static void look_at(void *user, const struct answer *answer)
{
    struct replaying *r = user;
    struct shown_event event;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &event);
    if (!answer->in->error)
        flip_look(&r->flip, &event);
    shown_event_free(&event);
}

static void take(void *user, const struct answer *answer)
{
    struct replaying *r = user;
    struct shown_event event;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &event);
    if (!answer->in->error)
        unsteered_event(&r->unsteered, &r->subject.source.book, &event);
    if (!answer->in->error && flip_take(&r->flip, &event))
        plan_event(r->plan, &event);
    if (!answer->in->error && !r->libraries)
        r->libraries = is_library_call(&r->subject.source.book, &event);
    shown_event_free(&event);
}

static bool write_file(const struct command *command, struct replaying *r, const void *data,
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

static bool is_launched(const struct replaying *r, uint32_t line)
{
    const struct target_kind *kind = book_kind(&r->subject.source.book, line);
    return kind && kind->launched;
}

/* A thread's line that begins with its own start, and not with who made it. */
static void name_stranger(struct replaying *r, uint32_t line)
{
    const struct book_line *is = book_line(&r->subject.source.book, line);
    struct shown_event first;
    if (!is || !plan_act(r->plan, line, 0, &first) || first.at.line != line || first.at.number != 1)
        return;
    plan_stranger(r->plan, line, is->is.name);
    r->launched += is_launched(r, line);
}

/* Whoever of them comes first is none in particular: they are known by their names. */
static void look_for_launcher(struct replaying *r)
{
    if (r->launched < 2 || !is_launched(r, r->script->main))
        r->launched = 0;
    else
        r->script->main = 0;
}

/* A line that leads to another machine. */
static bool is_far(const struct book *book, uint32_t line)
{
    const struct target_kind *kind = book_kind(book, line);
    return kind && kind->far;
}

bool replay_script(const struct command *command, struct replaying *r)
{
    const char *why;
    size_t bytes;
    const struct book *book = &r->subject.source.book;
    r->plan = plan_new();
    if (r->flip.events[0].line && !subject_ask(command, &r->subject, ASK_DUMP, NULL, look_at, r))
        return false;
    if (!subject_ask(command, &r->subject, ASK_DUMP, NULL, take, r))
        return false;
    for (uint32_t i = 1; i <= book->type_count; i++)
        plan_type(r->plan, i, book_type(book, i));
    for (uint32_t i = 1; i <= book->line_count; i++)
        name_stranger(r, i);
    struct script_head *script = plan_script(r->plan, &bytes, &why);
    for (uint32_t i = 1; script && i <= book->line_count; i++)
        script->far |= is_far(book, i);
    if (!script)
        command_fail(command, "%s: cannot be repeated: %s", r->subject.source.name, why);
    bool done = script && write_file(command, r, script, bytes);
    free(script);
    if (done)
        look_for_launcher(r);
    return done;
}

bool replay_words(const struct command *command, const struct replaying *r, const char *trace,
                  char ***words, char ***recorded)
{
    if (!**words)
        *words = *recorded = again_arguments(&r->subject.source.book);
    if (!*words)
        command_usage(command, "%s does not say all of what was run: name the program", trace);
    else if (*recorded && r->launched)
        command_usage(
            command,
            "%s has %u processes that were started by what is not in it: say how, as in poet %s %s -- "
            "mpirun -n %u %s",
            trace, r->launched, command->name, trace, r->launched, **words);
    else
        return !*recorded || again_may_run(command, trace, *words, r->quiet);
    return false;
}

/* What its calls brought from outside, where that was recorded. */
bool replay_input(const struct command *command, struct replaying *r)
{
    char directory[256];
    struct error error;
    if (!inputs_ask(command, &r->subject, true, &r->inputs))
        return false;
    if (!r->inputs.calls)
        return true;
    if (!endpoint_directory(directory, sizeof directory, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    snprintf(r->input_file, sizeof r->input_file, "%s/poet-%d.input", directory, (int)getpid());
    return inputs_write(command, &r->inputs, r->input_file);
}

static void say_input(const struct command *command, const struct replaying *r)
{
    if (r->inputs.cut)
        command_fail(command,
                     "not all input of %u thread%s was recorded: from there on it is as it is now",
                     r->inputs.cut, plural(r->inputs.cut));
    if (r->inputs.passed)
        command_fail(command, "%llu call%s in signal handlers brought input that was not recorded",
                     (unsigned long long)r->inputs.passed, plural(r->inputs.passed));
    if (r->inputs.streams)
        command_fail(command, "what the program reads through C's stdio was not recorded: it is as "
                              "it is now");
}

/* ---- the program ---- */

void replay_environment(const struct replaying *r)
{
    setenv("POET_REPLAY", r->file, 1);
    if (*r->input_file) { /* and the new trace has it, too */
        setenv("POET_REPLAY_INPUT", r->input_file, 1);
        setenv("POET_INPUT", "1", 1);
    } else {
        unsetenv("POET_REPLAY_INPUT");
        unsetenv("POET_INPUT");
    }
}

void replay_free(struct replaying *r)
{
    if (*r->file)
        unlink(r->file);
    if (*r->input_file)
        unlink(r->input_file);
    inputs_free(&r->inputs);
    unsteered_free(&r->unsteered);
    plan_free(r->plan);
}

/* In the place of this process, which is a child. */
static int start(const struct command *command, const struct replaying *r,
                 const struct loadable *loadable, char **argv)
{
    replay_environment(r);
    if (r->led)
        setenv("POET_STEER", r->steer_file, 1);
    else
        unsetenv("POET_STEER");
    return again_start(
        command,
        &(struct again){.output = r->output, .libraries = r->libraries, .starts = r->launched != 0},
        loadable, argv);
}

/* Where two events are to come the other way round. */
static bool make_steer(const struct command *command, struct replaying *r)
{
    struct steer_head head;
    const char *why;
    if (!r->flip.events[0].line)
        return true;
    if (!flip_steer(&r->flip, &r->subject.source.book, &head, &why)) {
        command_fail(command, "%s: cannot be flipped: %s", r->subject.source.name, why);
        return false;
    }
    if (!steering_file(command, r->steer_file, sizeof r->steer_file, &r->led))
        return false;
    memcpy(r->led, &head, sizeof head);
    return true;
}

static struct script_line *line_at(const struct replaying *r, uint32_t line)
{
    return (struct script_line *)((char *)r->script + r->script->lines_at) + line;
}

static uint64_t repeated(const struct replaying *r)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i <= r->script->line_count; i++)
        count += atomic_load(&line_at(r, i)->at);
    return count;
}

/* Who waits for a program that hangs, as it did, is told so. */
static void look(const struct command *command, struct replaying *r, pid_t child)
{
    if (r->strict && atomic_load(&r->script->state) == SCRIPT_ENDED)
        kill(child, SIGTERM);
    if (r->told || repeated(r) < r->script->event_count)
        return;
    if (++r->after < SAY_AFTER)
        return;
    r->told = true;
    if (!r->quiet)
        command_fail(command, "all that %s has was repeated; the program goes on from there",
                     r->subject.source.name);
}

/* Until it ends. */
static int follow(const struct command *command, struct replaying *r, pid_t child)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) <= 0) {
        if (ended < 0 && errno != EINTR)
            break;
        look(command, r, child);
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return status;
}

/* ---- what came of it ---- */

/* An exit status. */
static int draw(const struct command *command, struct replaying *r, const struct outcome *o,
                pid_t child)
{
    struct apart apart = {.command = command,
                          .recorded = r->subject.source.name,
                          .again = r->output,
                          .named = o->at,
                          .caption = o->text};
    if (o->good && !r->led) {
        if (!r->quiet)
            command_fail(command, "nothing is drawn: it did the same");
        return EXIT_DONE;
    }
    recorded_whole(child);
    return apart_picture(&apart, r->picture);
}

#define BEFORE 3u /* events of the thread, and the one that was to be */

/* Where it first did something else: what of that is not steered.  A difference of the
 * environment is said first. */
static void say_unsteered(const struct command *command, const struct replaying *r)
{
    const struct script_end *end = &r->script->end;
    struct shown_event was[BEFORE + 1];
    struct unsteered_place place = {.did = end->why == SCRIPT_OTHER ? end->did : "",
                                    .was = was,
                                    .input = r->inputs.calls != 0,
                                    .streams = r->inputs.streams};
    for (uint64_t i = 0; i <= BEFORE && i <= end->event; i++)
        if (plan_act(r->plan, end->thread, end->event - i, &was[place.was_count]))
            place.was_count++;
    char *said = unsteered_say(&r->unsteered, &r->subject.source.book, &place);
    command_fail(command, "not steered: %s", said);
    free(said);
}

static int say_outcome(const struct command *command, struct replaying *r, pid_t child, int status)
{
    struct outcome o;
    outcome_make(&o, r, repeated(r), status);
    char *differ = o.left ? variables_differ(&r->subject.source.book) : NULL;
    if (differ)
        command_fail(command, "the environment is not as it was recorded: %s", differ);
    free(differ);
    if (!r->quiet || !o.good || o.more)
        command_fail(command, "%s", o.text);
    if (o.left)
        say_unsteered(command, r);
    int drawn = r->picture ? draw(command, r, &o, child) : EXIT_DONE;
    outcome_free(&o);
    return o.good ? drawn : EXIT_FAILED;
}

/* ---- the command ---- */

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct replaying *r = state->input;
    switch (key) {
    case 'f':
        if (flip_read(&r->flip, value, state->argv[state->next]))
            return state->next++, 0;
        command_usage(&command_replay, "--flip: two events are needed, as 3:7 5:12");
        return EINVAL;
    case 'o':
        r->output = value;
        return 0;
    case 'p':
        r->picture = value;
        return apart_can(&command_replay, value) ? 0 : EINVAL;
    case 's':
        r->strict = true;
        return 0;
    case 'q':
        r->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run_again(const struct command *command, struct replaying *r, char **argv)
{
    struct loadable loadable;
    char why[256];
    bool found;
    if (!loadable_look(argv[0], &loadable, &found, why, sizeof why) && !loadable.traced) {
        command_fail(command, "%s: %s", argv[0], why);
        return found ? EXIT_FAILED : 127;
    }
    say_input(command, r);
    variables_restore(command, &r->subject.source.book, r->quiet);
    pid_t child = recorded_begin();
    if (child < 0)
        return command_fail(command, "%s", strerror(errno));
    if (child == 0)
        _exit(start(command, r, &loadable, argv));
    return say_outcome(command, r, child, follow(command, r, child));
}

static int run(const struct command *command, int argc, char **argv)
{
    struct replaying r = {0};
    int first, status = command_read(command, argc, argv, &r, &first);
    if (status != OPTIONS_READ)
        return status;
    if (first == argc)
        return command_usage(command, "a TRACE is needed");
    const char *trace = argv[first];
    argc -= first, argv += first; /* options may come behind it, too */
    status = command_read(command, argc, argv, &r, &first);
    if (status != OPTIONS_READ)
        return status;
    if (!r.output)
        again_name(r.again, sizeof r.again, trace, "again"), r.output = r.again;
    if (!subject_open(command, &r.subject, trace, SOURCE_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    char **recorded = NULL, **words = argv + first;
    if (!replay_script(command, &r) || !make_steer(command, &r) || !replay_input(command, &r))
        status = EXIT_FAILED;
    else if (!replay_words(command, &r, trace, &words, &recorded))
        status = EXIT_USAGE;
    else
        status = run_again(command, &r, words);
    if (*r.steer_file)
        unlink(r.steer_file);
    flip_free(&r.flip);
    replay_free(&r);
    free(recorded);
    subject_close(&r.subject);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the trace of the new run (TRACE.again.poet)", 0},
    {"flip", 'f', "A B", 0,
     "up to two events A and B of two threads, of which one was first, as poet maybe names them; then let the other one "
     "be first, and go freely",
     0},
    {"picture", 'p', "FILE", 0,
     "where it did something else, or two events were flipped: both runs there as FILE.pdf, .svg, .png or .txt, one above "
     "the other",
     0},
    {"strict", 's', NULL, 0, "end the program where it does something else, with SIGTERM", 0},
    {"quiet", 'q', NULL, 0, "say nothing where it did the same", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE [--] [PROGRAM ARGUMENT...]",
    .doc =
        "Run a program again, so that its threads take their locks, are woken and give up in the order that "
        "TRACE has.  Files and what comes from outside are as they are now, unless they were recorded (poet record --with-input).\vWhere a thread does something else, that "
        "is said, and the program goes on freely.  The exit status is 0 if all was repeated, 1 if not.",
    .children = options_children};

const struct command command_replay = {.name = "replay",
                                       .summary = "run a program again, in the order of a trace",
                                       .run = run,
                                       .argp = &argp,
                                       .program_follows = true};
