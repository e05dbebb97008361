/* Web page of an icicle graph: self-contained, without network, with a search box. */
#ifndef CLIENTS_CLI_ICICLE_HTML_H
#define CLIENTS_CLI_ICICLE_HTML_H

#include <stdio.h>

/* Writes the page of a struct icicle_layout. */
void icicle_html_write(const void *boxes, FILE *f);

#endif
