#include "check.h"
#include "manifest.h"

static int line(const char *text, struct entry *e)
{
    char copy[256];

    snprintf(copy, sizeof copy, "%s", text);
    memset(e, 0, sizeof *e);
    return manifest_line(copy, e);
}

static void test_plain_line(void)
{
    struct entry e;

    CHECK_INT(line("HV-1041,Marta Lind,car,465,1820,07:12", &e), 0);
    CHECK_STR(e.ref, "HV-1041");
    CHECK_STR(e.name, "Marta Lind");
    CHECK_INT(e.cls, CAR);
    CHECK_INT(e.weight_kg, 1820);
}

static void test_quoted_name(void)
{
    struct entry e;

    CHECK_INT(line("HV-1042,\"Lind, Marta\",van,540,2610,07:02", &e), 0);
    CHECK_STR(e.name, "Lind, Marta");
    CHECK_INT(line("HV-1043,\"Bo \"\"Skipper\"\" Aas\",car,430,1500,07:02", &e), 0);
    CHECK_STR(e.name, "Bo \"Skipper\" Aas");
}

static void test_empty_weight_is_no_weight(void)
{
    struct entry e;

    CHECK_INT(line("HV-1044,Ivar Moen,car,430,,07:02", &e), 0);
    CHECK_INT(e.weight_kg, 0);
}

static void test_nonsense_is_refused(void)
{
    struct entry e;

    CHECK_INT(line("HV-1045,Ivar Moen,tank,430,1500,07:02", &e), -1);
    CHECK_INT(line("HV-1045,Ivar Moen,car,4x0,1500,07:02", &e), -1);
    CHECK_INT(line("HV-1045,Ivar Moen,car,430,1500,25:02", &e), -1);
}

int main(void)
{
    test_plain_line();
    test_quoted_name();
    test_empty_weight_is_no_weight();
    test_nonsense_is_refused();
    return check_failed;
}
