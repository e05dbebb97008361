/* poet export: writes the diagram, or the run in a format of another tool, to a file. */
#define _GNU_SOURCE
#include "clients/cli/diagram.h"
#include "clients/cli/diagram_output.h"
#include "clients/cli/order_formats.h"
#include "clients/cli/paper_size.h"
#include "clients/cli/sqlite_export.h"
#include "config/options.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---- */

enum { OPTION_SOURCE = 1000, OPTION_WRAP, OPTION_NO_WRAP, OPTION_TRANSPARENT };

struct export_options {
    struct event_diagram picture;
    struct document_options page;
    const struct order_format *other; /* of another tool; NULL: a diagram */
    bool database; /* all tables, for SQLite */
    const char *file;
    const struct command *command;
    enum wrap wrap;
    bool source; /* in a web page: include the source lines around call sites */
};

#define bad(o, ...) (command_usage((o)->command, __VA_ARGS__), EINVAL) /* EINVAL ends argp */

static const struct option_row export_rows[] = {
    OPTION_CHILD_INPUT(struct export_options, picture),
    OPTION_STORES('o', struct export_options, file),
    OPTION_SETS(OPTION_TRANSPARENT, struct export_options, page.transparent),
    OPTION_SETS(OPTION_SOURCE, struct export_options, source),
    OPTION_SETS('g', struct export_options, page.theme.grey),
    {0}};

static error_t parse_export(int key, char *value, struct argp_state *state)
{
    struct export_options *o = state->input;
    switch (key) {
    case OPTION_WRAP:
    case OPTION_NO_WRAP:
        o->wrap = key == OPTION_WRAP ? WRAP : WRAP_NOT;
        return 0;
    case 'f':
        o->database = strcmp(value, "sqlite") == 0;
        if ((o->other = order_format_find(value)) || o->database)
            return 0;
        return bad(o, "--format: invalid value \"%s\"; valid: chrome, dot, shiviz, sqlite", value);
    case 'p':
        if (paper_size_by_name(value, &o->page))
            return 0;
        return bad(o, "--paper: invalid value \"%s\"; valid: a4, a3, letter, legal, 297x210mm",
                   value);
    case 'w':
        if (paper_size_width(value, &o->page.width_pt))
            return 0;
        return bad(o, "--width: invalid value \"%s\"; valid: 20pt to 14400pt, 84mm, 16cm, 3.3in",
                   value);
    default:
        return option_rows_parse(export_rows, key, value, state);
    }
}

/* ---- output ---- */

/* Writes the whole run in a format of another tool. */
static int export_other(const struct command *command, const char *source,
                        const struct order_format *format, const char *file)
{
    struct command_source subject;
    if (!command_source_open(command, &subject, source, SESSION_ALL_LINES, LABELS_ADDRESS))
        return EXIT_FAILED;
    bool written = order_format_write(command, &subject, format, file);
    command_source_close(&subject);
    return written ? EXIT_DONE : EXIT_FAILED;
}

/* Removed on an interrupt, so that no incomplete file remains. */
static char part_file[4200];

static void on_interrupt(int number)
{
    unlink(part_file);
    _exit(128 + number);
}

static int export_picture(const struct command *command, const char *source,
                          struct export_options *o)
{
    struct command_source subject;
    enum output_format format = diagram_output_format(o->file);
    if (format == OUTPUT_NO_FORMAT)
        return command_usage(command, "%s: the name must end in .pdf, .svg, .png, .txt or .html",
                             o->file);
    o->page.format = output_format_document(format);
    if (!command_source_open(command, &subject, source, event_diagram_set_rows(&o->picture),
                             o->picture.labels))
        return EXIT_FAILED;
    snprintf(part_file, sizeof part_file, "%s.part", o->file);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    int status = EXIT_FAILED;
    if (format == OUTPUT_HTML && o->picture.fold < 0)
        o->picture.fold = 0; /* a page shows the relations of each event */
    if (event_diagram_request(command, &o->picture, &subject)) {
        if (o->picture.window.event_count == 0)
            fprintf(stderr, "poet export: no events; compile the program with -trace\n");
        status =
            format == OUTPUT_TEXT
                ? diagram_output_write_text(command, &o->picture, &subject, o->file)
            : format == OUTPUT_HTML
                ? diagram_output_add_page(command, &o->picture, &subject, NULL, o->source, o->file)
                : diagram_output_write(command, &o->picture, &subject, &o->page, o->wrap, o->file);
    }
    event_diagram_free(&o->picture);
    command_source_close(&subject);
    return status;
}

static int run_export(const struct command *command, int argc, char **argv)
{
    struct export_options o = {.picture = {.command = command, .fold = -1, .labels = LABELS_NAME},
                               .command = command};
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(command, "extra operand: %s", argv[first]);
    if (!o.file)
        return command_usage(command, "missing option: -o FILE");
    if (o.picture.processors && diagram_output_format(o.file) == OUTPUT_HTML)
        return command_usage(command, "--processors: not supported in a web page");
    if (o.database)
        return sqlite_export_write(command, source, o.file);
    return o.other ? export_other(command, source, o.other, o.file)
                   : export_picture(command, source, &o);
}

static const struct argp_option export_options[] = {
    {NULL, 0, NULL, 0, "Output:", 1},
    {"output", 'o', "FILE", 0, "write to FILE; the suffix selects the format", 1},
    {"paper", 'p', "SIZE", 0, "split over pages: a4, a3, letter, legal or WIDTHxHEIGHTmm", 1},
    {"width", 'w', "WIDTH", 0, "scale to WIDTH (84mm, 17cm, 5in), for an article", 1},
    {"wrap", OPTION_WRAP, NULL, 0,
     "wrap into bands one below the other, 17 cm wide or as given by --width; default if "
     "text in one band would be less than 5 points high",
     1},
    {"no-wrap", OPTION_NO_WRAP, NULL, 0, "one band, even if text gets small", 1},
    {"transparent", OPTION_TRANSPARENT, NULL, 0, "transparent background (SVG, PNG)", 1},
    {"grayscale", 'g', NULL, 0, "grayscale", 1},
    {"source", OPTION_SOURCE, NULL, 0, "in a web page: include the source lines around call sites",
     1},
    {"format", 'f', "FORMAT", 0,
     "convert the whole run: chrome (Perfetto/Chrome trace-event JSON with flows, and each call if "
     "recorded with POET_MEASURE=calls=every), dot (Graphviz) or shiviz (vector clocks); -o - "
     "writes to standard output; or sqlite (a database with the tables of poet query)",
     1},
    {0}};
static const struct argp_child picture_children[] = {
    {&picture_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp export_argp = {
    .options = export_options,
    .parser = parse_export,
    .args_doc = "[SOURCE] -o FILE.pdf|.svg|.png|.txt|.html",
    .doc = "Export the diagram.  Default range: the whole run.  A PDF of more than 400 columns is "
           "split over pages; an SVG or PNG is one image, a PNG of at most 30000 pixels."
           "\vOutput is reproducible: the same input gives the same bytes; $SOURCE_DATE_EPOCH sets "
           "the date in a PDF.",
    .children = picture_children};

const struct command command_export = {.name = "export",
                                       .summary = "export the diagram or the trace (PDF, SVG, "
                                                  "PNG, HTML, Perfetto, dot, ShiViz, "
                                                  "SQLite)",
                                       .run = run_export,
                                       .argp = &export_argp};
