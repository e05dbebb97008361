/* Asks for the words of a note at the selected event, of a new one or of the one that is there. */
#ifndef CLIENTS_VIEWER_NOTE_EDITOR_H
#define CLIENTS_VIEWER_NOTE_EDITOR_H

struct view;

void note_editor_open(struct view *view);

#endif
