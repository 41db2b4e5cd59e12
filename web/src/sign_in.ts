// SPDX-License-Identifier: Apache-2.0
// The page that asks for the token. It works without this script, which spares some people the
// form.

const why = document.querySelector('.why');
const field = document.querySelector<HTMLInputElement>('#token');
const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];

/**
 * A browser that follows a link from another site does not send the cookie (SameSite=Strict), even
 * if it has one.
 */
async function lookAgain(): Promise<void> {
  if (why?.textContent !== '' || navigation?.type === 'reload') return;
  const answer = await fetch('version', { cache: 'no-store' });
  if (answer.ok) window.location.reload();
}

/** People may paste the whole address. */
function tokenOf(text: string): string {
  const found = /[?&]token=([^&#\s]*)/.exec(text);
  return found?.[1] ?? text.trim();
}

field?.form?.addEventListener('submit', () => {
  field.value = tokenOf(field.value);
});
lookAgain().catch(() => undefined);

export {};
