#define _GNU_SOURCE
#include "clients/cli/compare.h"

#include "base/alloc.h"
#include "clients/cli/diagram_output.h"
#include "clients/cli/two_run_diagram.h"
#include "clients/metadata/event_text.h"
#include "config/options.h"
#include "render/document.h"
#include "render/scene_text.h"
#include "render/text_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MOST 2000000u /* of each run; an event takes about 200 bytes of memory */

struct divergence_state {
    const struct divergence *apart;
    struct command_source subjects[2];
    unsigned opened; /* number of opened subjects */
    struct trace_alignment *beside;
    struct event_id at[2];
    uint64_t left_out; /* events of both runs that are not compared */
    bool before; /* the runs differ before the named event */
    char *texts[2], *headings[2]; /* of the halves */
    struct two_run_diagram halves;
    unsigned run; /* the run that is being received */
    bool prints; /* print the divergence on standard output */
};

/* ---- divergence ---- */

static void divergence_receive_aligned(void *user, const struct response_chunk *answer)
{
    struct divergence_state *c = user;
    struct event_info e;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &e);
    const char *type = metadata_type_name(&c->subjects[c->run].source.book, e.type);
    if (!answer->in->error && !alignment_event(c->beside, c->run, &e, type))
        c->left_out += !(e.at.line & HIDDEN_LINE);
    event_info_free(&e);
}

static bool divergence_is_too_large(const struct divergence_state *c)
{
    for (unsigned run = 0; run < 2; run++) {
        const struct session *source = &c->subjects[run].source;
        if (source->book.run.events <= EVENTS_MOST)
            continue;
        command_fail(c->apart->command,
                     "no diagram: %s has %llu events; at most %u can be compared", source->name,
                     (unsigned long long)source->book.run.events, EVENTS_MOST);
        return true;
    }
    return false;
}

static void divergence_name_lines(const struct divergence_state *c,
                                  const struct trace_metadata *book)
{
    for (uint32_t i = 1; i <= book->line_count; i++) {
        if (!metadata_line(book, i))
            continue;
        alignment_name(c->beside, c->run, i, metadata_line(book, i)->is.name);
        alignment_rename_line(c->beside, c->run, i, metadata_label(book, i));
    }
}

static bool divergence_align_runs(struct divergence_state *c)
{
    c->beside = alignment_new();
    command_source_label_lines(&c->subjects[0]);
    command_source_label_lines(&c->subjects[1]);
    for (c->run = 0; c->run < 2; c->run++) {
        struct command_source *subject = &c->subjects[c->run];
        if (!command_source_request(c->apart->command, subject, REQUEST_DUMP, NULL,
                                    divergence_receive_aligned, c))
            return false;
        divergence_name_lines(c, &subject->source.book);
    }
    align_traces(c->beside);
    return true;
}

/* Finds where each run diverges; false: nowhere. In the recorded run this is the named event, if
 * all events before it match, else the first one without a match; in the other run, what the same
 * thread did instead, else the first one without a match. */
static bool divergence_find_events(struct divergence_state *c)
{
    const struct event_id named = c->apart->named;
    bool begins = alignment_may_diverge_at(c->beside, 0, named);
    c->before = !begins && alignment_column(c->beside, 0, named) >= 0 &&
                !alignment_equal(c->beside, 0, named);
    c->at[0] = begins ? named : alignment_first_divergence(c->beside, 0);
    c->at[1] = divergent_event(c->beside, 0, c->at[0]);
    if (!alignment_may_diverge_at(c->beside, 1, c->at[1]))
        c->at[1] = alignment_first_divergence(c->beside, 1);
    return c->at[0].line || c->at[1].line;
}

/* ---- diagram ---- */

/* Returns the object of an event, "M:a"; or, for a sync pair of two objects, "M:a to M:b"; in new
 * memory. */
