#include "clients/poet/measured.h"

#include "config/measure.h"
#include "memory/memory.h"
#include "wire/region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20) /* of a file, at most */

static bool read_file(const struct command *command, const char *path, struct measure *measure)
{
    FILE *f = fopen(path, "re");
    char *text = memory_zeroed(FILE_BYTES + 1, 1);
    size_t size = f ? fread(text, 1, FILE_BYTES, f) : 0;
    bool good = f && !ferror(f);
    if (!good)
        command_fail(command, "%s: %s", path, strerror(errno));
    else if (memchr(text, 0, size))
        good = command_fail(command, "%s: is no text", path) == EXIT_DONE;
    if (f)
        fclose(f);
    good = good && measure_read(text, path, stderr, measure);
    free(text);
    return good;
}

static bool is_file(const char *words)
{
    return strpbrk(words, "/.") || (!strpbrk(words, ",=") && access(words, F_OK) == 0);
}

bool measured_read(const struct command *command, const char *words, const char **list,
                   bool *memory)
{
    struct measure measure = {0};
    char *why = NULL;
    *list = NULL;
    if (!words)
        return true;
    words += *words == '@';
    if (is_file(words) ? !read_file(command, words, &measure)
                       : !measure_words(words, &measure, &why)) {
        if (why)
            command_usage(command, "--meters %s", why);
        free(why);
        return false;
    }
    *list = measure_list(&measure);
    for (unsigned i = 0; i < MEASURE_LISTS; i++)
        if (measure.lists[i])
            setenv(measure_variable(i), measure.lists[i], 1);
    measure_free(&measure);
    *memory = (measure.wanted & WANTED_MEMORY) != 0;
    return true;
}
