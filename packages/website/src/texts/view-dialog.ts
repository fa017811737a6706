/** The texts of the dialog of a saved view. */
export const viewDialog = {
  keeps: 'A view keeps the filters, the order and the columns.',
  name: 'Name',
  exists: (isShared: boolean) =>
    isShared ? 'A shared view has this name.' : 'One of your views has this name.',
  share: 'Share with owners and managers',
  shareHint: 'Owners and managers can change and delete a shared view.',
  delete: 'Delete the view',
  deleted: (name: string) => `Deleted the view ${name}`,
} as const;
