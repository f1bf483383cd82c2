#include "check.h"
#include "cutoff.h"

static enum verdict at(enum vclass cls, int hours, int minutes, int departure)
{
    struct entry e = {.cls = cls, .arrived = hours * 60 + minutes};

    return cutoff_check(&e, departure);
}

static void test_gate_closes_by_class(void)
{
    CHECK_INT(at(CAR, 7, 20, 7 * 60 + 40), IN_TIME);
    CHECK_INT(at(CAR, 7, 21, 7 * 60 + 40), LATE);
    CHECK_INT(at(LORRY, 6, 55, 7 * 60 + 40), IN_TIME);
    CHECK_INT(at(LORRY, 6, 56, 7 * 60 + 40), LATE);
}

static void test_sailing_after_midnight(void)
{
    CHECK_INT(at(CAR, 23, 50, 15), IN_TIME);
    CHECK_INT(at(CAR, 23, 56, 15), LATE);
}

int main(void)
{
    test_gate_closes_by_class();
    test_sailing_after_midnight();
    return check_failed;
}