static char *divergence_object_text(const struct trace_metadata *book, const struct event_info *e)
{
    bool pair = e->relation == RELATION_SYNC && e->partner_count && !e->about;
    uint32_t other = pair ? e->partners[0].line : 0;
    const struct target_event *look = pair ? event_style(book, e) : NULL;
    if (pair && e->at.line == e->thread)
        return xstrdup(metadata_label(book, other));
    if (pair && other != e->thread && look)
        return xasprintf("%s %s %s", metadata_label(book, e->at.line),
                         look->arrow == ARROW_TO_PARTNER ? "to" : "from",
                         metadata_label(book, other));
    return xstrdup(metadata_label(book, e->about ? e->about : e->at.line));
}

/* "T:work#2 performed acquire on M:a, racy.c:8" */
static char *divergence_event_text(struct divergence_state *c, const struct event_info *e)
{
    struct command_source *subject = &c->subjects[c->run];
    const struct trace_metadata *book = &subject->source.book;
    const char *site = command_source_site(subject, e);
    char *object = divergence_object_text(book, e);
    char *text = xasprintf("%s performed %s on %s%s%s",
                           metadata_label(book, e->thread ? e->thread : e->at.line),
                           metadata_type_name(book, e->type), object, *site ? ", " : "", site);
    free(object);
    return text;
}

static void divergence_receive_drawn(void *user, const struct response_chunk *answer)
{
    struct divergence_state *c = user;
    struct event_info e;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &e);
    if (!answer->in->error && event_id_equal(e.at, c->at[c->run]) && !c->texts[c->run])
        c->texts[c->run] = divergence_event_text(c, &e);
    if (!answer->in->error)
        two_run_diagram_add_event(&c->halves, c->run, &e);
    event_info_free(&e);
}

/* Requests the events of deadlocks of both runs. */
static bool divergence_receive_stuck(struct divergence_state *c)
{
    struct two_run_diagram *h = &c->halves;
    for (unsigned run = 0; run < 2; run++) {
        struct event_id *pairs = NULL;
        uint32_t count = 0;
        if (!command_source_deadlock_events(c->apart->command, &c->subjects[run], &pairs, &count))
            return false;
        for (uint32_t i = 0; i < count; i++)
            ARRAY_PUSH(h->stuck, h->stuck_count, merged_metadata_event_id(&h->both, run, pairs[i]));
        free(pairs);
    }
    return true;
}

static const char *divergence_run_word(const struct divergence_state *c, unsigned run)
{
    const char *text = c->apart->words[run];
    return text ? text : run ? "again" : "recorded";
}

static char *divergence_run_heading(const char *word, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    return strlen(name) > 40 ? xasprintf("%s: %.24s…%s", word, name, name + strlen(name) - 12)
                             : xasprintf("%s: %s", word, name);
}

static void divergence_print_place(const struct divergence_state *c)
{
    char at[48];
    printf("the runs diverge after %llu matching event%s\n",
           (unsigned long long)alignment_equal_count(c->beside),
           plural_suffix(alignment_equal_count(c->beside)));
    for (unsigned run = 0; run < 2; run++) {
        event_id_print(at, sizeof at, c->at[run]);
        printf("%s: %s%s%s\n", c->subjects[run].source.name, c->at[run].line ? at : "",
               c->at[run].line ? " " : "", c->texts[run] ? c->texts[run] : "no further event");
    }
}

static bool divergence_draw_diagram(struct divergence_state *c)
{
    two_run_diagram_begin(&c->halves, &c->subjects[0].source.book, &c->subjects[1].source.book,
                          c->beside, c->at);
    for (c->run = 0; c->run < 2; c->run++)
        if (!command_source_request(c->apart->command, &c->subjects[c->run], REQUEST_DUMP, NULL,
                                    divergence_receive_drawn, c))
            return false;
    for (unsigned run = 0; run < 2; run++)
        c->headings[run] =
            divergence_run_heading(divergence_run_word(c, run), c->subjects[run].source.name);
    if (c->prints)
        divergence_print_place(c);
    two_run_diagram_finish(&c->halves, (const char *const *)c->headings, c->texts);
    c->texts[0] = c->texts[1] = NULL;
    return divergence_receive_stuck(c);
}

/* ---- output ---- */

