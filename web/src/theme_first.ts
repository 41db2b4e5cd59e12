// SPDX-License-Identifier: Apache-2.0
// Loaded in <head> before anything is drawn, so that no page flashes in the wrong colours.
import { startTheme } from './core/theme';

startTheme();
