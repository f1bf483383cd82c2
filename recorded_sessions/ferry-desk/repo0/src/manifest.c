#include "manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 6

const char *const class_names[CLASSES] = {"car", "van", "camper", "lorry", "moto", "foot"};

static int class_of(const char *text, enum vclass *cls)
{
    for (int i = 0; i < CLASSES; i++) {
        if (strcmp(text, class_names[i]) == 0) {
            *cls = i;
            return 0;
        }
    }
    return -1;
}

int manifest_line(char *line, struct entry *e)
{
    char *field[FIELDS];
    int n = 0;

    for (char *f = strtok(line, ","); f && n < FIELDS; f = strtok(NULL, ","))
        field[n++] = f;
    if (n != FIELDS)
        return -1;
    strncpy(e->ref, field[0], sizeof e->ref);
    strncpy(e->name, field[1], sizeof e->name);
    if (class_of(field[2], &e->cls) != 0)
        return -1;
    e->length_cm = atoi(field[3]);
    e->weight_kg = atoi(field[4]);
    int hours, minutes;
    if (sscanf(field[5], "%d:%d", &hours, &minutes) != 2)
        return -1;
    e->arrived = hours * 60 + minutes;
    return 0;
}

int manifest_read(const char *path, struct manifest *m)
{
    char line[80];
    FILE *file = fopen(path, "r");

    memset(m, 0, sizeof *m);
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        struct entry e = {0};
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        if (manifest_line(line, &e) != 0) {
            m->bad++;
            continue;
        }
        if (m->count == m->capacity) {
            m->capacity = m->capacity ? m->capacity * 2 : 16;
            m->entries = realloc(m->entries, m->capacity * sizeof *m->entries);
        }
        m->entries[m->count++] = e;
    }
    fclose(file);
    return 0;
}

void manifest_free(struct manifest *m)
{
    free(m->entries);
    memset(m, 0, sizeof *m);
}
