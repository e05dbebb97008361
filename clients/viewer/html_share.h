/* What is seen, or the whole of a short run, as one web page to give away. */
#ifndef CLIENTS_VIEWER_HTML_SHARE_H
#define CLIENTS_VIEWER_HTML_SHARE_H

struct view;

void html_share_ask(struct view *view); /* asks where; `poet export` writes it */

#endif
