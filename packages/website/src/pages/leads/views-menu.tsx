import { Button, Loader, Menu } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type MemberRole, may } from '@leads/core/credential/roles';
import type { NewSavedView, SavedView } from '@leads/core/lead';
import { useState } from 'react';
import { updateView, viewsQuery } from '../../api/views.ts';
import { IconBookmark, IconPencil, IconPlus } from '../../shell/icons.tsx';
import { inert } from '../../shell/inert.ts';
import { showFailure } from '../../shell/failure-notice.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import * as texts from '../../texts/index.ts';
import { builtInViewsOf, type ListView } from '../../leads/built-in-views.ts';

const t = texts.leads;

const ViewDialog = lazyDialog(async () => (await import('./view-dialog.tsx')).ViewDialog);

/** The menu of the views: opens them, saves the shown list as one, and changes the open one. */
export function ViewsMenu({
  view,
  isChanged,
  shown,
  role,
  onOpen,
  onSaved,
}: {
  /** The open view. */
  view: ListView | undefined;
  /** Whether the shown list differs from the open view. */
  isChanged: boolean;
  shown: Omit<NewSavedView, 'name' | 'shared'>;
  role: MemberRole;
  /** Opens a view; `undefined` leaves the open one. */
  onOpen: (view: ListView | undefined) => void;
  /** Called after the shown list is saved as the open view. */
  onSaved: () => void;
}) {
  const queryClient = useQueryClient();
  const query = useQuery(viewsQuery);
  const { data: views = [] } = query;
  const isNarrow = useMediaQuery('(max-width: 36em)', undefined, { getInitialValueInEffect: false });
  /** The view in the dialog. It stays if another user deletes it meanwhile. */
  const [dialog, setDialog] = useState<'new' | SavedView>();
  const close = () => setDialog(undefined);
  const save = useMutation({
    // An absent field would keep the stored value.
    mutationFn: ({ id }: SavedView) => updateView(id, { sort: null, columns: null, widths: null, ...shown }),
    async onSuccess(kept) {
      await queryClient.invalidateQueries({ queryKey: viewsQuery.queryKey });
      notifications.show({ message: t.viewSaved(kept.name) });
    },
    onError: (error, failed) => showFailure(error, () => saveChanges(failed)),
  });
  const saveChanges = (changed: SavedView) => save.mutate(changed, { onSuccess: onSaved });
  const icon = save.isPending ? <Loader size={16} /> : <IconBookmark size={16} aria-hidden />;
  const groups: readonly (readonly [title: string, members: readonly ListView[]])[] = [
    [t.builtInViews, builtInViewsOf(role)],
    [t.sharedViews, views.filter(({ shared }) => shared)],
    [t.ownViews, views.filter(({ shared }) => !shared)],
  ];
  const saved = views.find(({ id }) => id === view?.id);
  const label = view === undefined ? t.views : isChanged ? `${view.name} (${t.viewChanged})` : view.name;
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            maw={220}
            flex="none"
            px={isNarrow ? 6 : 'sm'}
            aria-label={view === undefined ? t.views : `${t.views}: ${label}`}
            aria-busy={save.isPending}
            {...(!isNarrow && { leftSection: icon })}
          >
            {isNarrow ? icon : label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah="60dvh" style={{ overflowY: 'auto' }}>
          {groups.map(
            ([title, members]) =>
              members.length > 0 && (
                <div key={title} role="group" aria-label={title}>
                  <Menu.Label>{title}</Menu.Label>
                  {members.map((each) => (
                    <Menu.Item
                      key={each.id}
                      aria-current={each.id === view?.id || undefined}
                      {...(each.id === view?.id && { fw: 600 })}
                      onClick={() => onOpen(each)}
                    >
                      {each.name}
                    </Menu.Item>
                  ))}
                </div>
              ),
          )}
          {query.data?.length === 0 && <Menu.Label maw={260}>{t.noViews}</Menu.Label>}
          {query.data === undefined && (
            <div role="group" aria-label={query.error?.message ?? texts.common.loading}>
              {query.isError && <Menu.Label maw={260}>{query.error.message}</Menu.Label>}
              <Menu.Item
                closeMenuOnClick={false}
                {...inert(!query.isError)}
                onClick={() => query.isError && void query.refetch()}
              >
                {query.isError ? texts.common.retry : texts.common.loading}
              </Menu.Item>
            </div>
          )}
          <Menu.Divider />
          {saved !== undefined && (
            <>
              {isChanged && (
                <Menu.Item onClick={() => !save.isPending && saveChanges(saved)}>
                  {t.saveChanges(saved.name)}
                </Menu.Item>
              )}
              <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setDialog(saved)}>
                {t.editView(saved.name)}
              </Menu.Item>
            </>
          )}
          <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog('new')}>
            {t.saveView}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog !== undefined && (
        <ViewDialog
          view={dialog === 'new' ? undefined : dialog}
          shown={shown}
          canShare={may(role, 'shareViews')}
          onSaved={(kept) => {
            close();
            if (dialog === 'new') onOpen(kept);
          }}
          onDeleted={() => {
            close();
            onOpen(undefined);
          }}
          onClose={close}
        />
      )}
    </>
  );
}
