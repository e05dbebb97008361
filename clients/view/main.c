/* poet view: the viewer's program. */
#include "clients/book/book.h"
#include "clients/view/window.h"
#include "wire/endpoint.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: poet view [--description NAME|FILE] [SOURCE]\n"
    "Open the viewer on a trace file, an endpoint, ssh:HOST[:FILE] or `latest`.  Without SOURCE: on the\n"
    "default endpoint, starting a server there if none answers.  With --description: drawn as this\n"
    "description of the environment says.\n\n"
    "  Left, Right        the selected event, along its line     Ctrl+F   find\n"
    "  Up, Down           to the neighbouring line               F3       next hit\n"
    "  Enter              to its partner                         Ctrl+Z   undo any change of view\n"
    "  [ ]                the nearest cause, the nearest effect  Ctrl+S   save the diagram\n"
    "  Page keys, Home    scroll; End follows the run            Ctrl+?   all shortcuts\n"
    "  + - 0 *            zoom; from single marks to the whole run\n";

struct start {
    const char *source, *script;
};

static void on_activate(GtkApplication *application, gpointer data)
{
    const struct start *start = data;
    window_new(application, start->source, start->script);
}

int main(int argc, char **argv)
{
    const char *source = NULL, *script = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--description") == 0 && i + 1 < argc) {
            if (book_draw_as(argv[++i]))
                continue;
            fprintf(stderr, "poet view: %s: no good description\n", argv[i]);
            return 1;
        }
        if (strcmp(argv[i], "--script") == 0 && i + 1 < argc) {
            script = argv[++i];
            continue;
        }
        if (argv[i][0] == '-' || source) {
            fprintf(stderr, "poet view: %s: unexpected\n%s", argv[i], usage);
            return 2;
        }
        source = argv[i];
    }
    if (source && strcmp(source, "latest") != 0 && !endpoint_is(source) &&
        !g_str_has_prefix(source, "ssh:") && !g_file_test(source, G_FILE_TEST_EXISTS)) {
        fprintf(stderr, "poet view: %s: no such file\n", source);
        return 1;
    }
    if (!gtk_init_check()) {
        fprintf(stderr, "poet view: there is no display: look at the trace with: poet show %s\n",
                source ? source : "latest");
        return 1;
    }
    g_set_prgname("io.github.poet.View");
    struct start start = {source, script};
    GtkApplication *application =
        gtk_application_new("io.github.poet.View", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(on_activate), &start);
    int status = g_application_run(G_APPLICATION(application), 1, argv);
    g_object_unref(application);
    return status;
}
