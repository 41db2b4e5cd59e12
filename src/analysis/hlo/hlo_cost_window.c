/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_cost_parts.h"

/* a x b, or INT64_MAX. None is negative. */
static int64_t times(int64_t a, int64_t b)
{
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

float tfp_hlo_dot_flops(const struct tfp_hlo_shape *lhs, const struct tfp_hlo_shape *out,
			const struct tfp_hlo_list *contracting)
{
	int64_t width = 1;
	for (size_t i = 0; i < contracting->count; i++) {
		int64_t d = contracting->values[i];
		if (d >= 0 && d < lhs->rank)
			width = times(width, lhs->dimensions[d]);
	}
	return (float)times(times(2, out->elements), width);
}

/* The least x >= 0 with a x = b modulo m, or -1; 0 <= a, b < m. By Euclid's algorithm. */
static int64_t solve(int64_t a, int64_t b, int64_t m)
{
	int64_t r0 = m, r1 = a, t0 = 0, t1 = 1;
	while (r1 != 0) {
		int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
		r0 = r1, r1 = r, t0 = t1, t1 = t;
	}
	if (b % r0 != 0)
		return -1;
	int64_t period = m / r0;
	__int128 x = (__int128)t0 * (b / r0) % period;
	return (int64_t)(x < 0 ? x + period : x);
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

/* How many o in [0, count) there are for which from + o * step is below limit, not negative,
 * and a multiple of unit. */
static int64_t count_hits(__int128 from, int64_t step, int64_t count, __int128 limit, int64_t unit)
{
	__int128 low = from < 0 ? (-from + step - 1) / step : 0;
	__int128 high = limit > from ? (limit - from + step - 1) / step : 0; /* exclusive */
	if (high > count)
		high = count;
	if (low >= high)
		return 0;
	if (unit == 1)
		return (int64_t)(high - low);
	int64_t rest = (int64_t)(from % unit);
	int64_t first = solve(step % unit, (unit - (rest < 0 ? rest + unit : rest)) % unit, unit);
	if (first < 0)
		return 0;
	int64_t period = unit / gcd(unit, step % unit);
	__int128 begin =
		first >= low ? first : first + (low - first + period - 1) / period * period;
	return begin >= high ? 0 : (int64_t)((high - begin + period - 1) / period);
}

/* Pairs of a place in the kernel and one in the output that meet the input; -1 when there are
 * too many places to look at. */
static int64_t count_positions(const struct tfp_hlo_dimension *w, int64_t input, int64_t kernel,
			       int64_t output)
{
	int64_t stride = w->stride > 0 ? w->stride : 1;
	int64_t spread = w->window_dilation > 0 ? w->window_dilation : 1;
	int64_t unit = w->base_dilation > 0 ? w->base_dilation : 1;
	__int128 limit = (__int128)input * unit, total = 0;
	/* The two are alike: look at each of the fewer. */
	bool by_kernel = kernel <= output;
	int64_t few = by_kernel ? kernel : output, many = by_kernel ? output : kernel;
	if (few > 1 << 20)
		return -1;
	for (int64_t i = 0; i < few; i++)
		total += count_hits((__int128)i * (by_kernel ? spread : stride) - w->padding_low,
				    by_kernel ? stride : spread, many, limit, unit);
	return total > INT64_MAX ? -1 : (int64_t)total;
}

static bool in_range(int64_t dimension, const struct tfp_hlo_shape *shape)
{
	return dimension >= 0 && dimension < shape->rank;
}

float tfp_hlo_convolution_flops(const struct tfp_hlo_shape *lhs, const struct tfp_hlo_shape *rhs,
				const struct tfp_hlo_shape *out, const struct tfp_hlo_details *d)
{
	int64_t positions = 1;
	if (!in_range(d->convolution.input_feature, lhs) ||
	    !in_range(d->convolution.input_batch, lhs) ||
	    !in_range(d->convolution.output_feature, out) ||
	    d->convolution.input_spatial.count < d->window_rank ||
	    d->convolution.kernel_spatial.count < d->window_rank ||
	    d->convolution.output_spatial.count < d->window_rank)
		return -1;
	for (size_t i = 0; i < d->window_rank; i++) {
		int64_t in = d->convolution.input_spatial.values[i];
		int64_t kernel = d->convolution.kernel_spatial.values[i];
		int64_t output = d->convolution.output_spatial.values[i];
		if (!in_range(in, lhs) || !in_range(kernel, rhs) || !in_range(output, out))
			return -1;
		int64_t count = count_positions(&d->window[i], lhs->dimensions[in],
						rhs->dimensions[kernel], out->dimensions[output]);
		if (count < 0)
			return -1;
		positions = times(positions, count);
	}
	int64_t features =
		times(lhs->dimensions[d->convolution.input_feature] / d->feature_group_count,
		      out->dimensions[d->convolution.output_feature]);
	int64_t batch = lhs->dimensions[d->convolution.input_batch] / d->batch_group_count;
	return (float)times(times(times(features, batch), positions), 2);
}
