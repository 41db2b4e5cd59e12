/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The licences of the programs: our own, then the notices of the libraries and web packages.
 * scripts/third_party.py makes the text from what this build links and bundles.
 */
#ifndef TFP_BASE_NOTICES_H
#define TFP_BASE_NOTICES_H

/* UTF-8, lines end in a newline. */
extern const char tfp_notices[];

#endif
