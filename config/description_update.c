/* Updating the description of an old trace to the installed one. */
#include "config/description_update.h"

#include "config/description_path.h"
#include "config/description_read.h"

#include <stdlib.h>

int target_update_installed(struct target *target)
{
    char *path, *text = target_installed(target->name, &path);
    struct target *installed = text ? target_read(text, path, NULL) : NULL;
    int version = installed && installed->version > target->version ? installed->version : 0;
    target_free(installed);
    if (version)
        target_apply_layer(target, text, path, DRESS_AS_NEWER, NULL);
    free(text);
    free(path);
    return version;
}
