/* Reading target descriptions, and layers over them. */
#ifndef CONFIG_DESCRIPTION_READ_H
#define CONFIG_DESCRIPTION_READ_H

#include "config/description_values.h"
#include "config/target.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads a description from text, which may have several parts (description_path.h). Every error is
 * written to `complaints` as `FILE:LINE: PROBLEM`; the result is then NULL. */
struct target *target_read(const char *text, const char *name, FILE *complaints);

/* Applies a layer to a description. DRESS_AS_LAYER changes the appearance: labels, texts, letters,
 * titles, colors, shapes, arrows, whether kinds are drawn, line groups. DRESS_AS_NEWER, for a newer
 * version of the description, also changes which types wait, how, what ends their waits, and
 * categories. All other settings are ignored. Returns false if there are errors; valid settings are
 * applied anyway. */
enum description_layer { DRESS_AS_LAYER, DRESS_AS_NEWER };
bool target_apply_layer(struct target *target, const char *text, const char *name,
                        enum description_layer as, FILE *complaints);

/* Updates a description that a trace contains, with its text: if the installed description of that
 * name has a greater version, takes over its appearance and which events wait. The rules of order
 * and of successions stay. Returns that version, or 0. */
int target_update_installed(struct target *target, const char *text);

/* ---- description rules ---- */

/* Checks the complete description; reports errors to the reader. */
void description_rules_check(struct description_reader *reader, const struct target *target);

#endif
