/** The texts of the dialog of the keyboard shortcuts of the list of leads. */
export const shortcuts = {
  all: [
    ['/', 'Search'],
    ['↑ ↓ or k j', 'Move to another lead'],
    ['Enter', 'Open'],
    ['Esc', 'Close'],
    ['Ctrl K or ⌘ K', 'Find a lead, a page or an action'],
    ['?', 'These shortcuts'],
  ],
  /** Only for users who may change the status of leads. */
  changes: [
    ['Space', 'Select'],
    ['Shift ↑ ↓', 'Select a range'],
    ['Esc', 'Clear the selection'],
    ['a', 'Approve'],
    ['t', 'Trash'],
    ['p', 'Mark as paid'],
    ['h', 'Put on hold'],
    ['a t p h in the panel', 'Change the status and open the next lead'],
    ['u', 'Undo the last change of status or assignee'],
  ],
  hint: 'Ctrl K works on every page, and / and ? everywhere on this one. The others work while the list or the panel of a lead has the focus.',
} as const;
