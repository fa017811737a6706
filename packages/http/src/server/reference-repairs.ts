/**
 * A script that repairs the markup of the API reference, so that keyboards and screen readers can use it. Each repair
 * names a fault of `@scalar/fastify-api-reference` 1.46.4. Pull request 9783 of scalar/scalar mends faults 1, 2 and 4 for
 * versions whose dependencies need Node.js 22.
 */
export const referenceRepairs = `
(() => {
  const each = (selector, repair) => document.querySelectorAll(selector).forEach(repair);
  const repair = () => {
    // 1. The entries of the sidebar are buttons and links with the attribute of a tab.
    each('[aria-selected]:not([role])', (entry) => {
      if (entry.getAttribute('aria-selected') === 'true') entry.setAttribute('aria-current', 'true');
      else entry.removeAttribute('aria-current');
      entry.removeAttribute('aria-selected');
    });
    // 2. The button of the search has the role of a landmark.
    each('button[role="search"]', (button) => button.removeAttribute('role'));
    // 3. The buttons that copy have no name. Some control an element that does not exist.
    each('button[class*="copy-button"][aria-controls]', (button) => {
      button.removeAttribute('aria-controls');
      button.setAttribute('aria-label', 'Copy');
    });
    // 4. The list of tabs of the client libraries contains a button that is no tab.
    each('.client-libraries-list[role="tablist"]', (list) => {
      const tabs = document.createElement('div');
      for (const name of ['role', 'aria-orientation', 'aria-labelledby']) {
        tabs.setAttribute(name, list.getAttribute(name));
        list.removeAttribute(name);
      }
      tabs.setAttribute('aria-owns', Array.from(list.querySelectorAll('[role="tab"]'), ({ id }) => id).join(' '));
      list.before(tabs);
    });
    // 5. The button of a response contains the choice of its content type, another control.
    each('.parameter-item-trigger > .absolute', (choice) => choice.parentElement.before(choice));
    // 6. The name of the button "Show More" does not contain its text.
    each('.show-more[aria-label^="Show all "]', (button) =>
      button.setAttribute('aria-label', button.getAttribute('aria-label').replace('Show all', 'Show More:')));
    // 7. Text fields have no name. Some have a label that is not connected with them. Rows have a key and a value.
    each('.cm-content[role="textbox"]:not([aria-label])', (field) => {
      const cell = field.closest('td');
      const key = field.closest('tr')?.querySelector('.cm-content');
      const label = cell?.querySelector('label')?.textContent.trim();
      field.setAttribute('aria-label', label || (!cell ? 'Request' : field === key ? 'Key' : 'Value'));
    });
    // 8. Buttons with information have the role of an element without a meaning.
    each('button[role="none"]', (button) => button.removeAttribute('role'));
    // 9. The checkboxes of rows have no name.
    each('td input[type="checkbox"]:not([aria-label])', (box) => box.setAttribute('aria-label', 'Enabled'));
    // 10. The links of the lists of operations have no address, so the keyboard does not reach them.
    each('a.endpoint:not([href], [role])', (link) => {
      link.setAttribute('role', 'link');
      link.tabIndex = 0;
      link.addEventListener('keydown', (event) => event.key === 'Enter' && link.click());
    });
  };
  new MutationObserver(repair).observe(document.documentElement, {
    subtree: true, childList: true, attributes: true, attributeFilter: ['aria-selected'],
  });
})();`;
