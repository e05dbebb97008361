/* Printing a scene on a terminal: one line per row, arrows in the lines between. */
#ifndef RENDER_SCENE_TEXT_H
#define RENDER_SCENE_TEXT_H

#include "render/scene.h"

struct text_options {
    bool ascii;
    bool color; /* colors of the description, by escape sequences for 256 colors */
    /* of the footnotes, print only those about hangs, lost or uncertain events, and user notes */
    bool brief;
    unsigned width; /* columns of the terminal; wider scenes are broken into blocks; 0: never */
};

/* Prints a scene. Returns the number of footnotes omitted. */
uint32_t scene_text_write(const struct scene *scene, const struct trace_metadata *book,
                          const struct text_options *options, FILE *f);

#endif
