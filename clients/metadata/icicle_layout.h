/* Layout of a tree as an icicle: boxes one below the other, each as wide as its size including
 * everything below it.
 *
 * Nodes are in preorder: a node, then everything below it. The nodes below a node are never wider
 * than the node; the rest of its width is its own share. It owns what is put into it. A zeroed one
 * is empty. Sizes have any unit, and are never negative. */
#ifndef CLIENTS_METADATA_ICICLE_LAYOUT_H
#define CLIENTS_METADATA_ICICLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum icicle_box_kind {
    ICICLE_BOX_CODE,
    ICICLE_BOX_WAITED, /* a call in which a thread waits, or a system call */
    ICICLE_BOX_APART /* it represents several, or a thread */
};

struct icicle_layout {
    char *title, *measure; /* measure: title of the widths: "total" */
    bool ns, bytes; /* sizes are times, or bytes; else counts */
    bool differs; /* nodes have changes since another run */
    struct icicle_node {
        char *name, *brief, *amount; /* in full; shorter, or NULL; its size as text */
        int64_t own, size; /* its own size; including everything below it */
        int64_t change; /* size minus that in the other run, which alone can have the node */
        char *change_text; /* "+1.250 ms"; NULL if nodes have no changes */
        uint32_t parent, end; /* end: of the first node after its subtree */
        uint32_t group; /* of `groups`, which determines its color */
        uint32_t row; /* of the table; UINT32_MAX: none */
        uint16_t depth;
        uint8_t kind; /* an enum icicle_box_kind */
    } *nodes; /* the first one is the root, with depth 0 */
    uint32_t count;
    struct icicle_group {
        char *name;
        int64_t own; /* the own sizes of its nodes, summed up */
        uint32_t rank; /* rank by that, from 0 */
        bool occurs; /* as a node of ICICLE_BOX_CODE */
    } *groups;
    uint32_t group_count;
    char **notes;
    uint32_t note_count;
};

/* Returns the group of a name; creates it on first use. */
uint32_t icicle_layout_group(struct icicle_layout *boxes, const char *name);
/* Adds a node below the last one that is one level higher; takes ownership of the name. The caller
 * sets amount, own and size. */
struct icicle_node *icicle_layout_add(struct icicle_layout *boxes, uint16_t depth, char *name);
/* Call after the last node: sets parents, ends and ranks; sizes that are 0, or less than the sum of
 * what is below them, are set to it. */
void icicle_layout_finish(struct icicle_layout *boxes);
void icicle_layout_free(struct icicle_layout *boxes); /* leaves it empty */

/* The position of a box: it begins at `at` and is `size` wide, both in the unit of sizes, relative
 * to the left edge of the displayed node. */
struct icicle_box {
    uint32_t node; /* of merged nodes: their parent */
    /* 0: a single node; else the number of merged nodes, with everything below them, too narrow to
     * be drawn */
    uint32_t smaller;
    int64_t at, size;
    uint16_t depth; /* in the drawing: 0 is the topmost row */
    bool above; /* it contains the displayed node */
};

struct icicle_boxes {
    struct icicle_box *items;
    uint32_t count;
    uint32_t rows; /* of the drawing */
    uint32_t smaller; /* number of merged nodes, */
    int64_t smaller_size; /* and their size */
};

/* Places a node and everything below it; nodes narrower than `least` are merged at the end of their
 * siblings. The ancestors of the node are above it, with the same width. */
void icicle_layout_place(const struct icicle_layout *boxes, uint32_t node, int64_t least,
                         struct icicle_boxes *places);
void icicle_layout_places_free(struct icicle_boxes *places); /* leaves it empty */
/* Returns "main > serve > parse" in new memory. */
char *icicle_layout_path(const struct icicle_layout *boxes, uint32_t node);

/* Formats "2000 bytes", "16 KiB", "1.5 MiB": exact below ten of the next unit. */
void icicle_layout_bytes(int64_t bytes, char *text, size_t room);

#endif
