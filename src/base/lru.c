/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lru.h"

void tfp_lru_add(struct tfp_lru *lru, struct tfp_lru_link *link)
{
	link->newer = NULL;
	link->older = lru->newest;
	*(lru->newest ? &lru->newest->newer : &lru->oldest) = link;
	lru->newest = link;
}

void tfp_lru_remove(struct tfp_lru *lru, struct tfp_lru_link *link)
{
	*(link->newer ? &link->newer->older : &lru->newest) = link->older;
	*(link->older ? &link->older->newer : &lru->oldest) = link->newer;
	link->newer = link->older = NULL;
}

void tfp_lru_touch(struct tfp_lru *lru, struct tfp_lru_link *link)
{
	tfp_lru_remove(lru, link);
	tfp_lru_add(lru, link);
}
