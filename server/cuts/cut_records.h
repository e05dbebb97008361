/* Records of a cut: a trace that has only a part of the events of another one, in the order that
 * they have there (docs/tracefile.md, CUT).
 *
 * CUT begins a cut, EVENTS has its events, LEFT_OUT ends it.  EVENTS is a sequence of records: a
 * kind (u8), then numbers of seven bits per byte (encode_varint). */
#ifndef SERVER_CUTS_CUT_RECORDS_H
#define SERVER_CUTS_CUT_RECORDS_H

#include <stdint.h>

enum cut_record_kind {
    CUT_RECORD_SITE, /* the next call site: process, address, caller */
    CUT_RECORD_EVENT
};

/* Callers of a site: 0 none, CUT_CALLER_CUT, CUT_CALLER_UNKNOWN, else CUT_CALLER_FIRST + the number
 * of a site, from 1. */
enum { CUT_CALLER_CUT = 1, CUT_CALLER_UNKNOWN = 2, CUT_CALLER_FIRST = 2 };

/* An event: two bytes of flags, then line (as block_line_code), number less the last one of the
 * line, time less that of the event before (zigzag), distance to the first event of its point,
 * thread, about, site, type, number of edges; then, if it has any, number of sends among them, and
 * their distances, sends first; then, with CUT_EVENT_TEXTS, how many texts, and for each its bytes,
 * and these. */
#define CUT_EVENT_RELATION 7u
#define CUT_EVENT_INCONSISTENT 8u
#define CUT_EVENT_PARTNER_LOST 16u
#define CUT_EVENT_OPENED 32u
#define CUT_EVENT_AFTER_GAP 64u
#define CUT_EVENT_SENDS 128u
/* of the second byte; the low four bits are an enum untraced_reason */
#define CUT_EVENT_DOUBT 15u
#define CUT_EVENT_TEXTS 16u

static inline uint64_t cut_zigzag(int64_t d) { return (uint64_t)d << 1 ^ (uint64_t)(d >> 63); }
static inline int64_t cut_unzigzag(uint64_t z) { return (int64_t)(z >> 1 ^ -(z & 1)); }

#endif
