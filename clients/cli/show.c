/* poet show: prints the diagram in the terminal. */
#define _GNU_SOURCE
#include "clients/cli/diagram.h"
#include "clients/cli/diagram_output.h"
#include "clients/cli/terminal.h"
#include "config/options.h"
#include "render/scene_text.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

enum { OPTION_FOOTNOTES = 1 };

struct show_options_state {
    struct event_diagram picture;
    struct text_options text;
};

static const struct option_row show_rows[] = {
    OPTION_CHILD_INPUT(struct show_options_state, picture),
    OPTION_SETS('a', struct show_options_state, text.ascii),
    {0}};

static error_t parse_show(int key, char *value, struct argp_state *state)
{
    struct show_options_state *o = state->input;
    if (key != OPTION_FOOTNOTES)
        return option_rows_parse(show_rows, key, value, state);
    o->text.brief = false;
    return 0;
}

static void show_report_left_out(uint32_t footnotes)
{
    if (footnotes)
        printf("note: %u footnote%s (arrows, messages, repeats); "
               "--footnotes prints %s\n",
               footnotes, plural_suffix(footnotes), footnotes == 1 ? "it" : "them");
}

static int run_show(const struct command *command, int argc, char **argv)
{
    struct show_options_state o = {
        .picture = {.command = command, .fold = -1, .labels = LABELS_NAME},
        .text = {.brief = true}};
    struct event_diagram *p = &o.picture;
    setlocale(LC_CTYPE, "");
    o.text.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(command, "extra operand: %s", argv[first]);
    o.text.width = pager_columns();
    struct command_source subject;
    if (!command_source_open(command, &subject, source, event_diagram_set_rows(p), p->labels))
        return EXIT_FAILED;
    status = EXIT_FAILED;
    o.text.color = terminal_color_is_enabled();
    if (event_diagram_request(command, p, &subject) && diagram_scene_all(command, p, &subject)) {
        struct scene *scene = diagram_scene_options(p, &subject.source.book, false, 0);
        pager_begin();
        if (!p->no_title)
            printf("%s\n\n", p->title);
        show_report_left_out(scene_text_write(scene, &subject.source.book, &o.text, stdout));
        diagram_scene_note(p, stdout);
        scene_free(scene);
        status = EXIT_DONE;
    }
    event_diagram_free(p);
    command_source_close(&subject);
    return status;
}

static const struct argp_option show_options[] = {
    {"ascii", 'a', NULL, 0, "ASCII only", 1},
    {"footnotes", OPTION_FOOTNOTES, NULL, 0,
     "print below the diagram what does not fit into it: order of events, annotations, messages, "
     "collapsed repeats, tasks on worker threads; default: only their number",
     1},
    {0}};
static const struct argp_child show_children[] = {{&picture_options, 0, NULL, 0},
                                                  {&color_options, 0, NULL, 0},
                                                  {&options_common, 0, NULL, 0},
                                                  {0}};
static const struct argp show_argp = {
    .options = show_options,
    .parser = parse_show,
    .args_doc = "[SOURCE]",
    .doc = "Print the diagram in the terminal, in UTF-8 or, if the locale has another encoding, "
           "ASCII.",
    .children = show_children};

const struct command command_show = {.name = "show",
                                     .summary = "print the diagram in the terminal",
                                     .run = run_show,
                                     .argp = &show_argp};
