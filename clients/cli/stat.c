/* poet stat and poet runs: trace statistics, and the runs of a server. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/input_files.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct trouble_list {
    struct inconsistency_info *items;
    size_t count;
};

struct clock_list {
    struct clock_info *items;
    size_t count;
};

struct stat_figures {
    struct stat_info stat;
    struct trouble_list troubles;
    struct clock_list clocks;
};

static void stat_receive_chunk(void *user, const struct response_chunk *answer)
{
    struct stat_figures *f = user;
    if (answer->part == RESPONSE_STAT)
        decode_stat_info(answer->in, &f->stat);
    if (answer->part == RESPONSE_CLOCK) {
        struct clock_list *clocks = &f->clocks;
        clocks->items = xreallocarray(clocks->items, clocks->count + 1, sizeof *clocks->items);
        decode_clock_info(answer->in, &clocks->items[clocks->count++]);
    }
    if (answer->part != RESPONSE_INCONSISTENCY)
        return;
    struct inconsistency_info t = {.at = decode_event_id(answer->in),
                                   .with = decode_event_id(answer->in)};
    t.why = decode_name(answer->in, LIMIT_TEXT_BYTES);
    struct trouble_list *troubles = &f->troubles;
    troubles->items = xreallocarray(troubles->items, troubles->count + 1, sizeof t);
    troubles->items[troubles->count++] = t;
}

static struct json_object *unseen_json(const struct stat_info *s)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < s->unseen_count; i++) {
        const struct untraced_info *u = &s->unseen[i];
        struct json_object *o = json_object_new_object();
        const char *name = untraced_name(u->reason);
        json_object_object_add(o, "reason", name ? json_object_new_string(name) : NULL);
        json_object_object_add(o, "detail", json_object_new_string(u->about));
        json_object_object_add(o, "count", json_object_new_uint64(u->count));
        json_object_array_add(list, o);
    }
    return list;
}

static void print_cut_off(uint32_t programs)
{
    if (programs)
        printf("truncated       %u program%s: events not yet sent over the network are missing\n",
               programs, programs == 1 ? "" : "s");
}

static void print_unseen(const struct stat_info *s)
{
    if (s->doubtful)
        printf("uncertain order %llu event%s (may have unrecorded predecessors)\n",
               (unsigned long long)s->doubtful, s->doubtful == 1 ? "" : "s");
    for (uint32_t i = 0; i < s->unseen_count; i++) {
        const struct untraced_info *u = &s->unseen[i];
        printf("not traced      %s%s%s", untraced_text(u->reason), *u->about ? ": " : "", u->about);
        printf(u->count > 1 ? " (%llu)\n" : "\n", (unsigned long long)u->count);
    }
}

static struct json_object *clocks_json(const struct clock_list *clocks)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < clocks->count; i++) {
        const struct clock_info *c = &clocks->items[i];
        struct json_object *o = json_object_new_object();
        json_object_object_add(o, "host", json_object_new_string(c->host));
        json_object_object_add(o, "first", json_object_new_boolean(c->is_first));
        json_object_object_add(o, "known", json_object_new_boolean(c->is_known));
        json_object_object_add(o, "uneven", json_object_new_boolean(c->is_uneven));
        json_object_object_add(o, "at_clock_ns", json_object_new_uint64(c->at_ns));
        json_object_object_add(o, "corrected_by_ns", json_object_new_int64(c->ahead_ns));
        const struct {
            const char *name;
            int64_t value;
        } bounds[] = {{"ahead_least_ns", c->low_ns},
                      {"ahead_most_ns", c->high_ns},
                      {"drift_least_ppb", c->low_ppb},
                      {"drift_most_ppb", c->high_ppb}};
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
            json_object_object_add(o, bounds[k].name,
                                   c->is_known ? json_object_new_int64(bounds[k].value) : NULL);
        json_object_array_add(list, o);
    }
    return list;
}

/* Prints the middle of the bounds, and its maximum error. */
static void print_clock(const struct clock_info *c)
{
    double us = ((double)c->high_ns - (double)c->low_ns) / 2e3,
           ppm = ((double)c->high_ppb - (double)c->low_ppb) / 2e3;
    printf("host            %s: clock ", c->host);
    if (c->is_first)
        printf("(reference clock)\n");
    else if (!c->is_known)
        printf("unknown: no two-way messages to the reference host\n");
    else
        printf("%+.6f s, within %.*f us, drift %+.1f ppm, within %.1f%s\n",
               ((double)c->low_ns + (double)c->high_ns) / 2e9, us < 10 ? 1 : 0, us,
               ((double)c->low_ppb + (double)c->high_ppb) / 2e3, ppm,
               c->is_uneven ? " (drift not constant: estimate)" : "");
}

