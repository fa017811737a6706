/** The texts of the dialog of the columns of the list of leads. */
export const columns = {
  title: 'Columns of the list',
  lead: 'A list narrower than 600 pixels, as on a phone, has cards. They show further columns in up to two lines.',
  show: (column: string) => `Show ${column}`,
  moveUp: (column: string) => `Move ${column} up`,
  moveDown: (column: string) => `Move ${column} down`,
  width: (column: string) => `Width of ${column} in pixels`,
  automatic: 'Automatic',
  usualColumns: 'Restore the usual columns',
  moved: (column: string, place: number) => `${column} is column ${place} now`,
} as const;
