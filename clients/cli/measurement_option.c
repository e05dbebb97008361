#include "clients/cli/measurement_option.h"

#include "config/measurement_spec.h"
#include "base/alloc.h"
#include "wire/profile_region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20) /* of a file, at most */

static bool read_file(const struct command *command, const char *path,
                      struct measurement_spec *measure)
{
    FILE *f = fopen(path, "re");
    char *text = xcalloc(FILE_BYTES + 1, 1);
    size_t size = f ? fread(text, 1, FILE_BYTES, f) : 0;
    bool good = f && !ferror(f);
    if (!good)
        command_fail(command, "%s: %s", path, strerror(errno));
    else if (memchr(text, 0, size))
        good = command_fail(command, "%s: is no text", path) == EXIT_DONE;
    if (f)
        fclose(f);
    good = good && measurement_spec_read(text, path, stderr, measure);
    free(text);
    return good;
}

static bool is_file(const char *words)
{
    return strpbrk(words, "/.") || (!strpbrk(words, ",=") && access(words, F_OK) == 0);
}

bool measurement_option_read(const struct command *command, const char *words, const char **list,
                             bool *memory)
{
    struct measurement_spec measure = {0};
    char *why = NULL;
    *list = NULL;
    if (!words)
        return true;
    words += *words == '@';
    if (is_file(words) ? !read_file(command, words, &measure)
                       : !measurement_spec_parse(words, &measure, &why)) {
        if (why)
            command_usage(command, "--measure %s", why);
        free(why);
        return false;
    }
    *list = measurement_spec_list(&measure);
    for (unsigned i = 0; i < MEASURE_LISTS; i++)
        if (measure.lists[i])
            setenv(measurement_spec_variable(i), measure.lists[i], 1);
    measurement_spec_free(&measure);
    *memory = (measure.wanted & WANTED_MEMORY) != 0;
    return true;
}
