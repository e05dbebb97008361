/* triangle.c - an OpenMP loop with iterations of unequal length.
 *
 *     poetcc -trace -fopenmp -g triangle.c -o triangle
 *     POET_OUTPUT=triangle.poet ./triangle
 *     poet waits triangle.poet
 *
 * Row i of a triangle takes i milliseconds.  With equal numbers of rows per thread, three threads
 * wait for the one with the longest rows; with dynamic scheduling, they hardly wait:
 *
 *     OMP_SCHEDULE=static ./triangle
 *     OMP_SCHEDULE=dynamic,1 ./triangle
 */
#include <stdio.h>
#include <time.h>

#define ROWS 8

static void row(int i)
{
    nanosleep(&(struct timespec){.tv_nsec = i * 1000000L}, NULL);
}

int main(void)
{
    int done = 0, longest = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier /* all threads are there before the first row */
#pragma omp for schedule(runtime)
        for (int i = 1; i <= ROWS; i++) {
            row(i);
#pragma omp critical(count)
            {
                done++;
                longest = i > longest ? i : longest;
            }
        }
    }
    printf("%d rows, the longest took %d ms\n", done, longest);
    return 0;
}
