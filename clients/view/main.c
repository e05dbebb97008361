/* poet view: the viewer's program. */
#include "clients/view/view.h"

#include <string.h>

static const char usage[] =
    "Usage: poet view [SOURCE]\n"
    "Open the viewer on a trace file, an endpoint or `latest`.  Without SOURCE: on the default\n"
    "endpoint, starting a server there if none answers.\n\n"
    "  Left, Right        scroll by a column      Page Up, Page Down   by a page\n"
    "  Up, Down           scroll by a line        Home, End            to the begin, to the end\n"
    "  +, -, 0            zoom                    Escape               select nothing\n"
    "  Ctrl+O             open a file             Ctrl+L               connect to a server\n"
    "  Ctrl+S             save the diagram        Ctrl+Q               quit\n"
    "A click on an event shows its details.\n";

static void on_activate(GtkApplication *application, gpointer source)
{
    window_new(application, source);
}

int main(int argc, char **argv)
{
    const char *source = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (argv[i][0] == '-' || source) {
            fprintf(stderr, "poet view: %s: unexpected\n%s", argv[i], usage);
            return 2;
        }
        source = argv[i];
    }
    if (source && strcmp(source, "latest") != 0 && !endpoint_is(source) &&
        !g_file_test(source, G_FILE_TEST_EXISTS)) {
        fprintf(stderr, "poet view: %s: no such file\n", source);
        return 1;
    }
    if (!gtk_init_check()) {
        fprintf(stderr, "poet view: there is no display: look at the trace with: poet show %s\n",
                source ? source : "latest");
        return 1;
    }
    GtkApplication *application =
        gtk_application_new("io.github.poet.View", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(on_activate), (gpointer)source);
    int status = g_application_run(G_APPLICATION(application), 1, argv);
    g_object_unref(application);
    return status;
}
