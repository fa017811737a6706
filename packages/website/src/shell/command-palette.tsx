import type { Me } from '@leads/core/account';
import { Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { useNavigate } from '@tanstack/react-router';
import {
  type ComponentType,
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useId,
  useRef,
  useState,
} from 'react';
import { roleOf } from '../api/account.ts';
import { campaignsQuery } from '../api/campaigns.ts';
import { leadSearchQuery } from '../api/lead-work.ts';
import { viewsQuery } from '../api/views.ts';
import { addressInWorkspace, openPage } from '../api/workspace-address.ts';
import { builtInViewsOf } from '../leads/built-in-views.ts';
import { shownName } from '../leads/lead-name.ts';
import { type LeadSearch, readLeadSearch } from '../leads/lead-search.ts';
import { statusOf } from '../leads/lead-status.ts';
import { leads as leadTexts } from '../texts/leads.ts';
import { palette as t } from '../texts/palette.ts';
import { useCurrentCommands } from './commands.ts';
import classes from './command-palette.module.css';
import { destinationsOf } from './destinations.ts';
import { Dialog } from './dialog.tsx';
import {
  IconBookmark,
  IconKeyboard,
  IconSearch,
  IconSelector,
  IconSpeakerphone,
  IconUserCircle,
} from './icons.tsx';
import type { IconProps } from './icons.tsx';
import type { TypedEarly } from './palette-button.tsx';
import { ErrorNotice } from './states.tsx';

/** The pause in typing after which leads are searched, in milliseconds. The result is due 150 ms after the last key. */
const debounceMs = 50;
/** A shorter text would match most leads. */
const minSearchLength = 2;
/** The most entries of a group while the text is empty, or matches many. */
const maxEntries = 8;

interface Entry {
  readonly id: string;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly shortcut?: string | undefined;
  readonly icon: ComponentType<IconProps>;
  /** Whether what the entry opens takes the focus, such as the panel of a lead. */
  readonly takesFocus?: boolean;
  /** Whether Enter runs it only if the user has moved to it. */
  readonly isExplicit?: boolean | undefined;
  readonly run: () => void;
}

/** Returns whether each word of a text is the beginning of a word. */
function isMatch(text: string, wanted: string): boolean {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((each) => words.some((word) => word.startsWith(each)) || text.toLowerCase().startsWith(each));
}

/**
 * Finds leads, pages, views, campaigns, workspaces and the actions of the page by a text. The keyboard follows the
 * pattern of a combobox with a list (ARIA Authoring Practices). The library's palette does not announce the chosen
 * entry to screen readers.
 *
 * @param takeTyped returns what the user has typed before the palette was shown.
 */
export function CommandPalette({
  me,
  navigate,
  search: addressSearch,
  takeTyped,
  onClose,
}: {
  me: Me;
  navigate: ReturnType<typeof useNavigate>;
  /** The parameters of the address if the page is the lead list. */
  search: LeadSearch | undefined;
  takeTyped: () => TypedEarly;
  onClose: () => void;
}) {
  const listId = useId();
  const [text, setText] = useState('');
  const [debounced] = useDebouncedValue(text.trim(), debounceMs);
  /** The text whose only lead opens as soon as it is found, because the user has pressed Enter before. */
  const [awaited, setAwaited] = useState<string>();
  const [chosenId, setChosenId] = useState<string>();
  const isFocusReturned = useRef(true);
  const commands = useCurrentCommands();

  const ofCampaigns = useQuery(campaignsQuery);
  const { data: campaigns = [] } = ofCampaigns;
  const ofViews = useQuery(viewsQuery);
  const { data: views = [] } = ofViews;
  const wanted = text.trim();
  const searched = awaited === wanted ? wanted : debounced;
  const isSearch = wanted.length >= minSearchLength;
  const search = useQuery({ ...leadSearchQuery(searched), enabled: isSearch && searched === wanted });
  // Results of an earlier text are never shown: Enter would open a lead that does not match.
  const found = isSearch && searched === wanted && search.isSuccess ? search.data : undefined;
  const isSearching = isSearch && found === undefined && !search.isError;
  const lists = [ofCampaigns, ofViews];
  const isLoading = wanted !== '' && lists.some(({ isPending }) => isPending);
  const failed = [...(isSearch ? [search] : []), ...lists].filter(({ isLoadingError }) => isLoadingError);
  const [firstFailed] = failed;

  const openLead = (lead: string) => {
    void navigate({ to: '/leads', search: { ...addressSearch, lead }, resetScroll: false });
    if (lead === addressSearch?.lead) document.getElementById('lead-panel')?.focus();
  };
  const matching = (entries: readonly Entry[]) =>
    entries.filter(({ label, detail = '' }) => isMatch(`${label} ${detail}`, wanted)).slice(0, maxEntries);
  const role = roleOf(me);
  // What Enter can choose before the leads arrive is above them, so that it stays where it is.
  const groups = [
    [
      t.actions,
      matching(
        commands.map(({ id, label, shortcut, isChange = false, isOfEntry = false, run: start }) => ({
          id,
          label,
          shortcut,
          isExplicit: isChange || isOfEntry,
          icon: IconKeyboard,
          run: start,
        })),
      ),
    ],
    [
      t.pages,
      matching(
        destinationsOf(role).map(({ to, label, icon }) => ({
          id: to,
          label,
          icon,
          run: () => void navigate({ to }),
        })),
      ),
    ],
    [
      t.views,
      matching(
        [...builtInViewsOf(role), ...views].map(({ id, name, filters, sort }) => ({
          id,
          label: name,
          icon: IconBookmark,
          run: () =>
            void navigate({ to: '/leads', search: { ...readLeadSearch({ ...filters, sort }), view: id } }),
        })),
      ),
    ],
    [
      t.campaigns,
      matching(
        campaigns.map((campaign) => ({
          id: campaign.id,
          label: campaign.name,
          detail: campaign.code === campaign.name ? undefined : campaign.code,
          icon: IconSpeakerphone,
          run: () => void navigate({ to: '/campaigns/$id', params: { id: campaign.id } }),
        })),
      ),
    ],
    [
      t.leads,
      (found ?? []).map(
        (lead): Entry => ({
          id: lead.id,
          label: shownName(lead.name),
          detail: `${lead.phone}, ${leadTexts.statuses[statusOf(lead)]}`,
          icon: IconUserCircle,
          takesFocus: true,
          run: () => openLead(lead.id),
        }),
      ),
    ],
    [
      t.workspaces,
      matching(
        me.workspaces
          .filter(({ id }) => id !== me.workspace?.id)
          .map(({ id, name, slug }) => ({
            id,
            label: name,
            icon: IconSelector,
            // Its name can contain the name of a person. Users search leads more often.
            isExplicit: true,
            run: () => openPage(addressInWorkspace(slug, '/leads')),
          })),
      ),
    ],
  ] as const satisfies readonly (readonly [string, readonly Entry[]])[];

  const entries: readonly Entry[] = groups.flatMap(([, members]): readonly Entry[] => members);
  const chosenAt = entries.findIndex(({ id }) => id === chosenId);
  const at = chosenAt === -1 ? entries.findIndex(({ isExplicit }) => isExplicit !== true) : chosenAt;
  const chosen = entries[at];
  const optionId = (index: number) => `${listId}-${index}`;

  const run = ({ takesFocus = false, run: start }: Entry) => {
    isFocusReturned.current = !takesFocus;
    onClose();
    // After the palette has returned the focus, so that a dialog that opens now knows its opener.
    setTimeout(start);
  };
  const isAnswered = awaited === wanted && found !== undefined;
  // Of several leads, the user chooses one.
  if (isAnswered && entries.length !== 1) setAwaited(undefined);
  const runFirst = useEffectEvent(() => chosen !== undefined && run(chosen));
  useEffect(() => {
    if (isAnswered) runFirst();
  }, [isAnswered]);
  useEffect(() => {
    document.getElementById(optionId(at))?.scrollIntoView({ block: 'nearest' });
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      const from = at === -1 && step === -1 ? 0 : at;
      setChosenId(entries[(from + step + entries.length) % entries.length]?.id);
    } else if (event.key === 'Enter') {
      if (chosen !== undefined) run(chosen);
      else if (isSearching) setAwaited(wanted);
    } else return;
    event.preventDefault();
  };

  let index = -1;
  return (
    <Dialog
      onClose={onClose}
      isFocusReturned={() => isFocusReturned.current}
      withCloseButton={false}
      closeOnClickOutside
      attributes={{ content: { 'aria-label': t.title } }}
      size={620}
      padding={0}
      yOffset="8dvh"
      classNames={{ body: classes['body'] }}
    >
      <TextInput
        ref={(input) => {
          // The library focuses by a timer. Keys that come earlier would be lost.
          if (input === null || input === document.activeElement) return;
          input.focus();
          const typed = takeTyped();
          if (typed.text === '') return;
          setText(typed.text);
          if (typed.isEntered) setAwaited(typed.text.trim());
        }}
        data-autofocus
        role="combobox"
        aria-label={t.title}
        aria-expanded
        aria-haspopup="listbox"
        aria-controls={listId}
        aria-autocomplete="list"
        {...(chosen !== undefined && { 'aria-activedescendant': optionId(at) })}
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        placeholder={t.placeholder}
        leftSection={<IconSearch size={18} aria-hidden />}
        classNames={{ input: classes['input'] ?? '' }}
        // After Enter, the next keys are meant for the lead that opens.
        readOnly={awaited === wanted && isSearching}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosenId(undefined);
          setAwaited(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label={t.title} className={classes['list']}>
        {groups.map(
          ([title, members]) =>
            members.length > 0 && (
              <div key={title} role="group" aria-label={title}>
                <div aria-hidden className={classes['group']}>
                  {title}
                </div>
                {members.map((entry: Entry) => {
                  index += 1;
                  const own = index;
                  const { icon: Icon } = entry;
                  return (
                    // The keys are handled by the input, which keeps the focus.
                    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
                    <div
                      key={entry.id}
                      id={optionId(own)}
                      role="option"
                      aria-selected={own === at}
                      className={classes['option']}
                      onMouseDown={(event) => event.preventDefault()}
                      onMouseMove={() => own !== at && setChosenId(entry.id)}
                      onClick={() => run(entry)}
                    >
                      <Icon size={18} aria-hidden />
                      <span className={classes['label']} dir="auto">
                        {entry.label}
                      </span>
                      {entry.detail !== undefined && (
                        <span className={classes['detail']} dir="auto">
                          {entry.detail}
                        </span>
                      )}
                      {entry.shortcut !== undefined && <kbd>{entry.shortcut}</kbd>}
                    </div>
                  );
                })}
              </div>
            ),
        )}
      </div>
      {firstFailed?.error && (
        <div className={classes['foot']}>
          <ErrorNotice
            error={firstFailed.error}
            onRetry={() => {
              for (const { refetch } of failed) void refetch();
            }}
          />
        </div>
      )}
      <Text size="xs" c="dimmed" component="div" className={classes['foot']}>
        <span role="status">
          {isSearching || isLoading
            ? t.searching
            : entries.length > 0
              ? wanted !== '' && t.results(entries.length)
              : failed.length === 0 && t.none}
        </span>
        <span className={classes['keys']}>{t.keys}</span>
      </Text>
    </Dialog>
  );
}
