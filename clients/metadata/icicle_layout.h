/* A tree of what took how much, as boxes one below the other (an icicle): each as wide as it took
 * with all that lies below it.
 *
 * Nodes stand in the order of a walk from above: a node, then all below it.  What is below a node
 * is never wider than the node: place it, and what is left of its width is what it took itself.
 * Zero-initialised: none; what is put into it is its own.  Sizes are of any unit, and never below
 * 0. */
#ifndef CLIENTS_METADATA_ICICLE_LAYOUT_H
#define CLIENTS_METADATA_ICICLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum icicle_box_kind {
    ICICLE_BOX_CODE,
    ICICLE_BOX_WAITED, /* a call in which a thread waits, or asks the system for something */
    ICICLE_BOX_APART /* what stands for several, or for a thread */
};

struct icicle_layout {
    char *title, *measure; /* measure: what widths are, for people: "total" */
    bool ns, bytes; /* sizes are times; or so many bytes; else they are counted */
    struct icicle_node {
        char *name, *brief, *amount; /* in full; shorter, or NULL; its size in words */
        int64_t own, size; /* what it took itself; with all below it */
        uint32_t parent, end; /* end: of the first one that is not below it */
        uint32_t group; /* of `groups`, by which it is coloured */
        uint32_t row; /* of the table; UINT32_MAX: none */
        uint16_t depth;
        uint8_t kind; /* an enum icicle_box_kind */
    } *nodes; /* the first one is all of it, and has depth 0 */
    uint32_t count;
    struct icicle_group {
        char *name;
        int64_t own; /* what all of it took */
        uint32_t rank; /* by that, from 0 */
        bool occurs; /* as a node of ICICLE_BOX_CODE */
    } *groups;
    uint32_t group_count;
    char **notes;
    uint32_t note_count;
};

/* The group of a name, made on first use. */
uint32_t icicle_layout_group(struct icicle_layout *boxes, const char *name);
/* Adds a node below the last one that is one less deep; takes the name over; amount, own and size
 * are set as they are known. */
struct icicle_node *icicle_layout_add(struct icicle_layout *boxes, uint16_t depth, char *name);
/* Once all are there: parents, ends, ranks; sizes that are less than what is below them, or 0, are
 * set to it. */
void icicle_layout_finish(struct icicle_layout *boxes);
void icicle_layout_free(struct icicle_layout *boxes); /* empties it */

/* Where a box stands: from `at`, as wide as `size`, both in the unit of sizes, from the left edge
 * of the node that is looked at. */
struct icicle_box {
    uint32_t node; /* of several: the one that they lie in */
    /* 0: the node itself; else so many, with all below them, too narrow to be drawn */
    uint32_t smaller;
    int64_t at, size;
    uint16_t depth; /* of the picture: 0 is the topmost row */
    bool above; /* it contains the one that is looked at */
};

struct icicle_boxes {
    struct icicle_box *items;
    uint32_t count;
    uint32_t rows; /* of the picture */
    uint32_t smaller; /* nodes that are not drawn by themselves, */
    int64_t smaller_size; /*   and what they took */
};

/* Of a node and all below it; those narrower than `least` come together at the end of what is
 * beside them.  The nodes that it lies in stand over it, as wide as it is. */
void icicle_layout_place(const struct icicle_layout *boxes, uint32_t node, int64_t least,
                         struct icicle_boxes *places);
void icicle_layout_places_free(struct icicle_boxes *places); /* empties it */
/* "main > serve > parse"; new memory. */
char *icicle_layout_path(const struct icicle_layout *boxes, uint32_t node);

/* "2000 bytes", "16 KiB", "1.5 MiB": exact below ten of the next unit. */
void icicle_layout_bytes(int64_t bytes, char *text, size_t room);

#endif
