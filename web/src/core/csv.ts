// SPDX-License-Identifier: Apache-2.0
export type CsvCell = string | number | boolean | null;

// A spreadsheet computes what begins so, wherever the text came from; with an apostrophe in front
// it is text.
const FORMULA = /^[=+\-@\t\r\n]/;

function quoted(cell: CsvCell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/**
 * RFC 4180 quoting with \n line ends. A text that a spreadsheet would take for a formula gets an
 * apostrophe in front; numbers never do.
 */
export function toCsv(head: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [head, ...rows].map((row) => row.map(quoted).join(',')).join('\n') + '\n';
}

export function downloadBlob(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken the blob once the click is handled; a little later is safe everywhere.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function downloadText(name: string, text: string, type: string): void {
  downloadBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}
