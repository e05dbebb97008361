#include "clients/viewer/open_dialog.h"

#include "clients/connection/run_discovery.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/endpoint.h"

#include <limits.h>

static void on_open(void *user, const char *path)
{
    struct view *view = user;
    if (path)
        server_link_open(&view->server_link, path);
}

void open_dialog_show_files(struct view *view)
{
    char traces[PATH_MAX];
    run_discovery_state(traces, sizeof traces);
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                             .title = "Open trace",
                                             .kind = "Poet traces (*.poet)",
                                             .pattern = "*.poet",
                                             .folder = traces},
                       on_open, view);
}

static char *connect_to(struct view *view, const char *what)
{
    if (*what && !endpoint_is(what) && !g_str_has_prefix(what, "ssh:"))
        return g_strdup_printf(
            "%s: invalid endpoint; enter unix:PATH, poet://HOST:PORT or ssh:HOST[:FILE]", what);
    server_link_open(&view->server_link, *what ? what : NULL);
    return NULL;
}

void open_dialog_show_connect(struct view *view)
{
    char endpoint[400] = "";
    struct error error;
    endpoint_default(endpoint, sizeof endpoint, &error);
    dialog_prompt(view,
                  &(struct dialog_question){
                      .title = "Connect to server",
                      .words = "unix:PATH, poet://HOST:PORT, or ssh:HOST[:FILE] for a remote host; "
                               "empty for the default server",
                      .placeholder = endpoint,
                      .button = "_Connect"},
                  connect_to);
}