static char *divergence_mark_title(void *context, const struct scene_mark *mark)
{
    struct divergence_state *c = context;
    unsigned run = merged_metadata_run(&c->halves.both, mark->event->at.line);
    char *text = event_text(&c->halves.both.book, mark->event);
    const char *site = command_source_site(&c->subjects[run], mark->event);
    char *title = xasprintf("%s%s%s", text, *site ? ", " : "", site);
    free(text);
    return title;
}

static bool divergence_write_text(const struct two_run_diagram *h, const struct scene *scene,
                                  const char *caption, const char *file, const char **why)
{
    FILE *f = fopen(file, "we");
    bool written = f != NULL;
    if (f) {
        scene_text_write(scene, &h->both.book, &(struct text_options){0}, f);
        fprintf(f, "%s\n", caption);
        written = !ferror(f);
        written = fclose(f) == 0 && written;
    }
    if (!written)
        *why = strerror(errno);
    return written;
}

/* Returns the caption, in new memory: the result, and what the diagram lacks. Line names may differ
 * in matching events, since a replay identifies objects by their use, not by name. */
static char *divergence_caption(const struct divergence_state *c)
{
    char *caption = NULL;
    size_t size = 0;
    FILE *f = xcheck(open_memstream(&caption, &size), 1);
    if (c->apart->caption)
        fputs(c->apart->caption, f);
    else
        fprintf(f, "%llu matching events", (unsigned long long)alignment_equal_count(c->beside));
    if (c->before)
        fputs("; line names differ before that", f);
    if (!c->at[0].line || !c->at[1].line)
        fprintf(f, "; all compared events of the %s run match", c->at[1].line ? "recorded" : "new");
    if (c->left_out)
        fprintf(f, "; %llu event%s unordered or after a gap, not compared",
                (unsigned long long)c->left_out, plural_suffix(c->left_out));
    if (c->halves.left_lines)
        fprintf(f, "; %u more diverging line%s not drawn", c->halves.left_lines,
                plural_suffix(c->halves.left_lines));
    fclose(f);
    return caption;
}

static int divergence_write_file(struct divergence_state *c, const char *file)
{
    const struct trace_metadata *book = &c->subjects[0].source.book;
    enum output_format format = diagram_output_format(file);
    char *title = xasprintf("%s, %s and %s", book->run.name, divergence_run_word(c, 0),
                            divergence_run_word(c, 1));
    char *caption = divergence_caption(c);
    struct scene_options options = {.title = title,
                                    .caption = caption,
                                    .measure = format == OUTPUT_TEXT ? NULL : text_cache_width};
    struct document_options page = {.format = output_format_document(format),
                                    .title_of = divergence_mark_title,
                                    .context = c,
                                    .title = title,
                                    .date = (time_t)(book->run.wall_ns / 1000000000u),
                                    .selection = two_run_diagram_selection(&c->halves)};
    two_run_diagram_options(&c->halves, &options);
    struct scene *scene = scene_build(&c->halves.window, &c->halves.both.book, &options);
    const char *why;
    bool written = format == OUTPUT_TEXT
                       ? divergence_write_text(&c->halves, scene, caption, file, &why)
                       : document_write(scene, &page, file, &why);
    if (!written)
        command_fail(c->apart->command, "%s: %s", file, why);
    scene_free(scene);
    text_cache_clear();
    free(title);
    free(caption);
    return written ? EXIT_DONE : EXIT_FAILED;
}

/* ---- interface ---- */

bool divergence_format_is_supported(const struct command *command, const char *file)
{
    enum output_format format = diagram_output_format(file);
    if (format != OUTPUT_NO_FORMAT && format != OUTPUT_HTML)
        return true;
    command_usage(command, "--picture %s: the name must end in .pdf, .svg, .png or .txt", file);
    return false;
}

static int divergence_write_diagram(struct divergence_state *c, const char *file)
{
    if (divergence_is_too_large(c) || !divergence_align_runs(c))
        return EXIT_FAILED;
    if (!divergence_find_events(c)) {
        command_fail(c->apart->command, "no divergence; no diagram written");
        return EXIT_DONE;
    }
    return divergence_draw_diagram(c) ? divergence_write_file(c, file) : EXIT_FAILED;
}

