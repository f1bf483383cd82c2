#include "cutoff.h"

static const int minutes[CLASSES] = {20, 20, 30, 45, 20, 10};

int cutoff_minutes(enum vclass cls)
{
    return minutes[cls];
}

enum verdict cutoff_check(const struct entry *e, int departure)
{
    return e->arrived <= departure - minutes[e->cls] ? IN_TIME : LATE;
}
