/* poet suspect: the orders that separate failed runs from those that passed. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/compare.h"
#include "clients/cli/output_format.h"
#include "clients/cli/suspect_confirm.h"
#include "clients/cli/suspect_run.h"
#include "config/options.h"

#include <dirent.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAILED_DIRECTORY "failed"
#define PASSED_DIRECTORY "passed"
#define LIMIT_DEFAULT 5u
#define LIMIT_MOST 1000u
/* Among so many comparisons, fewer than one as improbable in 20 times is expected by chance. */
#define CHANCE_MOST 0.05

enum { OPTION_FAILED = 4000, OPTION_PASSED, OPTION_LIMIT, OPTION_CONFIRM };

struct suspect_run {
    char *trace;
    bool failed;
};

struct suspect_options {
    struct suspect_run *runs;
    size_t run_count;
    const char *picture;
    unsigned limit;
    unsigned confirm; /* the number of the one to make happen; 0: none */
    bool json;
};

/* ---- the runs ---- */

static void suspect_add_trace(struct suspect_options *o, const char *trace, bool failed)
{
    ARRAY_PUSH(o->runs, o->run_count, ((struct suspect_run){xstrdup(trace), failed}));
}

static int suspect_is_trace(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".poet") == 0;
}

/* Adds the traces of a directory, by name. Returns whether it is one. */
static bool suspect_add_directory(struct suspect_options *o, const char *directory, bool failed)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, suspect_is_trace, alphasort);
    for (int i = 0; i < count; i++) {
        char *trace = xasprintf("%s/%s", directory, entries[i]->d_name);
        suspect_add_trace(o, trace, failed);
        free(trace);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count >= 0;
}

/* Adds the runs below a directory that `poet record --repeat` made. */
static bool suspect_add_runs(const struct command *command, struct suspect_options *o,
                             const char *directory)
{
    static const char *const names[] = {PASSED_DIRECTORY, FAILED_DIRECTORY};
    bool found = false;
    for (unsigned failed = 0; failed < 2; failed++) {
        char *path = xasprintf("%s/%s", directory, names[failed]);
        found |= suspect_add_directory(o, path, failed != 0);
        free(path);
    }
    if (!found)
        command_fail(command,
                     "%s: no directory with " FAILED_DIRECTORY "/ and " PASSED_DIRECTORY
                     "/, as poet record --repeat makes it",
                     directory);
    return found;
}

static unsigned suspect_count(const struct suspect_options *o, bool failed)
{
    unsigned count = 0;
    for (size_t i = 0; i < o->run_count; i++)
        count += o->runs[i].failed == failed;
    return count;
}

static bool suspect_runs_are_enough(const struct command *command, const struct suspect_options *o)
{
    unsigned failed = suspect_count(o, true), passed = suspect_count(o, false);
    if (o->run_count > PREDICATE_RUNS_MOST)
        command_fail(command, "%zu runs; at most %u can be compared", o->run_count,
                     PREDICATE_RUNS_MOST);
    else if (!failed || !passed)
        command_fail(command, "%u failed and %u passed runs; at least one of each is needed",
                     failed, passed);
    else
        return true;
    return false;
}

static bool suspect_read_runs(const struct command *command, const struct suspect_options *o,
                              struct order_predicates *predicates[SUSPECT_NAMES])
{
    bool shown = isatty(STDERR_FILENO) != 0;
    for (size_t i = 0; i < o->run_count; i++) {
        if (shown)
            fprintf(stderr, "\rpoet suspect: reading run %zu of %zu\033[K", i + 1, o->run_count);
        if (!suspect_run_add(command, predicates, o->runs[i].trace, o->runs[i].failed))
            return false;
    }
    if (shown)
        fputs("\r\033[K", stderr);
    return true;
}

/* ---- one predicate as text ---- */

/* "T:writer: signal on Q:ready at lost.c:12" */
static char *suspect_operation_text(const struct order_predicates *predicates, uint32_t operation)
{
    const struct predicate_operation *o = order_predicates_described(predicates, operation);
    return xasprintf("%s: %s%s%s%s%s", o->thread, o->type, *o->object ? " on " : "", o->object,
                     *o->place ? " at " : "", o->place);
}