/* Returns false after reporting the error if one of them cannot be read. */
static bool divergence_open(struct divergence_state *c)
{
    const char *const traces[] = {c->apart->recorded, c->apart->again};
    while (c->opened < 2 && command_source_open(c->apart->command, &c->subjects[c->opened],
                                                traces[c->opened], SESSION_ALL_LINES, LABELS_NAME))
        c->opened++;
    return c->opened == 2;
}

static void divergence_close(struct divergence_state *c)
{
    free(c->halves.stuck);
    two_run_diagram_free(&c->halves);
    for (unsigned run = 0; run < 2; run++) {
        free(c->headings[run]);
        free(c->texts[run]);
    }
    alignment_free(c->beside);
    while (c->opened > 0)
        command_source_close(&c->subjects[--c->opened]);
}

int divergence_draw(const struct divergence *apart, const char *file)
{
    struct divergence_state c = {.apart = apart};
    int status = divergence_open(&c) ? divergence_write_diagram(&c, file) : EXIT_FAILED;
    divergence_close(&c);
    return status;
}

#define EXIT_TROUBLE 2 /* as in cmp and diff */

static int divergence_print_comparison(struct divergence_state *c, const char *file)
{
    if (divergence_is_too_large(c) || !divergence_align_runs(c))
        return EXIT_TROUBLE;
    if (divergence_find_events(c))
        return divergence_draw_diagram(c) && (!file || divergence_write_file(c, file) == EXIT_DONE)
                   ? EXIT_FAILED
                   : EXIT_TROUBLE;
    if (c->prints)
        printf("no divergence: %llu matching events\n",
               (unsigned long long)alignment_equal_count(c->beside));
    if (file)
        command_fail(c->apart->command, "no divergence; %s not written", file);
    return EXIT_DONE;
}

/* Prints the divergence on standard output, unless quiet, and writes the diagram unless file is
 * NULL. Returns 0 if all events are equal, 1 if not, 2 if the runs cannot be compared, or the
 * diagram cannot be written. */
static int divergence_compare(const struct divergence *apart, const char *file, bool quiet)
{
    struct divergence_state c = {.apart = apart, .prints = !quiet};
    int status = divergence_open(&c) ? divergence_print_comparison(&c, file) : EXIT_TROUBLE;
    divergence_close(&c);
    return status;
}

/* ---- the command ---- */

struct compare_options {
    const char *picture;
    bool quiet;
};

static const struct option_row compare_rows[] = {OPTION_SETS('q', struct compare_options, quiet),
                                                 {0}};

static error_t compare_parse_option(int key, char *value, struct argp_state *state)
{
    struct compare_options *c = state->input;
    switch (key) {
    case 'p':
        c->picture = value;
        return divergence_format_is_supported(&command_compare, value) ? 0 : EINVAL;
    default:
        return option_rows_parse(compare_rows, key, value, state);
    }
}

static int compare_run(const struct command *command, int argc, char **argv)
{
    struct compare_options c = {0};
    int first, status = command_read(command, argc, argv, &c, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first != 2)
        return command_usage(command, "expected two traces");
    struct divergence apart = {.command = command,
                               .recorded = argv[first],
                               .again = argv[first + 1],
                               .words = {"first", "second"}};
    return divergence_compare(&apart, c.picture, c.quiet);
}

static const struct argp_option options[] = {
    {"picture", 'p', "FILE", 0,
     "draw the first divergence, the first run above the second: .pdf, .svg, .png or .txt", 0},
    {"quiet", 'q', NULL, 0, "print nothing; set only the exit status", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = compare_parse_option,
    .args_doc = "TRACE OTHER",
    .doc = "Compare two runs of a program, such as a run and its replay, and show where they "
           "diverge.\vTwo events match if they are the same numbered action of the same thread, at "
           "the same position on the same line, and all events before them match.  Threads are "
           "matched by their creation.  Times are not compared.  Exit status: 0 if all compared "
           "events match, 1 if the runs diverge, 2 if they cannot be compared.",
    .children = options_children};

const struct command command_compare = {.name = "compare",
                                        .summary = "compare two runs and show where they diverge",
                                        .run = compare_run,
                                        .argp = &argp};
