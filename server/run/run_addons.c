#include "server/run/run_addons.h"

#include "base/alloc.h"

void run_addon_free(struct run_addon *addon)
{
    if (addon->state)
        addon->free(addon->state);
    *addon = (struct run_addon){0};
}

void run_addon_attach(struct run_addons *addons, enum run_addon_slot slot, struct run_addon addon)
{
    run_addon_free(&addons->slots[slot]);
    addons->slots[slot] = addon;
}

void *run_addon_make(struct run_addons *addons, enum run_addon_slot slot, size_t size,
                     void (*free)(void *state))
{
    if (!addons->slots[slot].state)
        addons->slots[slot] = (struct run_addon){xcalloc(1, size), free};
    return addons->slots[slot].state;
}

void *run_addon_detach(struct run_addons *addons, enum run_addon_slot slot)
{
    void *state = addons->slots[slot].state;
    addons->slots[slot] = (struct run_addon){0};
    return state;
}

void run_addon_swap(struct run_addons *addons, enum run_addon_slot slot, struct run_addon *addon)
{
    struct run_addon before = addons->slots[slot];
    addons->slots[slot] = *addon;
    *addon = before;
}

void run_addons_free(struct run_addons *addons)
{
    for (unsigned slot = 0; slot < RUN_ADDON_SLOTS; slot++)
        run_addon_free(&addons->slots[slot]);
}
