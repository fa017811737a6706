export const palette = {
  title: 'Search leads, pages and actions',
  placeholder: 'Phone, name, email, id, sub-id, page or action',
  leads: 'Leads',
  actions: 'Actions on this page',
  pages: 'Pages',
  views: 'Views',
  campaigns: 'Campaigns',
  workspaces: 'Workspaces',
  searching: 'Searching',
  results: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  none: 'Nothing matches. Leads match by the beginning of a word, the first or last digits of the phone number (at least 3), the first digits of the id (at least 8), or the whole sub-id.',
  keys: '↑ ↓ to choose, Enter to open, Esc to close',
} as const;
