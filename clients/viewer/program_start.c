#define _GNU_SOURCE
#include "clients/viewer/program_start.h"

#include "clients/connection/install_paths.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "wire/endpoint.h"
#include "wire/profile_region.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define TRY_MS 50u
#define TRIES 200u

struct program_start_job {
    struct view *view;
    char **arguments; /* of poet record, or the program's own */
    char *directory, *name, *measured;
    char *lists[MEASURE_LISTS]; /* of functions; NULL: none */
    unsigned tries;
};

static void free_start(struct program_start_job *s)
{
    g_strfreev(s->arguments);
    g_free(s->directory);
    g_free(s->name);
    g_free(s->measured);
    for (unsigned i = 0; i < MEASURE_LISTS; i++)
        g_free(s->lists[i]);
    g_free(s);
}

/* Returns whether the file names libpoet, as programs linked by poetcc -trace do. */
static bool is_traced(const char *path)
{
    char *bytes;
    gsize size;
    if (!g_file_get_contents(path, &bytes, &size, NULL))
        return false;
    bool traced = memmem(bytes, size, "libpoet.so.0", 12) != NULL ||
                  memmem(bytes, size, "poet_runtime", 12) != NULL;
    g_free(bytes);
    return traced;
}

static void program_start_show_toast(struct view *view, char *text)
{
    toast_show(&view->toast, text, NULL, NULL, NULL);
    g_free(text);
}

static void on_ended(GObject *process, GAsyncResult *result, gpointer data)
{
    struct program_start_job *s = data;
    GSubprocess *p = G_SUBPROCESS(process);
    bool known = g_subprocess_wait_finish(p, result, NULL) && g_subprocess_get_if_exited(p);
    int status = known ? g_subprocess_get_exit_status(p) : 0;
    if (status)
        program_start_show_toast(s->view,
                                 g_strdup_printf("%s: exited with status %d", s->name, status));
    free_start(s);
}

static void program_start_spawn(struct program_start_job *s)
{
    GError *error = NULL;
    GSubprocessLauncher *launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_NONE);
    g_subprocess_launcher_set_cwd(launcher, s->directory);
    g_subprocess_launcher_setenv(launcher, "POET_MEASURE", s->measured, TRUE);
    for (unsigned i = 0; i < MEASURE_LISTS; i++)
        if (s->lists[i])
            g_subprocess_launcher_setenv(launcher, measurement_spec_variable(i), s->lists[i], TRUE);
    g_subprocess_launcher_unsetenv(launcher, "POET_RUN");
    GSubprocess *process =
        g_subprocess_launcher_spawnv(launcher, (const char *const *)s->arguments, &error);
    g_object_unref(launcher);
    if (process) {
        g_subprocess_wait_async(process, NULL, on_ended, s);
        g_object_unref(process);
        return;
    }
    program_start_show_toast(s->view, g_strdup_printf("%s: %s", s->name, error->message));
    g_error_free(error);
    free_start(s);
}

static bool server_answers(void)
{
    char endpoint[400];
    struct error error;
    bool absent;
    int fd = endpoint_default(endpoint, sizeof endpoint, &error)
                 ? endpoint_connect(endpoint, 1000, &absent, &error)
                 : -1;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Starts the program when the viewer's server answers, or after TRIES. */
static gboolean try_to_start(gpointer data)
{
    struct program_start_job *s = data;
    if (!server_answers() && ++s->tries < TRIES)
        return G_SOURCE_CONTINUE;
    program_start_spawn(s);
    return G_SOURCE_REMOVE;
}

/* ---- validation ---- */

static char *path_of(const char *program, const char *directory)
{
    char *path = !strchr(program, '/')         ? g_find_program_in_path(program)
                 : g_path_is_absolute(program) ? g_strdup(program)
                                               : g_build_filename(directory, program, NULL);
    bool there = path && g_file_test(path, G_FILE_TEST_IS_REGULAR) && access(path, X_OK) == 0;
    if (!there)
        g_clear_pointer(&path, g_free);
    return path;
}

static char **all_arguments(const char *path, bool record, const char *measured, char **own)
{
    char poet[PATH_MAX];
    GPtrArray *all = g_ptr_array_new();
    if (record) {
        const char *const words[] = {install_path_poet(poet, sizeof poet), "record", "-m", measured,
                                     "--"};
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
            g_ptr_array_add(all, g_strdup(words[i]));
    }
    g_ptr_array_add(all, g_strdup(path));
    for (; own && *own; own++)
        g_ptr_array_add(all, g_strdup(*own));
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_free(all, FALSE);
}

static void program_start_prepare(struct view *view, const struct program_start *what,
                                  const char *path, char **own)
{
    struct program_start_job *s = g_new0(struct program_start_job, 1);
    char *list = measurement_spec_list(&what->measure);
    bool record = !is_traced(path) || what->measure.wanted & WANTED_MEMORY;
    *s = (struct program_start_job){.view = view,
                                    .arguments = all_arguments(path, record, list, own),
                                    .directory = g_strdup(what->directory),
                                    .name = g_path_get_basename(path),
                                    .measured = g_strdup(list)};
    for (unsigned i = 0; i < MEASURE_LISTS; i++)
        s->lists[i] = g_strdup(what->measure.lists[i]);
    free(list);
    server_link_open(&view->server_link, NULL);
    g_timeout_add(TRY_MS, try_to_start, s);
}

bool program_start_begin(struct view *view, const struct program_start *what, struct error *error)
{
    char **own = NULL, *path;
    GError *syntax = NULL;
    if (!*what->program) {
        error_set(error, "Enter a program.");
        return false;
    }
    if (!g_file_test(what->directory, G_FILE_TEST_IS_DIR)) {
        error_set(error, "%s: no such directory", what->directory);
        return false;
    }
    if (*what->arguments && !g_shell_parse_argv(what->arguments, NULL, &own, &syntax)) {
        error_set(error, "Arguments: %s", syntax->message);
        g_error_free(syntax);
        return false;
    }
    path = path_of(what->program, what->directory);
    bool found = path != NULL;
    if (found)
        program_start_prepare(view, what, path, own);
    else
        error_set(error, "%s: no such program", what->program);
    g_strfreev(own);
    g_free(path);
    return found;
}
