/* poet debug: runs a program again under gdb, and stops before an event of its trace. */
#define _GNU_SOURCE
#include "clients/poet/again.h"
#include "clients/poet/exists.h"
#include "clients/poet/recorded.h"
#include "clients/poet/variables.h"
#include "clients/poet/replay.h"
#include "clients/source/breaks.h"
#include "clients/source/installed.h"
#include "memory/memory.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct debugging {
    struct replaying replaying;
    const char *gdb, *event;
    struct strings {
        const char **items;
        size_t count, room;
    } breaks, commands;
    bool batch;
    char file[420]; /* what gdb is told of the script */
};

/* ---- what gdb is told ---- */

struct place {
    uint32_t process;
    uint64_t site;
};

struct places {
    struct place *items;
    size_t count, room;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static void add_place(struct places *places, const struct shown_event *e)
{
    struct place place = {e->process, e->site};
    if (!e->site || (places->count && !compare(&places->items[places->count - 1], &place)))
        return;
    places->items = grow(places->items, &places->room, places->count + 1, sizeof place);
    places->items[places->count++] = place;
}

static void sort_places(struct places *places)
{
    size_t kept = 0;
    if (places->count)
        qsort(places->items, places->count, sizeof *places->items, compare);
    for (size_t i = 0; i < places->count; i++)
        if (!kept || compare(&places->items[kept - 1], &places->items[i]))
            places->items[kept++] = places->items[i];
    places->count = kept;
}

static uint32_t place_index(const struct places *places, const struct shown_event *e)
{
    struct place place = {e->process, e->site};
    const struct place *found =
        e->site ? bsearch(&place, places->items, places->count, sizeof place, compare) : NULL;
    return found ? (uint32_t)(found - places->items) + 1 : 0;
}

typedef void each_event(void *user, const struct shown_event *event);

/* In the order of the script's events. */
static void each(const struct replaying *r, each_event *take, void *user)
{
    struct shown_event event;
    for (uint32_t line = 1; line <= r->script->line_count; line++)
        for (uint64_t i = 0; plan_act(r->plan, line, i, &event); i++)
            take(user, &event);
}

static void collect(void *user, const struct shown_event *event) { add_place(user, event); }

struct writing {
    const struct places *places;
    FILE *file;
};

static void write_place(void *user, const struct shown_event *event)
{
    struct writing *w = user;
    uint32_t index = place_index(w->places, event);
    fwrite(&index, sizeof index, 1, w->file);
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
    json_object_object_add(o, key, text ? json_object_new_string(text) : NULL);
}

static struct json_object *labels(struct replaying *r)
{
    struct json_object *list = json_object_new_array();
    subject_label(&r->subject);
    for (uint32_t i = 0; i <= r->script->line_count; i++)
        json_object_array_add(
            list, json_object_new_string(i ? book_label(&r->subject.source.book, i) : ""));
    return list;
}

static struct json_object *sites(struct replaying *r, const struct places *places)
{
    struct json_object *list = json_object_new_array();
    json_object_array_add(list, json_object_new_string(""));
    for (size_t i = 0; i < places->count; i++)
        json_object_array_add(
            list, json_object_new_string(
                      subject_place(&r->subject, places->items[i].process, places->items[i].site)));
    return list;
}

/* Those of the command line, and those that the viewer has of this trace. */
static struct json_object *breaks(const struct debugging *d, const char *trace)
{
    struct json_object *list = json_object_new_array();
    struct breaks kept;
    breaks_read(&kept, trace);
    for (size_t i = 0; i < kept.count; i++)
        json_object_array_add(list, json_object_new_string(kept.items[i]));
    for (size_t i = 0; i < d->breaks.count; i++)
        json_object_array_add(list, json_object_new_string(d->breaks.items[i]));
    breaks_free(&kept);
    return list;
}

/* Where it is, however it was called: "latest" is a trace, too. */
static const char *file_of(const struct debugging *d, char *path, const char *trace)
{
    const char *file = d->replaying.subject.source.book.run.file;
    if ((file && realpath(file, path)) || realpath(trace, path))
        return path;
    return trace;
}

/* A line of JSON, then of each event of the script which of the sites it has. */
static bool tell(const struct command *command, struct debugging *d, const char *trace)
{
    struct replaying *r = &d->replaying;
    struct places places = {0};
    struct json_object *o = json_object_new_object();
    char self[PATH_MAX] = "", path[PATH_MAX];
    const char *file = file_of(d, path, trace);
    each(r, collect, &places);
    sort_places(&places);
    installed_path("bin/poet", X_OK, self, sizeof self);
    add_text(o, "poet", self);
    add_text(o, "file", file);
    add_text(o, "script", r->file);
    add_text(o, "output", r->output);
    add_text(o, "event", d->event);
    json_object_object_add(o, "labels", labels(r));
    json_object_object_add(o, "sites", sites(r, &places));
    json_object_object_add(o, "breaks", breaks(d, file));
    snprintf(d->file, sizeof d->file, "%s.debug", r->file);
    FILE *f = fopen(d->file, "we");
    if (f) {
        fprintf(f, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
        each(r, write_place, &(struct writing){&places, f});
    }
    bool written = f && !ferror(f);
    if ((f && fclose(f)) || !written)
        written = command_fail(command, "%s: %s", d->file, strerror(errno)) == EXIT_DONE;
    json_object_put(o);
    free(places.items);
    return written;
}

/* ---- gdb ---- */

static void add(struct strings *s, const char *word)
{
    s->items = grow(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count++] = word;
}

/* In the place of this process, which is a child. */
static void start(const struct command *command, struct debugging *d,
                  const struct loadable *loadable, char **argv)
{
    struct replaying *r = &d->replaying;
    struct strings words = {0};
    char commands[PATH_MAX];
    if (!installed_path("share/poet/gdb/poet-gdb.py", R_OK, commands, sizeof commands)) {
        command_fail(command, "share/poet/gdb/poet-gdb.py: not installed");
        return;
    }
    bool compiled = loadable->traced || r->launched; /* who starts them is as it is */
    variables_restore(command, &r->subject.source.book, r->quiet);
    replay_environment(r);
    setenv("POET_DEBUG", d->file, 1);
    setenv("POET_WAIT_MS", "10000", 0);
    setenv("POET_OUTPUT", r->output, 1);
    unsetenv("POET_SERVER");
    unsetenv("POET_RUN");
    add(&words, d->gdb);
    add(&words, "-q");
    if (d->batch)
        add(&words, "-batch");
    add(&words, "-x"), add(&words, commands);
    for (size_t i = 0; i < d->commands.count; i++)
        add(&words, "-ex"), add(&words, d->commands.items[i]);
    add(&words, "--args");
    char **run =
        compiled
            ? argv
            : again_recorded(&(struct again){.output = r->output, .libraries = r->libraries}, argv);
    char self[PATH_MAX] = "poet";
    installed_path("bin/poet", X_OK, self, sizeof self);
    for (size_t i = 0; run && run[i]; i++)
        add(&words, i ? run[i] : compiled ? loadable->path : self);
    add(&words, NULL);
    execvp(d->gdb, (char **)(uintptr_t)words.items);
    command_fail(command, "%s: %s%s", d->gdb, strerror(errno),
                 errno == ENOENT ? " (Debian: gdb)" : "");
}

static int debug(const struct command *command, struct debugging *d, char **argv)
{
    struct loadable loadable;
    char why[256];
    bool found;
    int status = 0;
    if (!loadable_look(argv[0], &loadable, &found, why, sizeof why) && !loadable.traced) {
        command_fail(command, "%s: %s", argv[0], why);
        return found ? EXIT_FAILED : 127;
    }
    atomic_store(&d->replaying.script->debugged, SCRIPT_ANY_PROCESS);
    pid_t child = recorded_begin();
    if (child < 0)
        return command_fail(command, "%s", strerror(errno));
    if (child == 0) {
        start(command, d, &loadable, argv);
        _exit(126);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    atomic_store(&d->replaying.script->debugged, 0); /* what still runs goes on */
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* ---- the command ---- */

enum { GDB = 256, BATCH };

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct debugging *d = state->input;
    switch (key) {
    case 'o':
        d->replaying.output = value;
        return 0;
    case 'b':
        add(&d->breaks, value);
        return 0;
    case 'x':
        add(&d->commands, value);
        return 0;
    case GDB:
        d->gdb = value;
        return 0;
    case BATCH:
        d->batch = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool is_event(struct subject *subject, const char *word, struct error *why)
{
    struct ref at;
    return ref_parse(word, &at) && exists_event(subject, at, why);
}

static int debug_trace(const struct command *command, struct debugging *d, const char *trace,
                       char **argv)
{
    struct replaying *r = &d->replaying;
    struct error why;
    if (d->event && !is_event(&r->subject, d->event, &why))
        return command_fail(command, "%s", why.text);
    char **recorded = NULL, **words = argv;
    int status = EXIT_FAILED;
    if (!replay_script(command, r) || !replay_input(command, r) || !tell(command, d, trace))
        status = EXIT_FAILED;
    else if (!replay_words(command, r, trace, &words, &recorded))
        status = EXIT_USAGE;
    else
        status = debug(command, d, words);
    free(recorded);
    return status;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct debugging d = {.gdb = "gdb"};
    struct ref at;
    const char *trace = NULL;
    int first, status;
    for (int words = 0; words < 3; words++) {
        status = command_read(command, argc, argv, &d, &first);
        if (status != OPTIONS_READ)
            return status;
        bool ended = first > 0 && strcmp(argv[first - 1], "--") == 0;
        if (first == argc || words == 2 ||
            (words == 1 && (ended || !ref_parse(argv[first], &at)))) {
            argv += first, argc -= first;
            break;
        }
        *(words ? &d.event : &trace) = argv[first];
        argv += first, argc -= first;
    }
    if (!trace)
        return command_usage(command, "a TRACE is needed");
    if (!d.replaying.output)
        again_name(d.replaying.again, sizeof d.replaying.again, trace, "again"),
            d.replaying.output = d.replaying.again;
    if (!subject_open(command, &d.replaying.subject, trace, SOURCE_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    status = debug_trace(command, &d, trace, argv);
    if (*d.file)
        unlink(d.file);
    replay_free(&d.replaying);
    subject_close(&d.replaying.subject);
    free(d.breaks.items);
    free(d.commands.items);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the trace of the new run (TRACE.again.poet)", 0},
    {"break", 'b', "WHERE", 0,
     "as the command \"poet break\": EVENT, or SITE [thread N] [arrival N]; may be repeated", 0},
    {"execute", 'x', "COMMAND", 0, "a command for gdb, once it has stopped there; may be repeated",
     0},
    {"batch", BATCH, NULL, 0, "end when these are done", 0},
    {"gdb", GDB, "PROGRAM", 0, "in place of gdb", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE [EVENT] [--] [PROGRAM ARGUMENT...]",
    .doc =
        "Run a program again, in the order of TRACE, under gdb, and stop in the thread that is about to make EVENT "
        "(LINE:NUMBER), when all that comes before it in that order is done; without EVENT before the first one.\v"
        "gdb has commands for the order then: poet where, next, step, until EVENT, to CUT, continue, break WHERE, breaks, delete N, "
        "view, follow, blocked; \"help poet\" explains them.",
    .children = options_children};

const struct command command_debug = {.name = "debug",
                                      .summary = "run it again under gdb, up to an event",
                                      .run = run,
                                      .argp = &argp,
                                      .program_follows = true};
