#ifndef MANIFEST_H
#define MANIFEST_H

#include <stddef.h>

enum vclass { CAR, VAN, CAMPER, LORRY, MOTO, FOOT, CLASSES };

struct entry {
    char ref[12];
    char name[20];
    enum vclass cls;
    int length_cm;
    int weight_kg;
    int arrived; /* minutes since midnight */
};

struct manifest {
    struct entry *entries;
    size_t count;
    size_t capacity;
    size_t bad; /* lines that could not be read */
};

extern const char *const class_names[CLASSES];

/* Reads a manifest; 0, or -1 if the file cannot be opened. */
int manifest_read(const char *path, struct manifest *m);

/* One line without its line end; 0, or -1 if it is no entry. Changes the line. */
int manifest_line(char *line, struct entry *e);

void manifest_free(struct manifest *m);

#endif
