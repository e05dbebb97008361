/* File formats by file name suffix. */
#ifndef CLIENTS_CLI_FILE_SUFFIX_H
#define CLIENTS_CLI_FILE_SUFFIX_H

enum file_suffix { SUFFIX_PDF, SUFFIX_SVG, SUFFIX_PNG, SUFFIX_TXT, SUFFIX_HTML, SUFFIX_NONE };

enum file_suffix file_suffix_of(const char *file);

#endif