static struct json_object *stat_readable_json(const char *text)
{
    char *shown = text_readable(text, strlen(text), false);
    struct json_object *o = json_object_new_string(shown ? shown : "");
    free(shown);
    return o;
}

static void print_json(const struct command_source *subject, const struct stat_info *s,
                       const struct trouble_list *troubles, const struct clock_list *clocks,
                       const struct input_files *inputs)
{
    const struct trace_metadata *book = &subject->source.book;
    struct json_object *o = json_object_new_object(), *programs = json_object_new_array(),
                       *list = json_object_new_array();
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = {{"lines", s->lines},
                   {"hidden_lines", s->hidden_lines},
                   {"events", s->events},
                   {"annotations", s->texts},
                   {"pending", s->pending},
                   {"lost", s->lost},
                   {"inconsistent", s->contradictions},
                   {"duplicates", s->duplicates},
                   {"untraced", s->untraced},
                   {"tracing_stall_ns", s->waited_ns},
                   {"ordering_lag_ns", s->behind_ns},
                   {"journal_pending_bytes", s->journal_ahead},
                   {"discarded", s->discarded}};
    json_object_object_add(o, "run", json_object_new_string(book->run.name));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_object_add(o, figures[i].name, json_object_new_uint64(figures[i].value));
    json_object_object_add(o, "duration_ns", json_object_new_int64(s->duration_ns));
    json_object_object_add(o, "connected", json_object_new_int64(s->connected));
    json_object_object_add(o, "truncated_programs", json_object_new_int64(s->cut_off));
    json_object_object_add(o, "uncertain", json_object_new_uint64(s->doubtful));
    json_object_object_add(o, "untraced_reasons", unseen_json(s));
    json_object_object_add(o, "finished", json_object_new_boolean(!s->unfinished && !s->connected));
    json_add_text(o, "cut", session_cut(&subject->source));
    json_object_object_add(o, "damage", *s->damage ? json_object_new_string(s->damage) : NULL);
    for (uint32_t i = 0; i < book->process_count; i++) {
        struct json_object *p = json_object_new_object(), *args = json_object_new_array();
        json_object_object_add(p, "path", json_object_new_string(book->processes[i].path));
        json_object_object_add(p, "pid", json_object_new_int64(book->processes[i].pid));
        json_object_object_add(p, "host", json_object_new_string(book->processes[i].host));
        for (uint32_t k = 0; k < book->processes[i].argument_count; k++)
            json_object_array_add(args, stat_readable_json(book->processes[i].arguments[k]));
        json_object_object_add(p, "arguments", args);
        json_object_array_add(programs, p);
    }
    json_object_object_add(o, "programs", programs);
    json_object_object_add(o, "clocks", clocks_json(clocks));
    for (size_t i = 0; i < troubles->count; i++) {
        struct json_object *t = json_object_new_object();
        json_object_object_add(t, "event", json_event_id(troubles->items[i].at));
        json_object_object_add(t, "other", json_event_id(troubles->items[i].with));
        json_object_object_add(t, "reason", json_object_new_string(troubles->items[i].why));
        json_object_array_add(list, t);
    }
    json_object_object_add(o, "inconsistent_events", list);
    struct json_object *input = json_object_new_object();
    json_object_object_add(input, "calls", json_object_new_uint64(inputs->calls));
    json_object_object_add(input, "in_signal_handlers", json_object_new_uint64(inputs->passed));
    json_object_object_add(input, "incomplete_threads", json_object_new_int64(inputs->cut));
    json_object_object_add(input, "stdio", json_object_new_boolean(inputs->streams));
    json_object_object_add(o, "input", input);
    json_print(o);
}

