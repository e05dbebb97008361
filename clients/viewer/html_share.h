/* Sharing the visible part, or a whole short run, as one web page. */
#ifndef CLIENTS_VIEWER_HTML_SHARE_H
#define CLIENTS_VIEWER_HTML_SHARE_H

struct view;

void html_share_ask(struct view *view); /* asks for the file; `poet export` writes it */

#endif
