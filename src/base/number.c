#include "base/number.h"

bool tfp_number_begin(const char **text, uint64_t *out)
{
	const char *at = *text;
	uint64_t n = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
			return false;
	}
	if (at == *text)
		return false;
	*text = at;
	*out = n;
	return true;
}

bool tfp_number(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t n;
	if (!tfp_number_begin(&text, &n) || *text != '\0' || n > max)
		return false;
	*out = n;
	return true;
}
