import { Menu, VisuallyHidden } from '@mantine/core';
import type { Lead, LeadStatus } from '@leads/core/lead';
import type { LeadColumn } from '@leads/core/lead/view-columns';
import { memo } from 'react';
import type { ColumnValues } from '../../api/leads.ts';
import * as texts from '../../texts/index.ts';
import { type FurtherColumn, isFurther } from './columns.ts';
import { shownName } from '../../leads/lead-name.ts';
import { statusOf } from '../../leads/lead-status.ts';
import classes from './leads.module.css';
import { IconEye } from '../../shell/icons.tsx';
import { StatusIcon } from './status-icon.tsx';
import { formatMoney } from '../../shell/money.ts';
import { exactTime, relativeTime } from '../../shell/time.ts';

const t = texts.leads;

/** The action of a click in a row. The list handles the clicks, so that rows need no functions that change. */
export type RowAction = 'open' | 'select' | 'menu';

/** The beginning of the id to the millisecond of its creation (RFC 9562, 5.7). The search finds ids by their beginning. */
const shownIdLength = 13;

export const rowId = (id: string) => `lead-${id}`;

export interface LeadRowProps {
  readonly lead: Lead;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly href: string;
  readonly time: 'createdAt' | 'updatedAt';
  readonly nowMs: number;
  readonly columns: readonly LeadColumn[];
  /** Whether the row is a card. */
  readonly isCard: boolean;
  readonly campaign: string;
  /** The name of the user that the lead belongs to. */
  readonly user: string;
  /** The name of the assignee. */
  readonly assignee: string;
  /** The names of the other users who have the lead open. */
  readonly viewers: string;
  /** The columns that the list lacks. Absent until they are loaded, and if none of them is shown. */
  readonly values: ColumnValues | undefined;
  readonly isSelectable: boolean;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly isFresh: boolean;
  /** The requested status, until the service has confirmed it. */
  readonly pending: LeadStatus | undefined;
  /** The possible statuses while the row's menu is open. */
  readonly menu: readonly LeadStatus[] | undefined;
  readonly onStatus: (lead: Lead, to: LeadStatus) => void;
  readonly onMenuClose: () => void;
}

/** One row of the list. It renders again only if its props change, not while the user scrolls. */
export const LeadRow = memo(function LeadRow(props: LeadRowProps) {
  const { lead, index, isSelectable, isSelected, columns } = props;
  return (
    <div
      role="row"
      id={rowId(lead.id)}
      aria-rowindex={index + 2}
      aria-selected={isSelectable ? isSelected : undefined}
      data-index={index}
      data-active={props.isActive || undefined}
      aria-busy={props.pending !== undefined || undefined}
      data-fresh={props.isFresh || undefined}
      className={classes['row']}
      style={{ height: props.height, transform: `translateY(${props.top}px)` }}
    >
      <span role="gridcell" className={classes['tickCell']}>
        {isSelectable && (
          <label className={classes['tick']} data-action="select">
            <input
              type="checkbox"
              className={classes['check']}
              tabIndex={-1}
              checked={isSelected}
              readOnly
              aria-label={t.select(shownName(lead.name))}
            />
          </label>
        )}
      </span>
      {columns.map(
        (column) => !(props.isCard && isFurther(column)) && <Cell key={column} column={column} {...props} />,
      )}
      {props.isCard && <FurtherCell {...props} />}
    </div>
  );
});

