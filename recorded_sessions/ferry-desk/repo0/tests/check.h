#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>

static int check_failed;

#define CHECK_INT(got, want)                                                          \
    do {                                                                              \
        long got_ = (long)(got), want_ = (long)(want);                                \
        if (got_ != want_) {                                                          \
            fprintf(stderr, "%s:%d: %s: %s is %ld, want %ld\n", __FILE__, __LINE__,   \
                    __func__, #got, got_, want_);                                     \
            check_failed = 1;                                                         \
        }                                                                             \
    } while (0)

#define CHECK_STR(got, want)                                                          \
    do {                                                                              \
        const char *got_ = (got), *want_ = (want);                                    \
        if (strcmp(got_, want_) != 0) {                                               \
            fprintf(stderr, "%s:%d: %s: %s is \"%s\", want \"%s\"\n", __FILE__,       \
                    __LINE__, __func__, #got, got_, want_);                           \
            check_failed = 1;                                                         \
        }                                                                             \
    } while (0)

#endif
