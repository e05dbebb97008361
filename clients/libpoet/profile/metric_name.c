#include "clients/libpoet/profile/metric_name.h"

#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/message_text.h"
#include "wire/program_messages.h"

void metric_name_send(uint32_t code, unsigned kind, const char *name, const char *unit)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 16 + 2 * MESSAGE_LABEL_BYTES];
    struct encoder out = {.data = message, .room = sizeof message};
    uint32_t life = atomic_load(&current_lifetime);
    if (!life || server_needs_socket)
        return;
    encoder_begin_message(&out, MESSAGE_METRIC);
    encode_metric(&out, &(struct metric_message){
                            code, (uint8_t)kind, message_text_limit(name, MESSAGE_LABEL_BYTES - 1),
                            message_text_limit(unit, MESSAGE_LABEL_BYTES - 1)});
    encoder_end_message(&out);
    server_send(&out, life);
}
