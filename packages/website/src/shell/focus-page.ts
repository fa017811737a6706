/** Moves the focus to the heading of the page, for a focused element that is gone. Without a heading, to the content. */
export function focusPage(): void {
  const content = document.querySelector<HTMLElement>('main');
  const heading = content?.querySelector<HTMLElement>('h1');
  if (heading) heading.tabIndex = -1;
  (heading ?? content)?.focus({ preventScroll: true });
}
