/* Tables on pages: columns of words and numbers, with totals and notes; long ones go on on the next
 * page.
 *
 * The same sheets give the same bytes. */
#ifndef RENDER_TABLE_PAGE_H
#define RENDER_TABLE_PAGE_H

#include "clients/metadata/text_table.h"
#include "render/document.h"

/* One below the other.  A PDF has pages, if they are as high as more than one; an image is as high
 * as it takes.  Written under another name first; NULL, or what went wrong. */
const char *table_page_write(const struct text_table *sheets, uint32_t count,
                             const struct document_options *options, const char *path);

#endif
