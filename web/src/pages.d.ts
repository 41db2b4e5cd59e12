// SPDX-License-Identifier: Apache-2.0
// What build.mjs writes in place of `./pages`: the modules of pages/ that export `page`, by their
// names, which are those of tools.

import type { PageType } from './core/page';

export const PAGES: Readonly<Record<string, () => Promise<{ page: PageType }>>>;
