/* SPDX-License-Identifier: Apache-2.0 */
/* The order of use: entries at either end and between come and go. */
#include "testing.h"

#include "base/lru.h"

struct entry {
	char name;
	struct tfp_lru_link order;
};

/* The names from the oldest to the newest, by both ways through the list. */
static void check(const struct tfp_lru *lru, const char *names)
{
	char got[8] = "";
	size_t n = 0;
	for (struct tfp_lru_link *l = lru->oldest; l; l = l->newer)
		got[n++] = TFP_LRU_ENTRY(l, struct entry, order)->name;
	got[n] = '\0';
	assert_string_equal(got, names);
	for (struct tfp_lru_link *l = lru->newest; l; l = l->older)
		assert_int_equal(TFP_LRU_ENTRY(l, struct entry, order)->name, names[--n]);
	assert_int_equal(n, 0);
}

static void test_order(void **state)
{
	struct entry a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
	struct tfp_lru lru = {0};
	(void)state;
	check(&lru, "");
	tfp_lru_add(&lru, &a.order);
	check(&lru, "a");
	tfp_lru_touch(&lru, &a.order);
	check(&lru, "a");
	tfp_lru_add(&lru, &b.order);
	tfp_lru_add(&lru, &c.order);
	check(&lru, "abc");
	tfp_lru_touch(&lru, &b.order);
	check(&lru, "acb");
	tfp_lru_touch(&lru, &a.order);
	check(&lru, "cba");
	tfp_lru_remove(&lru, &b.order);
	check(&lru, "ca");
	tfp_lru_remove(&lru, &a.order);
	check(&lru, "c");
	tfp_lru_add(&lru, &b.order);
	tfp_lru_remove(&lru, &c.order);
	check(&lru, "b");
	tfp_lru_remove(&lru, &b.order);
	check(&lru, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
