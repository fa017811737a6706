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
  none: 'Nothing matches. Leads match by the beginning of a word, or by the whole sub-id. A phone number matches by its first or last 3 digits or more, an id by its first 8 or more.',
  keys: '↑ ↓ to choose, Enter to open, Esc to close',
} as const;
