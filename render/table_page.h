/* Tables on pages: columns of text and numbers, with totals and notes; long tables continue on the
 * next page.
 *
 * Equal sheets give equal bytes. */
#ifndef RENDER_TABLE_PAGE_H
#define RENDER_TABLE_PAGE_H

#include "clients/metadata/text_table.h"
#include "render/document.h"

/* Writes tables one below the other. A PDF has several pages if necessary; an image is as high as
 * needed. Written under a temporary name first. Returns false with the reason in *why. */
bool table_page_write(const struct text_table *sheets, uint32_t count,
                      const struct document_options *options, const char *path, const char **why);

#endif
