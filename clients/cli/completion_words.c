/* Completion words that are known only at completion time, one per line. */
#define _GNU_SOURCE
#include "clients/cli/completion.h"

#include "clients/cli/command.h"
#include "clients/cli/preload.h"
#include "clients/connection/install_paths.h"
#include "clients/connection/session.h"
#include "config/description_path.h"
#include "config/description_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *completion_words_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void completion_words_print_word(void *user, const char *word)
{
    (void)user;
    if (!strpbrk(word, "\n\r"))
        puts(word);
}

static void completion_words_print_base(void *user, const char *path)
{
    completion_words_print_word(user, completion_words_base_name(path));
}

/* Prints an endpoint, unless it is a socket that does not exist any more. */
static void completion_words_print_endpoint(void *user, const char *endpoint)
{
    struct stat st;
    if (strncmp(endpoint, "unix:", 5) != 0 || stat(endpoint + 5, &st) == 0)
        completion_words_print_word(user, endpoint);
}

static void completion_words_print_runs(void)
{
    char state[PATH_MAX];
    puts("latest");
    run_discovery_state(state, sizeof state);
    run_discovery_files(".", completion_words_print_word, NULL);
    run_discovery_files(state, completion_words_print_base, NULL);
    run_discovery_endpoints(completion_words_print_endpoint, NULL);
}

static void completion_words_print_libraries(void)
{
    char library[PATH_MAX];
    if (!install_path_library(library, sizeof library))
        return;
    *strrchr(library, '/') = 0;
    preload_print(library);
}

/* Prints the event types of a description; shells remove those that others have, too. */
static void completion_words_print_types_of(void *user, const char *name)
{
    (void)user;
    char *path, *text = target_load(name, &path);
    FILE *nowhere = fopen("/dev/null", "we");
    struct target *target = text && nowhere ? target_read(text, name, nowhere) : NULL;
    for (size_t i = 0; target && i < target->event_count; i++)
        puts(target->events[i].name);
    target_free(target);
    if (nowhere)
        fclose(nowhere);
    if (text)
        free(path);
    free(text);
}

int completion_words_write(const char *what)
{
    if (strcmp(what, "runs") == 0)
        completion_words_print_runs();
    else if (strcmp(what, "endpoints") == 0)
        run_discovery_endpoints(completion_words_print_endpoint, NULL);
    else if (strcmp(what, "descriptions") == 0)
        target_each(completion_words_print_word, NULL);
    else if (strcmp(what, "types") == 0)
        target_each(completion_words_print_types_of, NULL);
    else if (strcmp(what, "libraries") == 0)
        completion_words_print_libraries();
    else
        return EXIT_USAGE;
    return EXIT_DONE;
}
