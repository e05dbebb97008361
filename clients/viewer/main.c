/* poet view: the viewer's program. */
#include "clients/connection/session.h"
#include "clients/metadata/event_text.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/viewer_window.h"
#include "config/options.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DESCRIPTION = 256, SCRIPT, FROM, TO };

static const struct option_row main_rows[] = {OPTION_STORES(SCRIPT, struct viewer_start, script),
                                              {0}};

static error_t main_parse_end(const char *name, const char *value, int64_t *ns)
{
    if (duration_read(value, ns))
        return 0;
    fprintf(stderr, "poet view: --%s %s: not a time (1.5s, 20ms, 300us, 5ns)\n", name, value);
    return EINVAL;
}

static error_t main_parse_option(int key, char *value, struct argp_state *state)
{
    struct viewer_start *start = state->input;
    switch (key) {
    case FROM:
        return main_parse_end("from", value, &start->from_ns);
    case TO:
        return main_parse_end("to", value, &start->to_ns);
    case DESCRIPTION:
        if (metadata_override_description(value))
            return 0;
        fprintf(stderr, "poet view: --description %s: unreadable or invalid target description\n",
                value);
        return EINVAL;
    default:
        return option_rows_parse(main_rows, key, value, state);
    }
}

static const struct argp_option main_argp_options[] = {
    {"description", DESCRIPTION, "NAME", 0, "use this target description (name or file)", 0},
    {"from", FROM, "TIME", 0,
     "select a range of time, and show it: from this time (1.5s, 20ms, 300us, 5ns) from the start "
     "of the run",
     0},
    {"to", TO, "TIME", 0, "the end of that range", 0},
    {"script", SCRIPT, "FILE", OPTION_HIDDEN, "does what the lines of a file say", 0},
    {0}};
static const struct argp main_argp_parser = {
    .options = main_argp_options,
    .parser = main_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Open the viewer on a trace file, a run name from `poet ls`, an endpoint, "
        "ssh:HOST[:FILE] or `latest`.  Without SOURCE: on the default endpoint, starting a server "
        "there if none answers."
        "\v  Left, Right     previous, next event on the line      Ctrl+F find\n"
        "  Up, Down        event on the line above, below        F3     next match\n"
        "  Enter           partner event                         Ctrl+Z undo view change\n"
        "  [ ]             nearest cause, nearest effect         Ctrl+S export\n"
        "  Page keys, Home scroll; End follows a live run        F6     analysis pane\n"
        "  + - 0 *         zoom in, out, reset, to fit           Ctrl+? all shortcuts\n"
        "  R, Shift+R      select a range of time, zoom to it    M      cursor at the event\n"
        "A range of time is also selected by dragging over the ruler, or over rows with Shift "
        "held, which selects their threads, too: the tables below the diagram are then about "
        "it.\n",
    .children = options_children};

static void on_activate(GtkApplication *application, gpointer data)
{
    viewer_window_new(application, data);
}

int main(int argc, char **argv)
{
    static const struct options view = {"view", &main_argp_parser, false};
    struct viewer_start start = {0};
    char path[PATH_MAX];
    int first, status = options_read(&view, argc, argv, &start, &first);
    if (status != OPTIONS_READ)
        return status;
    if (argc - first > 1) {
        fprintf(stderr, "poet view: %s: extra operand\nsee: poet help view\n", argv[first + 1]);
        return OPTIONS_WRONG;
    }
    if (start.to_ns ? start.to_ns <= start.from_ns : start.from_ns != 0) {
        fprintf(stderr, "poet view: --from and --to: give both, the earlier time first\n");
        return OPTIONS_WRONG;
    }
    const char *source = start.source = argc > first ? argv[first] : NULL;
    if (source && strcmp(source, "latest") != 0 && !endpoint_is(source) &&
        !g_str_has_prefix(source, "ssh:") && !run_discovery_find(source, path, sizeof path)) {
        fprintf(stderr, "poet view: %s: no such file\n", source);
        return 1;
    }
    if (!gtk_init_check()) {
        fprintf(stderr, "poet view: no display; print the trace with: poet show %s\n",
                source ? source : "latest");
        return 1;
    }
    g_set_prgname("io.github.poet.View");
    GtkApplication *application =
        gtk_application_new("io.github.poet.View", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(on_activate), &start);
    status = g_application_run(G_APPLICATION(application), 1, argv);
    g_object_unref(application);
    return status;
}
