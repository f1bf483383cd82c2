#include "check.h"
#include "deck.h"

static struct entry entries[8];
static struct manifest m = {entries, 0, 8, 0};
static struct plan p;

static void add(enum vclass cls, int cm, int kg)
{
    struct entry *e = &entries[m.count++];

    snprintf(e->ref, sizeof e->ref, "T-%zu", m.count);
    e->cls = cls;
    e->length_cm = cm;
    e->weight_kg = kg;
}

static void test_fills_lane_by_lane(void)
{
    struct deck decks[] = {{"A", 2, 1000, 9000}};

    m.count = 0;
    add(CAR, 460, 1500);
    add(CAR, 480, 1500);
    add(CAR, 480, 1500);
    plan_load(&m, decks, 1, &p);
    CHECK_INT(p.count, 3);
    CHECK_INT(p.slots[1].from_cm, 500);
    CHECK_INT(p.slots[2].lane, 1);
}

static void test_limit_of_a_deck(void)
{
    struct deck decks[] = {{"A", 2, 2000, 4000}};

    m.count = 0;
    add(CAR, 460, 2500);
    add(CAR, 460, 1600);
    plan_load(&m, decks, 1, &p);
    CHECK_INT(p.count, 1);
    CHECK_INT(p.left_count, 1);
}

static void test_foot_passengers_need_no_lane(void)
{
    struct deck decks[] = {{"A", 1, 1000, 4000}};

    m.count = 0;
    add(FOOT, 0, 80);
    plan_load(&m, decks, 1, &p);
    CHECK_INT(p.count + p.left_count, 0);
}

int main(void)
{
    test_fills_lane_by_lane();
    test_limit_of_a_deck();
    test_foot_passengers_need_no_lane();
    return check_failed;
}
