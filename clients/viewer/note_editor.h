/* The editor for the user's note at the selected event. */
#ifndef CLIENTS_VIEWER_NOTE_EDITOR_H
#define CLIENTS_VIEWER_NOTE_EDITOR_H

struct view;

void note_editor_open(struct view *view);

#endif
