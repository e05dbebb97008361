#include "clients/cli/file_suffix.h"

#include <string.h>
#include <strings.h>

enum file_suffix file_suffix_of(const char *file)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".txt", ".html"};
    size_t n = strlen(file);
    for (int i = 0; i < SUFFIX_NONE; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && strcasecmp(file + n - e, endings[i]) == 0)
            return (enum file_suffix)i;
    }
    return SUFFIX_NONE;
}
