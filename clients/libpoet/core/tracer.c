/* The instance of the state of the tracer. */
#include "clients/libpoet/core/tracer.h"

struct tracer tracer;