static void print_input(const struct input_files *inputs)
{
    if (!inputs->calls && !inputs->cut && !inputs->passed && !inputs->streams)
        return;
    printf("recorded input  %llu call%s", (unsigned long long)inputs->calls,
           plural_suffix(inputs->calls));
    if (inputs->cut)
        printf("; incomplete for %u thread%s", inputs->cut, plural_suffix(inputs->cut));
    if (inputs->passed)
        printf("; excludes %llu in signal handlers", (unsigned long long)inputs->passed);
    puts(inputs->streams ? "; excludes stdio" : "");
}

#define BEHIND_NS 150000000u /* an ordering lag up to this is not printed */

static void print_text(const struct command_source *subject, const struct stat_info *s,
                       const struct trouble_list *troubles, const struct clock_list *clocks,
                       const struct input_files *inputs)
{
    const struct trace_metadata *book = &subject->source.book;
    printf("run             %s%s\n", book->run.name,
           s->connected    ? " (live)"
           : s->written    ? " (live: file is still being written)"
           : s->unfinished ? " (truncated: the server exited first, or the file was cut short)"
                           : "");
    if (session_cut(&subject->source))
        printf("cut             %s\n", session_cut(&subject->source));
    printf("lines           %llu\nevents          %llu\n", (unsigned long long)s->lines,
           (unsigned long long)s->events);
    if (s->discarded)
        printf("discarded       %llu of these, the oldest (ring-buffer mode: --keep)\n",
               (unsigned long long)s->discarded);
    printf("annotations     %llu\npending         %llu\nlost            %llu\n",
           (unsigned long long)s->texts, (unsigned long long)s->pending,
           (unsigned long long)s->lost);
    printf("inconsistent    %llu\nuntraced calls  %llu\n", (unsigned long long)s->contradictions,
           (unsigned long long)s->untraced);
    print_cut_off(s->cut_off);
    print_unseen(s);
    printf("duration        %.6f s\ntracing stall   %.6f s\n", (double)s->duration_ns / 1e9,
           (double)s->waited_ns / 1e9);
    if (s->behind_ns > BEHIND_NS)
        printf("ordering lag    %.1f s (%.1f MB of journal pending)\n", (double)s->behind_ns / 1e9,
               (double)s->journal_ahead / 1e6);
    for (uint32_t i = 0; i < book->process_count; i++)
        printf("program         %s, process %u on %s\n", book->processes[i].path,
               book->processes[i].pid, book->processes[i].host);
    for (size_t i = 0; i < clocks->count; i++)
        print_clock(&clocks->items[i]);
    for (size_t i = 0; i < troubles->count; i++) {
        char a[48], b[48];
        event_id_print(a, sizeof a, troubles->items[i].at);
        event_id_print(b, sizeof b, troubles->items[i].with);
        printf("conflict        %s %s%s%s\n", a, troubles->items[i].why,
               troubles->items[i].with.line ? ": " : "", troubles->items[i].with.line ? b : "");
    }
    print_input(inputs);
    if (*s->damage)
        printf("damage          %s\n", s->damage);
}

