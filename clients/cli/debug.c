/* poet debug: replays a trace under gdb and stops before an event. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/recorded_program.h"
#include "clients/cli/replay.h"
#include "clients/cli/rerun.h"
#include "clients/connection/breakpoint_file.h"
#include "clients/connection/install_paths.h"
#include "config/options.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct debug_options {
    struct replay_run replaying;
    const char *gdb, *event;
    struct debug_strings {
        const char **items;
        size_t count, room;
    } breaks, commands;
    bool batch;
    char file[420]; /* gdb's command file */
};

/* ---- gdb's commands ---- */

struct debug_place {
    uint32_t process;
    uint64_t site;
};

struct debug_places {
    struct debug_place *items;
    size_t count, room;
};

static int debug_compare_places(const void *a, const void *b)
{
    const struct debug_place *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static void add_place(struct debug_places *places, const struct event_info *e)
{
    struct debug_place place = {e->process, e->site};
    if (!e->site ||
        (places->count && !debug_compare_places(&places->items[places->count - 1], &place)))
        return;
    places->items = array_reserve(places->items, &places->room, places->count + 1, sizeof place);
    places->items[places->count++] = place;
}

static void sort_places(struct debug_places *places)
{
    size_t kept = 0;
    if (places->count)
        qsort(places->items, places->count, sizeof *places->items, debug_compare_places);
    for (size_t i = 0; i < places->count; i++)
        if (!kept || debug_compare_places(&places->items[kept - 1], &places->items[i]))
            places->items[kept++] = places->items[i];
    places->count = kept;
}

static uint32_t place_index(const struct debug_places *places, const struct event_info *e)
{
    struct debug_place place = {e->process, e->site};
    const struct debug_place *found =
        e->site ? bsearch(&place, places->items, places->count, sizeof place, debug_compare_places)
                : NULL;
    return found ? (uint32_t)(found - places->items) + 1 : 0;
}

typedef void each_event(void *user, const struct event_info *event);

/* Visits all events in the order in which the replay schedule lists them. */
static void debug_visit_schedule(const struct replay_run *r, each_event *take, void *user)
{
    struct event_info event;
    for (uint32_t line = 1; line <= r->script->line_count; line++)
        for (uint64_t i = 0; schedule_builder_event_at(r->plan, line, i, &event); i++)
            take(user, &event);
}

static void debug_collect_place(void *user, const struct event_info *event)
{
    add_place(user, event);
}

struct debug_writer {
    const struct debug_places *places;
    FILE *file;
};

static void write_place(void *user, const struct event_info *event)
{
    struct debug_writer *w = user;
    uint32_t index = place_index(w->places, event);
    fwrite(&index, sizeof index, 1, w->file);
}

static struct json_object *debug_make_label_list(struct replay_run *r)
{
    struct json_object *list = json_object_new_array();
    command_source_label_lines(&r->subject);
    for (uint32_t i = 0; i <= r->script->line_count; i++)
        json_object_array_add(
            list, json_object_new_string(i ? metadata_label(&r->subject.source.book, i) : ""));
    return list;
}

static struct json_object *debug_make_site_list(struct replay_run *r,
                                                const struct debug_places *places)
{
    struct json_object *list = json_object_new_array();
    json_object_array_add(list, json_object_new_string(""));
    for (size_t i = 0; i < places->count; i++)
        json_object_array_add(
            list, json_object_new_string(command_source_place(&r->subject, places->items[i].process,
                                                              places->items[i].site)));
    return list;
}

/* Returns the breakpoints that the viewer saved for this trace, and those of the command line. */
static struct json_object *debug_make_break_list(const struct debug_options *d, const char *trace)
{
    struct json_object *list = json_object_new_array();
    struct breakpoint_list kept;
    breakpoint_file_read(&kept, trace);
    for (size_t i = 0; i < kept.count; i++)
        json_object_array_add(list, json_object_new_string(kept.items[i]));
    for (size_t i = 0; i < d->breaks.count; i++)
        json_object_array_add(list, json_object_new_string(d->breaks.items[i]));
    breakpoint_file_free(&kept);
    return list;
}

/* Returns the path of the trace file, whatever the operand is ("latest" is a trace, too). */
static const char *debug_trace_path(const struct debug_options *d, char *path, const char *trace)
{
    const char *file = d->replaying.subject.source.book.run.file;
    if ((file && realpath(file, path)) || realpath(trace, path))
        return path;
    return trace;
}

/* Writes a line of JSON, then for each event of the schedule the index of its site, as uint32_t. */
static bool debug_write_gdb_input(const struct command *command, struct debug_options *d,
                                  const char *trace)
{
    struct replay_run *r = &d->replaying;
    struct debug_places places = {0};
    struct json_object *o = json_object_new_object();
    char self[PATH_MAX] = "", path[PATH_MAX];
    const char *file = debug_trace_path(d, path, trace);
    debug_visit_schedule(r, debug_collect_place, &places);
    sort_places(&places);
    install_path_find("bin/poet", X_OK, self, sizeof self);
    json_add_text(o, "poet", self);
    json_add_text(o, "file", file);
    json_add_text(o, "script", r->file);
    json_add_text(o, "output", r->output);
    json_add_text(o, "event", d->event);
    json_object_object_add(o, "labels", debug_make_label_list(r));
    json_object_object_add(o, "sites", debug_make_site_list(r, &places));
    json_object_object_add(o, "breaks", debug_make_break_list(d, file));
    snprintf(d->file, sizeof d->file, "%s.debug", r->file);
    FILE *f = fopen(d->file, "we");
    if (f) {
        fprintf(f, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
        debug_visit_schedule(r, write_place, &(struct debug_writer){&places, f});
    }
    bool written = f && !ferror(f);
    if ((f && fclose(f)) || !written)
        written = command_fail(command, "%s: %s", d->file, strerror(errno)) == EXIT_DONE;
    json_object_put(o);
    free(places.items);
    return written;
}

/* ---- gdb ---- */

static void debug_append_word(struct debug_strings *s, const char *word)
{
    s->items = array_reserve(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count++] = word;
}

/* Replaces this process, a child, by gdb. Returns only on an error, which was reported. */
static void debug_start_gdb(const struct command *command, struct debug_options *d,
                            const struct preload_check *loadable, char **argv)
{
    struct replay_run *r = &d->replaying;
    struct debug_strings words = {0};
    char commands[PATH_MAX];
    if (!install_path_find("share/poet/gdb/poet-gdb.py", R_OK, commands, sizeof commands)) {
        command_fail(command, "share/poet/gdb/poet-gdb.py: not installed");
        return;
    }
    bool compiled = loadable->traced || r->launched; /* a launcher is run as it is */
    variables_restore(command, &r->subject.source.book, r->quiet);
    replay_environment(r);
    setenv("POET_DEBUG", d->file, 1);
    setenv("POET_MAX_STALL_MS", "10000", 0);
    setenv("POET_OUTPUT", r->output, 1);
    unsetenv("POET_SERVER");
    unsetenv("POET_RUN");
    setenv("POET_PREPARE_REPORT", "0", 1);
    debug_append_word(&words, d->gdb);
    debug_append_word(&words, "-q");
    if (d->batch)
        debug_append_word(&words, "-batch");
    debug_append_word(&words, "-x"), debug_append_word(&words, commands);
    for (size_t i = 0; i < d->commands.count; i++)
        debug_append_word(&words, "-ex"), debug_append_word(&words, d->commands.items[i]);
    debug_append_word(&words, "--args");
    char **run =
        compiled
            ? argv
            : rerun_recorded(&(struct rerun){.output = r->output, .libraries = r->libraries}, argv);
    char self[PATH_MAX] = "poet";
    install_path_find("bin/poet", X_OK, self, sizeof self);
    for (size_t i = 0; run && run[i]; i++)
        debug_append_word(&words, i ? run[i] : compiled ? loadable->path : self);
    debug_append_word(&words, NULL);
    execvp(d->gdb, (char **)(uintptr_t)words.items);
    command_fail(command, "%s: %s%s", d->gdb, strerror(errno),
                 errno == ENOENT ? " (Debian: gdb)" : "");
}

static int debug_run_gdb(const struct command *command, struct debug_options *d, char **argv)
{
    struct preload_check loadable;
    char why[256];
    bool found;
    int status = 0;
    if (!preload_check_program(argv[0], &loadable, &found, why, sizeof why) && !loadable.traced) {
        command_fail(command, "%s: %s", argv[0], why);
        return found ? EXIT_FAILED : 127;
    }
    atomic_store(&d->replaying.script->debugged, SCHEDULE_ANY_PROCESS);
    pid_t child = recorded_program_begin();
    if (child < 0)
        return command_fail(command, "%s", strerror(errno));
    if (child == 0) {
        debug_start_gdb(command, d, &loadable, argv);
        _exit(126);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    atomic_store(&d->replaying.script->debugged, 0); /* resumes the threads that are still held */
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* ---- the command ---- */

enum { GDB = 256, BATCH };

static const struct option_row debug_rows[] = {
    OPTION_STORES('o', struct debug_options, replaying.output),
    OPTION_STORES(GDB, struct debug_options, gdb),
    OPTION_SETS(BATCH, struct debug_options, batch),
    {0}};

static error_t debug_parse_option(int key, char *value, struct argp_state *state)
{
    struct debug_options *d = state->input;
    switch (key) {
    case 'b':
        debug_append_word(&d->breaks, value);
        return 0;
    case 'x':
        debug_append_word(&d->commands, value);
        return 0;
    default:
        return option_rows_parse(debug_rows, key, value, state);
    }
}

static bool debug_has_event(struct command_source *subject, const char *word, struct error *why)
{
    struct event_id at;
    return event_id_parse(word, &at) && command_source_has_event(subject, at, why);
}

static int debug_replay_trace(const struct command *command, struct debug_options *d,
                              const char *trace, char **argv)
{
    struct replay_run *r = &d->replaying;
    struct error why;
    if (d->event && !debug_has_event(&r->subject, d->event, &why))
        return command_fail(command, "%s", why.text);
    char **recorded = NULL, **words = argv;
    int status = EXIT_FAILED;
    if (!replay_script(command, r) || !replay_input(command, r) ||
        !debug_write_gdb_input(command, d, trace))
        status = EXIT_FAILED;
    else if (!replay_command_words(command, r, trace, &words, &recorded))
        status = EXIT_USAGE;
    else
        status = debug_run_gdb(command, d, words);
    free(recorded);
    return status;
}

static int debug_run(const struct command *command, int argc, char **argv)
{
    struct debug_options d = {.gdb = "gdb"};
    struct event_id at;
    const char *trace = NULL;
    int first, status;
    for (int words = 0; words < 3; words++) {
        status = command_read(command, argc, argv, &d, &first);
        if (status != OPTIONS_READ)
            return status;
        bool ended = first > 0 && strcmp(argv[first - 1], "--") == 0;
        if (first == argc || words == 2 ||
            (words == 1 && (ended || !event_id_parse(argv[first], &at)))) {
            argv += first, argc -= first;
            break;
        }
        *(words ? &d.event : &trace) = argv[first];
        argv += first, argc -= first;
    }
    if (!trace)
        return command_usage(command, "missing operand: TRACE");
    if (!d.replaying.output)
        rerun_output_name(d.replaying.again, sizeof d.replaying.again, trace, "again"),
            d.replaying.output = d.replaying.again;
    if (!command_source_open(command, &d.replaying.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return EXIT_FAILED;
    status = debug_replay_trace(command, &d, trace, argv);
    if (*d.file)
        unlink(d.file);
    replay_free(&d.replaying);
    command_source_close(&d.replaying.subject);
    free(d.breaks.items);
    free(d.commands.items);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write the trace of the new run to FILE (TRACE.again.poet)", 0},
    {"break", 'b', "WHERE", 0,
     "set a breakpoint as \"poet break\" does: EVENT, or SITE [thread N] [arrival N]; may be "
     "repeated",
     0},
    {"execute", 'x', "COMMAND", 0, "run this gdb command after the first stop; may be repeated", 0},
    {"batch", BATCH, NULL, 0, "exit after these commands", 0},
    {"gdb", GDB, "PROGRAM", 0, "use this debugger instead of gdb", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = debug_parse_option,
    .args_doc = "TRACE [EVENT] [--] [PROGRAM ARGUMENT...]",
    .doc =
        "Replay TRACE under gdb and stop in the thread that is about to perform EVENT "
        "(LINE:NUMBER), after every event that precedes it; without EVENT before the first "
        "one.\vgdb then has commands for the order: poet where, next, step, until EVENT, to CUT, "
        "continue, break WHERE, breaks, delete N, view, follow, blocked; \"help poet\" explains "
        "them.",
    .children = options_children};

const struct command command_debug = {.name = "debug",
                                      .summary = "replay under gdb and stop before an event",
                                      .run = debug_run,
                                      .argp = &argp,
                                      .program_follows = true};
