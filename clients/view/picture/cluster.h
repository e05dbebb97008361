/* Lines that are one row together. */
#ifndef CLIENTS_VIEW_PICTURE_CLUSTER_H
#define CLIENTS_VIEW_PICTURE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

struct view;

enum cluster_rule { CLUSTER_BY_PROCESS, CLUSTER_BY_KIND, CLUSTER_BY_NAME, CLUSTER_BY_DESCRIPTION };

void cluster_by(struct view *view, enum cluster_rule rule);
void cluster_by_pattern(struct view *view, const char *pattern); /* as of fnmatch, on names */
void cluster_default(struct view *view); /* those of the description, if it has any */
void cluster_join(struct view *view, uint32_t line); /* with the row above */
void cluster_split(struct view *view, uint32_t line);
bool cluster_has(const struct view *view, uint32_t line); /* is it in one? */

#endif
