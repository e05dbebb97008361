/* A scene in a terminal: one line a row, arrows in the lines between. */
#ifndef RENDER_SCENE_TEXT_H
#define RENDER_SCENE_TEXT_H

#include "render/scene.h"

struct text_options {
    bool ascii;
    bool colour; /* those of the description, by the escape sequences of 256 colours */
    /* Of what does not fit between the lines only what hangs, is lost or uncertain, and notes. */
    bool brief;
    unsigned width; /* columns of the terminal; wider scenes are broken into blocks; 0: never */
};

/* How many such footnotes were left out. */
uint32_t scene_text_write(const struct scene *scene, const struct trace_metadata *book,
                          const struct text_options *options, FILE *f);

#endif
