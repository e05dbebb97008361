#!/bin/bash
# The processor time of ended tasks of a runtime that has more tasks than worker threads.
. "$(dirname "$0")/lib.sh"

cat >idle.c <<'C'
#include "ucpp.h"
static volatile unsigned long sum;
static void brief(void *a) { (void)a; }
static void works(void *a)
{
    (void)a;
    for (unsigned long i = 0; i < 100000000; i++) sum += i;
}
void uc_main(void)
{
    struct object first, second;
    task_make(&first, "brief", brief, 0);
    task_make(&second, "works", works, 0);
    object_delete(&second);
    object_delete(&first); /* which exited long ago and has not run since */
}
C
check "the program compiles" poetcc -profile -g -I "$root/examples/ucpp" idle.c "$root/examples/ucpp/ucpp.c" -o idle
for processors in 1 2; do
    POET_MEASURE=calls UCPP_PROCESSORS=$processors POET_OUTPUT=idle$processors.poet ./idle
    check "$processors processors: the trace passes poet check" sound idle$processors.poet
    poet calls --json idle$processors.poet >calls.json
    is "$processors processors: an ended task has no processor time in the call that it never leaves" "$(python3 -c '
import json
cpu = {}
for line in open("calls.json"):
    row = json.loads(line).get("row")
    if row:
        cpu[str(row["function"]).split()[0]] = row["cpu_ns"]
print("block" in cpu and cpu["block"] * 4 < cpu["works"] or cpu)')" True
done

done_testing
