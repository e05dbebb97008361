/* Reading descriptions. */
#ifndef CONFIG_DESCRIPTION_READ_H
#define CONFIG_DESCRIPTION_READ_H

#include "config/target.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads a description from text, which may have several parts (description_path.h).  Every mistake
 * is written to `complaints` as `FILE:LINE: what is wrong`; then the result is NULL. */
struct target *target_read(const char *text, const char *name, FILE *complaints);

/* Changes how things look as a text says: labels, texts, letters, titles, colours, shapes, arrows,
 * whether kinds are drawn, clusters; as a newer version of it, which types wait, how, and by what
 * that ends, and categories, too; all else in it is passed over. False: it has mistakes, and what
 * was good in it has changed. */
enum description_layer { DRESS_AS_LAYER, DRESS_AS_NEWER };
bool target_apply_layer(struct target *target, const char *text, const char *name,
                        enum description_layer as, FILE *complaints);

#endif
