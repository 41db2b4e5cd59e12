// SPDX-License-Identifier: Apache-2.0
// Properties of a kind of device, by the name that the server gives it.

/**
 * TensorCores came with Volta; devices of other makers have none. For a device without a name it is
 * unknown.
 */
export function hasTensorCores(deviceType: string): boolean {
  return !/^AMD\b/.test(deviceType) && !/\((Fermi|Kepler|Maxwell|Pascal)\)/.test(deviceType);
}

/**
 * How precise a kernel computes is told by the names of Nvidia's libraries; those of others do not
 * say it so.
 */
export function tellsPrecision(deviceType: string): boolean {
  return !/^AMD\b/.test(deviceType);
}