static int stat_run(const struct command *command, int argc, char **argv)
{
    struct command_source subject;
    struct stat_figures f = {0};
    bool json;
    int status;
    if (!command_source_begin(command, argc, argv, SESSION_NAMED_LINES, LABELS_ADDRESS, &subject,
                              &json, &status))
        return status;
    struct input_files inputs = {0};
    bool ok =
        command_source_request(command, &subject, REQUEST_STAT, NULL, stat_receive_chunk, &f) &&
        input_files_request(command, &subject, false, &inputs);
    if (ok) {
        (json ? print_json : print_text)(&subject, &f.stat, &f.troubles, &f.clocks, &inputs);
        stat_info_free(&f.stat);
    }
    for (size_t i = 0; i < f.troubles.count; i++)
        free(f.troubles.items[i].why);
    free(f.troubles.items);
    for (size_t i = 0; i < f.clocks.count; i++)
        free(f.clocks.items[i].host);
    free(f.clocks.items);
    command_source_close(&subject);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static const struct argp_option stat_options[] = {
    {"json", 'j', NULL, 0,
     "print one JSON object; \"untraced_reasons\" is a list of {\"reason\", \"detail\", "
     "\"count\"}, \"inconsistent_events\" of {\"event\", \"other\", \"reason\"}, \"clocks\" the "
     "offset and drift of each host's clock from the reference host's, \"finished\" whether the "
     "run has ended, \"input\" the calls with recorded results, those not recorded in signal "
     "handlers, the threads with incomplete input, and whether a program reads through stdio, "
     "which is not recorded",
     0},
    {0}};
static const struct argp stat_argp = {
    .options = stat_options,
    .parser = command_parse_json,
    .args_doc = "[SOURCE]",
    .doc =
        "Print trace statistics: lines, events (with --keep also discarded events), annotations, "
        "pending, lost and inconsistent events (each ordering conflict with its events), untraced "
        "calls, duration, time the traced programs were stalled by tracing, programs, truncated "
        "programs (killed or disconnected before all events were sent over the network), events "
        "with uncertain order (they may have unrecorded predecessors), and the synchronization "
        "that is not traced.  For a run on several hosts: offset and drift of each clock from the "
        "reference host's, with bounds; unknown without two-way messages.  For a live run, if the "
        "order lags more than 150 ms behind the recorded events: the lag (JSON: ordering_lag_ns, "
        "journal_pending_bytes).  A file that is still being written, or was truncated when the "
        "server exited, is marked.",
    .children = options_children};

const struct command command_stat = {
    .name = "stat",
    .summary = "print trace statistics (lines, events, lost, pending, inconsistent)",
    .run = stat_run,
    .argp = &stat_argp};

static void run_to_json(const struct run_info *r)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "number", json_object_new_int64(r->number));
    json_object_object_add(o, "name", json_object_new_string(r->name));
    json_object_object_add(o, "start_ns", json_object_new_uint64(r->wall_ns));
    json_object_object_add(o, "events", json_object_new_uint64(r->events));
    json_object_object_add(o, "lost", json_object_new_uint64(r->lost));
    json_object_object_add(o, "connected", json_object_new_int64(r->connected));
    json_object_object_add(o, "file", json_object_new_string(r->file));
    json_print(o);
}

static void print_run(void *user, const struct response_chunk *answer)
{
    struct run_info run, *r = &run;
    const bool *json = user;
    if (answer->part != RESPONSE_RUN)
        return;
    decode_run_info(answer->in, r);
    if (*json) {
        if (!answer->in->error)
            run_to_json(r);
        run_info_free(r);
        return;
    }
    char when[32], lost[40] = "";
    time_t begin = (time_t)(r->wall_ns / 1000000000u);
    struct tm tm;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&begin, &tm));
    if (r->lost)
        snprintf(lost, sizeof lost, ", %llu lost", (unsigned long long)r->lost);
    if (!answer->in->error)
        printf("%-4u %s  %-24s %12llu events%s  %s  %s\n", r->number, when, r->name,
               (unsigned long long)r->events, lost, r->connected ? "live " : "ended", r->file);
    run_info_free(r);
}

static int run_runs(const struct command *command, int argc, char **argv)
{
    bool json = false;
    int first, status = command_read(command, argc, argv, &json, &first);
    if (status != OPTIONS_READ)
        return status;
    char endpoint[400];
    struct error error;
    if (argc - first > 1)
        return command_usage(command, "extra operand: %s", argv[first + 1]);
    if (argc == first && !endpoint_default(endpoint, sizeof endpoint, &error))
        return command_fail(command, "%s", error.text);
    struct session source;
    if (!session_open(&source, argc > first ? argv[first] : endpoint, SESSION_NO_RUN, &error))
        return command_fail(command, "%s", error.text);
    bool ok =
        session_wait(&source, session_send(&source, REQUEST_RUNS, NULL, print_run, &json), &error);
    session_close(&source);
    return ok ? EXIT_DONE : command_fail(command, "%s", error.text);
}

static const struct argp_option runs_options[] = {
    {"json", 'j', NULL, 0,
     "print one JSON object per run: number, name, start_ns (since 1970), events, lost, connected "
     "(programs), file",
     0},
    {0}};
static const struct argp runs_argp = {
    .options = runs_options,
    .parser = command_parse_json,
    .args_doc = "[ENDPOINT]",
    .doc = "List the runs of a server: number, start, name, events, status, file.  "
           "Other commands take one of them as ENDPOINT#NUMBER or ENDPOINT#NAME.",
    .children = options_children};

const struct command command_runs = {
    .name = "runs", .summary = "list the runs of a server", .run = run_runs, .argp = &runs_argp};