/** One cell of a row. In a narrow list, a row is a card with four of them. */
function Cell({ column, ...props }: LeadRowProps & { readonly column: LeadColumn }) {
  const { lead, time, columns, nowMs, values } = props;
  if (column === 'status') {
    return (
      <span role="gridcell" className={classes['statusCell']}>
        <StatusCell {...props} />
      </span>
    );
  }
  if (column === 'name') {
    return (
      <span role="gridcell" className={`${classes['cell']} ${classes['nameCell']}`}>
        <a
          href={props.href}
          className={classes['name']}
          tabIndex={-1}
          data-action="open"
          title={shownName(lead.name)}
          dir="auto"
        >
          {shownName(lead.name)}
        </a>
        {props.viewers !== '' && (
          <span className={classes['viewing']} title={t.alsoOpen(props.viewers)}>
            <IconEye size={14} aria-hidden /> <VisuallyHidden>{t.openBy}</VisuallyHidden>{' '}
            <bdi>{props.viewers}</bdi>
          </span>
        )}
      </span>
    );
  }
  if (column === 'createdAt' || column === 'updatedAt') {
    const isOnlyTime = !columns.includes(column === 'createdAt' ? 'updatedAt' : 'createdAt');
    const shown = lead[isOnlyTime ? time : column];
    // A card has place for one time.
    const place = isOnlyTime || column === time ? classes['createdCell'] : classes['onlyTable'];
    return (
      <span role="gridcell" className={`${classes['cell']} ${classes['dim']} ${place}`}>
        <time dateTime={shown} title={exactTime(shown)}>
          {relativeTime(shown, nowMs)}
        </time>
      </span>
    );
  }
  if (column === 'payout') {
    return (
      <span
        role="gridcell"
        className={`${classes['cell']} ${classes['amount']}`}
        title={values?.payout && texts.payouts.meanings[statusOf(lead)]}
      >
        {textOf(column, props)}
      </span>
    );
  }
  if (column === 'approveAt' || column === 'callbackAt') {
    const due = values?.[column];
    return (
      <span role="gridcell" className={`${classes['cell']} ${classes['dim']}`}>
        {due !== undefined && (
          <time dateTime={due} title={exactTime(due)}>
            {textOf(column, props)}
          </time>
        )}
      </span>
    );
  }
  const text = textOf(column, props);
  const look = column === 'phone' ? classes['phoneCell'] : '';
  const isCode = column === 'id' || column === 'ip';
  return (
    <span
      role="gridcell"
      className={`${classes['cell']} ${look} ${isCode ? `${classes['dim']} ${classes['mono']}` : ''}`}
      title={column === 'id' ? lead.id : text}
      dir="auto"
    >
      {text}
    </span>
  );
}

/** The further columns of a card, in the lines that the height of a card has for them. */
function FurtherCell(props: LeadRowProps) {
  const further = props.columns.filter(isFurther).flatMap((column) => {
    const text = textOf(column, props);
    return text === '' ? [] : [[t.columnNames[column], text] as const];
  });
  return (
    <span
      role="gridcell"
      className={classes['furtherCell']}
      title={further.map(([label, text]) => `${label}: ${text}`).join('\n')}
    >
      {further.map(([label, text]) => (
        <span key={label}>
          <span className={classes['dim']}>{label}</span> <bdi>{text}</bdi>{' '}
        </span>
      ))}
    </span>
  );
}

/** Returns a column as text; empty without a value, and until it is loaded. */
function textOf(
  column: FurtherColumn | 'phone',
  { lead, campaign, user, assignee, values, nowMs }: LeadRowProps,
): string {
  if (column === 'payout') return values?.payout === undefined ? '' : formatMoney(values.payout);
  if (column === 'approveAt' || column === 'callbackAt') {
    const due = values?.[column];
    return due === undefined ? '' : relativeTime(due, nowMs);
  }
  if (column === 'campaign') return campaign;
  if (column === 'user') return user;
  if (column === 'assignee') return assignee;
  if (column === 'id') return lead.id.slice(0, shownIdLength);
  if (column === 'country') {
    return [lead.country, lead.region].filter((text) => text !== undefined).join(', ');
  }
  if (column === 'source') return values?.source === undefined ? '' : t.sources[values.source];
  if (column === 's1' || column === 'lpName' || column === 'email' || column === 'city') {
    return values?.[column] ?? '';
  }
  return lead[column] ?? '';
}

function StatusCell({ lead, isSelectable, pending, menu, onStatus, onMenuClose }: LeadRowProps) {
  const status = statusOf(lead);
  if (pending !== undefined) return <PendingStatus status={pending} />;
  if (!isSelectable) return <StatusBadge status={status} />;
  const button = (
    <button
      type="button"
      className={classes['status']}
      tabIndex={-1}
      data-action="menu"
      aria-label={t.changeStatus(shownName(lead.name), t.statuses[status])}
    >
      <StatusText status={status} />
    </button>
  );
  // A menu component is only rendered while it is open, because it is slower to render than the whole row.
  if (menu === undefined) return button;
  return (
    <Menu opened onClose={onMenuClose} position="bottom-end" returnFocus={false}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        {menu.map((to) => (
          <Menu.Item key={to} onClick={() => onStatus(lead, to)}>
            {t.markAs(t.statuses[to])}
          </Menu.Item>
        ))}
        {menu.length === 0 && <Menu.Label>{t.notAllowed}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}

/** A status that the service has not confirmed. */
export function PendingStatus({ status }: { status: LeadStatus }) {
  return (
    <span className={classes['status']} data-pending title={t.saving(t.statuses[status])}>
      <span aria-hidden className={classes['spinner']} />
      {t.statuses[status]}
    </span>
  );
}

export function StatusBadge({ status }: { status: LeadStatus }) {
  return (
    <span className={classes['status']}>
      <StatusText status={status} />
    </span>
  );
}

function StatusText({ status }: { status: LeadStatus }) {
  return (
    <>
      <StatusIcon status={status} />
      {t.statuses[status]}
    </>
  );
}
