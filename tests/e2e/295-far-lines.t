#!/bin/bash
# A PDF of many pages: a dotted line that crosses them all is written on each page only as far as it is seen there, since
# each of its dots costs time.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >far.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;
static void *work(void *p)
{
    pthread_barrier_wait(&begun);
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&begun, NULL, 3);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace far.c -o far || exit 1
POET_OUTPUT=far.poet ./far
until_true finished far.poet
check "a PDF of all events" poet export far.poet --all --no-fold -o far.pdf
# Of all pages: strokes of dashed lines, and those of them with an end far outside.
python3 - far.pdf >counts.txt <<'P'
import re, sys, zlib
data, counts = open(sys.argv[1], "rb").read(), [0] * 2
width, height = 842, 596
def is_far(points):
    return any(not (-30 < x < width + 30 and -30 < y < height + 30) for x, y in points)
number = rb"(-?[\d.]+)"
for at in re.finditer(rb"stream\r?\n", data):
    try:
        page = zlib.decompressobj().decompress(data[at.end():])
    except zlib.error:
        continue
    for stroke in re.split(rb"\b[SW]\b", page):
        points = [(float(x), float(y)) for x, y in re.findall(number + rb"\s+" + number + rb"\s+[ml]\b", stroke)]
        if re.search(rb"\[ ?[\d.]+ [\d.]+\] 0 d", stroke):
            counts[0] += 1
            counts[1] += is_far(points)
print("%d %d" % tuple(counts))
P
read -r dashed far <counts.txt
check "there are dashed lines" test "$dashed" -gt 10
is "none reaches far beyond its page" "$far" 0
done_testing