static char *suspect_text(const struct order_predicates *predicates,
                          const struct order_predicate *item)
{
    char *first = suspect_operation_text(predicates, item->first),
         *middle = suspect_operation_text(predicates, item->middle),
         *last = suspect_operation_text(predicates, item->last), *text = NULL;
    switch (item->kind) {
    case PREDICATE_BETWEEN:
        text = xasprintf("%s\nbetween  %s\nand      %s", middle, first, last);
        break;
    case PREDICATE_ADJACENT:
        text = xasprintf("%s\ndirectly before  %s", first, last);
        break;
    case PREDICATE_BEFORE:
        text = xasprintf("%s\nearlier than  %s", first, last);
        break;
    case PREDICATE_MISSING:
        text = xasprintf("%s\nwith no earlier  %s", first, last);
        break;
    case PREDICATE_AT_LEAST:
        text = xasprintf("%s\nperformed at least %u time%s", first, item->count,
                         plural_suffix(item->count));
        break;
    case PREDICATE_AT_MOST:
        text = item->count ? xasprintf("%s\nperformed at most %u time%s", first, item->count,
                                       plural_suffix(item->count))
                           : xasprintf("%s\nnever performed", first);
        break;
    }
    free(first);
    free(middle);
    free(last);
    return text;
}

/* Returns the event that shows the predicate in its example: the one that came too early. */
static struct event_id suspect_event(const struct order_predicate *item)
{
    return item->events[item->kind == PREDICATE_BETWEEN ? 1 : 0];
}

/* ---- output ---- */

struct suspect_result {
    const struct suspect_options *options;
    const struct order_predicates *predicates;
    struct order_predicate *items;
    uint32_t count, likely; /* likely: how many at the beginning are improbable by chance */
    uint64_t tested;
};

static void suspect_print_item(const struct suspect_result *r, uint32_t i)
{
    const struct suspect_options *o = r->options;
    const struct order_predicate *item = &r->items[i];
    char *text = suspect_text(r->predicates, item), *rest = text, at[48];
    for (unsigned line = 0; rest; line++) {
        char *part = strsep(&rest, "\n");
        if (line)
            printf("     %s\n", part);
        else
            printf("%3u  %s\n", i + 1, part);
    }
    printf("     in %u of %u failed and %u of %u passed runs; probability by chance: %.2g\n",
           item->failed, suspect_count(o, true), item->passed, suspect_count(o, false),
           item->chance);
    printf("     for example %s", o->runs[item->run].trace);
    for (unsigned k = 0, any = 0; k < 3; k++)
        if (item->events[k].line) {
            event_id_print(at, sizeof at, item->events[k]);
            printf("%s%s", any++ ? ", " : ": event ", at);
        }
    printf("\n\n");
    free(text);
}

static void suspect_print_text(const struct suspect_result *r)
{
    const struct suspect_options *o = r->options;
    uint32_t shown = r->likely < o->limit ? r->likely : o->limit;
    printf("%u failed and %u passed runs, %llu orders and counts compared\n\n",
           suspect_count(o, true), suspect_count(o, false), (unsigned long long)r->tested);
    for (uint32_t i = 0; i < shown; i++)
        suspect_print_item(r, i);
    if (r->likely > shown)
        printf("%u more; --limit=N shows them\n", r->likely - shown);
    if (!r->likely && r->count)
        printf("none separates the failed runs from the others: the best one has a probability by "
               "chance of %.2g,\nand %llu were compared; record more runs\n",
               r->items[0].chance, (unsigned long long)r->tested);
    else if (!r->likely)
        printf("none separates the failed runs from the others\n");
    if (r->likely)
        printf("\"earlier\" is by time, unless the events are ordered: see poet order RUN EVENT "
               "EVENT.\nThese are statistics: an order can be the cause of the failure, or its "
               "effect.\n");
    if (order_predicates_are_partial(r->predicates))
        printf("some orders were not compared: too many operations in all, or between two of one "
               "thread\n");
}

