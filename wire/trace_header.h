/* Fields of the trace file header that are read without opening the file (docs/tracefile.md). */
#ifndef WIRE_TRACE_HEADER_H
#define WIRE_TRACE_HEADER_H

#define TRACEHEAD_MAGIC "POETRACE"
#define TRACEHEAD_BYTES 128u
/* u64: start of the run, in ns since 1970, and its complement; or zeros: unknown */
#define TRACEHEAD_BEGUN_AT 98u
#define TRACEHEAD_BEGUN_BYTES 16u

#endif
