/* Runs a fuzz target on the files of its corpus. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f || fseek(f, 0, SEEK_END) != 0) {
            perror(argv[i]);
            return 1;
        }
        long size = ftell(f);
        rewind(f);
        uint8_t *data = malloc((size_t)size + 1);
        if (!data || fread(data, 1, (size_t)size, f) != (size_t)size)
            return 1;
        fclose(f);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        free(data);
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