static void suspect_print_json(const struct suspect_result *r)
{
    static const char *const kinds[] = {"between", "adjacent", "before",
                                        "missing", "at-least", "at-most"};
    static const char *const parts[] = {"first", "middle", "last"};
    const struct suspect_options *o = r->options;
    for (uint32_t i = 0; i < r->likely && i < o->limit; i++) {
        const struct order_predicate *item = &r->items[i];
        const uint32_t operations[] = {item->first, item->middle, item->last};
        json_object *row = json_object_new_object();
        json_object_object_add(row, "number", json_object_new_int64(i + 1));
        json_object_object_add(row, "kind", json_object_new_string(kinds[item->kind]));
        for (unsigned k = 0; k < 3; k++) {
            bool has = k == 0 || (item->kind < PREDICATE_AT_LEAST &&
                                  (k == 2 || item->kind == PREDICATE_BETWEEN));
            char *text = has ? suspect_operation_text(r->predicates, operations[k]) : NULL;
            json_add_text(row, parts[k], text);
            free(text);
        }
        json_object_object_add(row, "count",
                               item->kind >= PREDICATE_AT_LEAST ? json_object_new_int64(item->count)
                                                                : NULL);
        json_object_object_add(row, "failed", json_object_new_int64(item->failed));
        json_object_object_add(row, "failed_runs", json_object_new_int64(suspect_count(o, true)));
        json_object_object_add(row, "passed", json_object_new_int64(item->passed));
        json_object_object_add(row, "passed_runs", json_object_new_int64(suspect_count(o, false)));
        json_object_object_add(row, "chance", json_object_new_double(item->chance));
        json_object_object_add(row, "compared", json_object_new_uint64(r->tested));
        json_object_object_add(row, "run", json_object_new_string(o->runs[item->run].trace));
        json_object *events = json_object_new_array();
        for (unsigned k = 0; k < 3; k++)
            json_object_array_add(events, json_event_id(item->events[k]));
        json_object_object_add(row, "events", events);
        json_print(row);
    }
}

/* Draws a failed run with the first suspect above a passed one. */
static int suspect_draw(const struct command *command, const struct suspect_result *r)
{
    const struct order_predicate *item = &r->items[0];
    const struct suspect_run *passed = r->options->runs;
    if (!r->likely)
        return command_fail(command, "nothing to draw; %s not written", r->options->picture);
    while (passed->failed)
        passed++;
    return divergence_draw(&(struct divergence){.command = command,
                                                .recorded = r->options->runs[item->run].trace,
                                                .again = passed->trace,
                                                .named = suspect_event(item),
                                                .words = {"failed", "passed"}},
                           r->options->picture);
}

static int suspect_try(const struct command *command, const struct suspect_result *r)
{
    const struct suspect_options *o = r->options;
    if (o->confirm > r->likely)
        return command_fail(command, "there is no number %u in the list; nothing to confirm",
                            o->confirm);
    const struct order_predicate *item = &r->items[o->confirm - 1];
    fflush(stdout);
    return suspect_confirm(&(struct suspect_confirmation){.command = command,
                                                          .item = item,
                                                          .trace = o->runs[item->run].trace,
                                                          .number = o->confirm,
                                                          .failed = suspect_count(o, true),
                                                          .runs = (unsigned)o->run_count});
}

/* Ranks with both names of threads, and reports with those that separate the runs better. */
static int suspect_rank(const struct command *command, const struct suspect_options *o,
                        struct order_predicates *predicates[SUSPECT_NAMES])
{
    struct suspect_result r = {.options = o};
    for (unsigned names = 0; names < SUSPECT_NAMES; names++) {
        uint32_t count;
        uint64_t tested;
        struct order_predicate *items = order_predicates_rank(predicates[names], &count, &tested);
        r.tested += tested;
        if (names == 0 || (count && (!r.count || items[0].chance < r.items[0].chance))) {
            free(r.items);
            r.items = items;
            r.count = count;
            r.predicates = predicates[names];
        } else {
            free(items);
        }
    }
    while (r.likely < r.count && r.items[r.likely].chance * (double)r.tested <= CHANCE_MOST)
        r.likely++;
    if (o->json)
        suspect_print_json(&r);
    else
        suspect_print_text(&r);
    int status = o->picture ? suspect_draw(command, &r) : EXIT_DONE;
    if (status == EXIT_DONE && !r.likely)
        status = EXIT_FAILED;
    if (status == EXIT_DONE && o->confirm)
        status = suspect_try(command, &r);
    free(r.items);
    return status;
}

/* ---- the command ---- */

static const struct option_row suspect_rows[] = {OPTION_SETS('j', struct suspect_options, json),
                                                 {0}};

static error_t suspect_parse_option(int key, char *value, struct argp_state *state)
{
    struct suspect_options *o = state->input;
    switch (key) {
    case OPTION_FAILED:
    case OPTION_PASSED:
        suspect_add_trace(o, value, key == OPTION_FAILED);
        return 0;
    case OPTION_LIMIT:
        if (command_number(value, LIMIT_MOST, &o->limit))
            return 0;
        fprintf(stderr, "poet suspect: --limit %s: not a number from 1 to %u\n", value, LIMIT_MOST);
        return EINVAL;
    case OPTION_CONFIRM:
        o->confirm = 1;
        if (!value || command_number(value, LIMIT_MOST, &o->confirm))
            return 0;
        fprintf(stderr, "poet suspect: --confirm=%s: not a number from 1 to %u\n", value,
                LIMIT_MOST);
        return EINVAL;
    case 'p':
        o->picture = value;
        return divergence_format_is_supported(&command_suspect, value) ? 0 : EINVAL;
    default:
        return option_rows_parse(suspect_rows, key, value, state);
    }
}

