/** The properties of a button that does nothing at present. It is not disabled, because a disabled button loses the focus. */
export function inert(isInert: boolean) {
  return { 'aria-disabled': isInert, ...(isInert && { 'data-disabled': true }) };
}
