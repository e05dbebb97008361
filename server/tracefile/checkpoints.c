/* Writer of checkpoints: the state of the order at one moment, with the place in the journal from
 * which a reader continues. */
#define _GNU_SOURCE
#include "server/tracefile/checkpoints.h"
#include "server/tracefile/file_retention.h"
#include "server/tracefile/restart_points.h"
#include "server/tracefile/free_space.h"

#include <fcntl.h>
#include <xxhash.h>

uint64_t checkpoint_slot_checksum(const uint8_t *slot, unsigned i)
{
    return XXH3_64bits_withSeed(slot, 16, i + 1);
}

/* Returns an area for a checkpoint of this size.  Two areas alternate, so that the previous
 * checkpoint stays whole while this one is written. */
static struct checkpoint_area *area_for(struct tracefile *file, size_t size)
{
    struct checkpoint_area *area = &file->areas[file->states % 2];
    if (area->room >= size)
        return area;
    if (area->room) /* too small by now: its space is returned to the file system */
        fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)area->place,
                  (off_t)area->room);
    *area = (struct checkpoint_area){tracefile_update_end(file, size + size / 2), size + size / 2};
    file_retention_add(&file->kept, area->place, area->room);
    return area;
}

static void put_state_head(struct tracefile *file, struct encoder *out, uint64_t news,
                           const struct restart_point *from)
{
    pthread_mutex_lock(&file->lock);
    tracefile_close_first_region(file);
    struct tracefile_region region = tracefile_region_for(file, from->delivered.epoch);
    pthread_mutex_unlock(&file->lock);
    encode_u64(out, news);
    encode_u64(out, from->delivered.at);
    encode_u64(out, region.end);
    encode_u64(out, from->delivered.epoch);
    encode_u64(out, file->save.number);
    encode_u64(out, file->parts.written);
    encode_u64(out, file->save.delivered.epoch);
    encode_u64(out, file->save.delivered.at);
    encode_u64(out, from->number);
    encode_u64(out, from->threads.size);
}

static struct encoder state_data(struct tracefile *file, const struct checkpoint *state)
{
    struct encoder out = {0};
    const struct restart_point *from = restart_point_for_epoch(&file->marks, file->save.from);
    put_state_head(file, &out, state->news, from);
    encode_u32(&out, (uint32_t)state->part_count);
    for (size_t i = 0; i < state->part_count; i++)
        encode_u64(&out, state->parts[i]);
    encode_bytes(&out, from->threads.data, from->threads.size);
    encode_bytes(&out, state->data, state->size);
    out.failed |= from->threads.failed;
    return out;
}

static bool write_slot(struct tracefile *file, const struct checkpoint_area *area)
{
    unsigned i = file->states % 2;
    uint8_t slot[SLOT_BYTES_HEAD];
    chunk_set_u64(slot, area->place);
    chunk_set_u64(slot + 8, file->states + 1);
    chunk_set_u64(slot + 16, checkpoint_slot_checksum(slot, i));
    return tracefile_write_at(file->fd, slot, sizeof slot, SLOT_AT + SLOT_BYTES_HEAD * i);
}

/* Makes regions at least four times as long as what a checkpoint writes.  The next one is due
 * after a region's length, so checkpoints remain a small part of all writing. */
static void fit_regions(struct tracefile *file, uint64_t cost)
{
    pthread_mutex_lock(&file->lock);
    file->region_bytes = 4 * cost > file->least_region_bytes ? 4 * cost : file->least_region_bytes;
    pthread_mutex_unlock(&file->lock);
}

static bool write_state(struct tracefile *file, const struct checkpoint *state)
{
    struct encoder out = state_data(file, state);
    if (out.failed || out.size > CHUNK_STATE_MAX) {
        encoder_free(&out);
        return false;
    }
    uint8_t head[CHUNK_HEAD_BYTES];
    chunk_head(head,
               &(struct chunk){.kind = CHUNK_STATE, .data = out.data, .size = (uint32_t)out.size});
    struct checkpoint_area *area = area_for(file, sizeof head + out.size);
    bool ok = tracefile_write_at(file->fd, head, sizeof head, area->place) &&
              tracefile_write_at(file->fd, out.data, out.size, area->place + sizeof head) &&
              write_slot(file, area);
    if (ok)
        free_space_reclaim(file, file->states % 2, state);
    file->states += ok;
    fit_regions(file, out.size + state->written);
    encoder_free(&out);
    return ok;
}

bool tracefile_save_begin(struct tracefile *file, struct chunk threads, uint32_t oldest)
{
    if (!(file->lagging ? tracefile_flush_parts(file) : tracefile_flush(file)))
        return false;
    file->save.from = restart_point_set(file, oldest, threads);
    file->save.number = file->marks.newest;
    file->save.delivered = file->delivered;
    file->save.unsaved = file->unsaved;
    file->unsaved = 0;
    return true;
}

void tracefile_save_drop(struct tracefile *file)
{
    file->unsaved += file->save.unsaved;
    file->save.unsaved = 0;
}

bool tracefile_save_end(struct tracefile *file, const struct checkpoint *state)
{
    if (!tracefile_flush_parts(file) || !write_state(file, state)) {
        tracefile_save_drop(file);
        return false;
    }
    tracefile_free_regions(file,
                           restart_point_for_epoch(&file->marks, file->save.from)->delivered.epoch);
    restart_points_drop(&file->marks, file->save.from);
    file->save.unsaved = 0;
    return true;
}