/* Writes "--failed A B" as "--failed=A --failed=B": each file name after one of these two options
 * belongs to it. Returns the words, which the caller frees with the array that ends with NULL. */
static char **suspect_expand_words(int argc, char **argv, int *count)
{
    char **words = xcalloc((size_t)argc + 1, sizeof *words);
    const char *option = NULL;
    for (int i = 0; i < argc; i++) {
        bool lists = strcmp(argv[i], "--" FAILED_DIRECTORY) == 0 ||
                     strcmp(argv[i], "--" PASSED_DIRECTORY) == 0;
        if (lists && i + 1 < argc && argv[i + 1][0] != '-') {
            option = argv[i];
            continue;
        }
        if (argv[i][0] == '-')
            option = NULL;
        words[(*count)++] = option ? xasprintf("%s=%s", option, argv[i]) : xstrdup(argv[i]);
    }
    return words;
}

static int suspect_begin(const struct command *command, int argc, char **argv,
                         struct suspect_options *o)
{
    int first, status = command_read(command, argc, argv, o, &first);
    if (status != OPTIONS_READ)
        return status;
    for (int i = first; i < argc; i++)
        if (!suspect_add_runs(command, o, argv[i]))
            return EXIT_USAGE;
    if (!o->run_count)
        return command_usage(command, "missing operand: DIRECTORY, or --failed and --passed");
    if (!suspect_runs_are_enough(command, o))
        return EXIT_USAGE;
    struct order_predicates *predicates[SUSPECT_NAMES];
    for (unsigned names = 0; names < SUSPECT_NAMES; names++)
        predicates[names] = order_predicates_new((uint32_t)o->run_count);
    status = suspect_read_runs(command, o, predicates) ? suspect_rank(command, o, predicates)
                                                       : EXIT_USAGE;
    for (unsigned names = 0; names < SUSPECT_NAMES; names++)
        order_predicates_free(predicates[names]);
    return status;
}

static int suspect_main(const struct command *command, int argc, char **argv)
{
    struct suspect_options o = {.limit = LIMIT_DEFAULT};
    int count = 0;
    char **words = suspect_expand_words(argc, argv, &count);
    /* getopt moves words within the array: the copy says which are to be freed */
    char **moved = xcalloc((size_t)count + 1, sizeof *moved);
    memcpy(moved, words, (size_t)count * sizeof *moved);
    int status = suspect_begin(command, count, moved, &o);
    for (int i = 0; i < count; i++)
        free(words[i]);
    for (size_t i = 0; i < o.run_count; i++)
        free(o.runs[i].trace);
    free(o.runs);
    free(words);
    free(moved);
    return status;
}

static const struct argp_option options[] = {
    {FAILED_DIRECTORY, OPTION_FAILED, "TRACE...", 0, "traces of runs that failed", 0},
    {PASSED_DIRECTORY, OPTION_PASSED, "TRACE...", 0, "traces of runs that passed", 0},
    {"limit", OPTION_LIMIT, "N", 0, "print at most N orders (default: 5)", 0},
    {"confirm", OPTION_CONFIRM, "N", OPTION_ARG_OPTIONAL,
     "run the program, with threads held so that order N of the list (default: 1) occurs, and tell "
     "whether it fails more often",
     0},
    {"picture", 'p', "FILE", 0,
     "draw a failed run with the first of them above a run that passed: .pdf, .svg, .png or .txt",
     0},
    {"json", 'j', NULL, 0, "print JSON, one object per line", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = suspect_parse_option,
    .args_doc = "[DIRECTORY...]",
    .doc =
        "Compare many runs of a program, and list the orders of events that separate those that "
        "failed from those that passed, the least probable by chance first.  DIRECTORY is one "
        "that poet record --repeat made, with failed/ and passed/.\vOperations are the same if "
        "the names of thread and object, the event and its place in the source are.  The "
        "probability is that of Fisher's exact test; an order is listed if less than one in 20 "
        "as improbable is expected among all that were compared.  Exit status: 0 if there is one, "
        "1 if not, 2 after an error.",
    .children = options_children};

const struct command command_suspect = {.name = "suspect",
                                        .summary = "find the orders of events that make runs fail",
                                        .run = suspect_main,
                                        .argp = &argp};
