#include "clients/trace/measure/metername.h"

#include "clients/trace/core/link.h"
#include "clients/trace/core/text.h"
#include "wire/told.h"

void meter_tell(uint32_t code, unsigned kind, const char *name, const char *unit)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 16 + 2 * TOLD_LABEL_BYTES];
    struct out out = {.data = message, .room = sizeof message};
    uint32_t life = atomic_load(&live);
    if (!life || server_sends || !server_meters)
        return;
    out_begin(&out, MESSAGE_METER);
    put_told_meter(&out, &(struct told_meter){code, (uint8_t)kind,
                                              text_within(name, TOLD_LABEL_BYTES - 1),
                                              text_within(unit, TOLD_LABEL_BYTES - 1)});
    out_end(&out);
    server_send(&out, life);
}
