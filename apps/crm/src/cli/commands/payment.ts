import { setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import {
  cancelPayment,
  createPayment,
  getPayment,
  listPayments,
  NewPayment,
  type Payment,
  PaymentCancellation,
} from '@leads/core/payout';
import type { Command } from 'commander';
import { parseCount, parseText, parseUuid } from '../runtime/arguments.ts';
import { CliError, CliUsageError, translateErrors } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import {
  exampleId,
  examples,
  jsonOption,
  quietOption,
  type WorkspaceOptions,
  workspaceOption,
} from '../runtime/help.ts';
import { findMembership, findWorkspace } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { type Column, formatTable, formatTime, printResult } from '../runtime/output.ts';
import { formatCount, startProgress } from '../runtime/progress.ts';

interface ListOptions extends WorkspaceOptions {
  readonly publisher?: string;
  readonly limit: number;
}

/** The options of commands that change leads. */
interface ChangeOptions extends WorkspaceOptions {
  readonly user: string;
  readonly quiet?: true;
}

interface CreateOptions extends ChangeOptions {
  readonly publisher: string;
  readonly from: string;
  readonly to: string;
  readonly zone?: string;
  readonly campaign?: string;
  readonly currency: string;
  readonly date: string;
  readonly note?: string;
  readonly idempotencyKey?: string;
}

interface CancelOptions extends ChangeOptions {
  readonly reason: string;
  readonly yes?: true;
}

const idArgument = ['<id>', 'the id of the payment, as shown by `leads payment list`', parseUuid] as const;

/** The most payments and leads that a command shows. */
const maxShown = 1_000;
/** The most leads of one transaction, as in the service, and the pause while another process works on the payment. */
const batchSize = 200;
const pauseMs = 500;

/** Adds `leads payment` and its subcommands. */
export function addPaymentCommands(program: Command, io: CliIo): void {
  const payment = program
    .command('payment')
    .summary('mark approved leads of publishers as paid')
    .description(
      'Manages payments: each marks approved leads of one publisher as Paid, and lists them. No money is moved.',
    );

  payment
    .command('list')
    .summary('list the payments of a workspace')
    .description('Lists the payments of a workspace, newest first, also canceled ones.')
    .option('--publisher <email>', 'only payments to this user')
    .option('--limit <number>', `the maximum number of payments (at most ${maxShown})`, parseCount, 20)
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('leads payment list --publisher ada@example.com'))
    .action((options) => list(io, options));

  payment
    .command('show')
    .summary('show a payment and its progress')
    .description('Shows a payment with its progress. With --json, also its first 1,000 leads.')
    .argument(...idArgument)
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples(`leads payment show ${exampleId}`))
    .action((id, options) => show(io, id, options));

  payment
    .command('create')
    .summary('mark the approved leads of a publisher as paid')
    .description(
      'Marks approved leads of a publisher as Paid, and records a payment with its number. The leads were created in the range of days, and have a payout in the currency. The command can be interrupted: the CRM service continues the payment.',
    )
    .requiredOption('--user <email>', 'the owner or manager that creates the payment')
    .requiredOption('--publisher <email>', 'the user that is paid')
    .requiredOption('--from <day>', 'the first day of the creation of the leads, such as 2026-01-01')
    .requiredOption('--to <day>', 'the last day of the creation of the leads')
    .option('--zone <zone>', 'the time zone of the days, such as Europe/Berlin (default: UTC)')
    .option('--campaign <code>', 'only leads of this campaign')
    .requiredOption('--currency <code>', 'the currency (ISO 4217), such as EUR')
    .requiredOption('--date <day>', 'the day of the payment')
    .option('--note <text>', 'a note, such as the reference of the transfer; the publisher sees it')
    .option(
      '--idempotency-key <key>',
      'a key that identifies the payment: a second command with the same key creates no second payment',
      parseText,
    )
    .addOption(workspaceOption('the user is a member of only one'))
    .addOption(quietOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads payment create --user you@example.com --publisher ada@example.com --from 2026-01-01 --to 2026-01-31 --currency EUR --date 2026-02-03 --note "Invoice 4711"',
      ),
    )
    .action((options) => create(io, options));

  payment
    .command('cancel')
    .summary('cancel a payment')
    .description(
      'Cancels a payment. Its leads become Approved again with the same payout, unless their status has changed since. The command can be interrupted: the CRM service continues the cancellation.',
    )
    .argument(...idArgument)
    .requiredOption('--user <email>', 'the owner that cancels the payment')
    .requiredOption('--reason <text>', 'the reason; the publisher and the history of each lead show it')
    .option('--yes', 'cancel the payment')
    .addOption(workspaceOption('the user is a member of only one'))
    .addOption(quietOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        `leads payment cancel ${exampleId} --user you@example.com --reason "The bank returned the transfer" --yes`,
      ),
    )
    .action((id, options) => cancel(io, id, options));
}

async function list(io: CliIo, options: ListOptions): Promise<void> {
  const { publisher, limit } = options;
  if (limit > maxShown) throw new CliUsageError(`--limit must be at most ${maxShown}`);
  await using operator = openOperator(io);
  const { id } = await findWorkspace(operator.workspaces, options.workspace);
  const user = publisher === undefined ? undefined : await findUserId(operator, publisher);
  const { entries } = await listPayments(operator.payments, readerOf(id), {
    limit: String(limit),
    ...(user !== undefined && { user }),
  });
  const table = formatTable(columns, entries, describe);
  printResult(io, options, entries, entries.length === 0 ? 'No payments.' : table);
}

async function show(io: CliIo, id: string, options: WorkspaceOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const shown = await translateErrors(
    getPayment(operator.payments, readerOf(workspace.id), id, { limit: String(maxShown) }),
    errorTexts,
  );
  printResult(io, options, shown, formatTable(columns, [shown.payment], describe));
}

async function create(io: CliIo, options: CreateOptions): Promise<void> {
  const { createBodyCheck } = await import('@leads/http/server/validation-errors');
  const { from, to, zone, campaign, currency, date, note } = options;
  await using operator = openOperator(io);
  const principal = await principalOf(operator, options);
  const given: NewPayment = {
    userId: await findUserId(operator, options.publisher),
    from,
    to,
    currency,
    date,
    ...(zone !== undefined && { zone }),
    ...(campaign !== undefined && { campaignCode: campaign }),
    ...(note !== undefined && { note }),
  };
  const { payment, isChanged } = await translateErrors(
    (async () => {
      const fields = createBodyCheck(NewPayment)(given);
      if (fields.length > 0) throw new LeadsError('invalid_input', { fields });
      return createPayment(operator.payments, principal, given, options.idempotencyKey);
    })(),
    errorTexts,
  );
  if (isChanged) {
    const { number, userId, total } = payment;
    await operator.recordAction({
      action: 'payment.created',
      scope: principal,
      targetId: payment.id,
      details: { number, userId, leads: total, currency },
    });
  }
  const paid = await finish(io, operator, principal, payment, options);
  printResult(io, options, paid, describe(paid).join('\n'));
}

async function cancel(io: CliIo, id: string, options: CancelOptions): Promise<void> {
  if (options.yes === undefined) {
    throw new CliError('The payment was not canceled; use --yes to make its leads Approved again');
  }
  const { createBodyCheck } = await import('@leads/http/server/validation-errors');
  await using operator = openOperator(io);
  const principal = await principalOf(operator, options);
  const reason = options.reason.trim();
  const { payment, isChanged } = await translateErrors(
    (async () => {
      const fields = createBodyCheck(PaymentCancellation)({ reason });
      if (fields.length > 0) throw new LeadsError('invalid_input', { fields });
      return cancelPayment(operator.payments, principal, id, reason);
    })(),
    errorTexts,
  );
  if (isChanged) {
    const { number, userId } = payment;
    await operator.recordAction({
      action: 'payment.canceled',
      scope: principal,
      targetId: id,
      details: { number, userId },
    });
  }
  const canceled = await finish(io, operator, principal, payment, options);
  printResult(io, options, canceled, describe(canceled).join('\n'));
}

/**
 * Takes the steps of payments until this one has ended, beside the services that do the same.
 *
 * @throws CliError if the payment makes no progress or the command is interrupted.
 */
async function finish(
  io: CliIo,
  { payments }: Operator,
  principal: Principal,
  created: Payment,
  { quiet, json }: ChangeOptions,
): Promise<Payment> {
  const signal = io.interruption();
  let payment = created;
  const isCanceling = created.cancelledAt !== undefined;
  const done = () => (isCanceling ? payment.returned + payment.kept : payment.leads + payment.skipped);
  using _progress = startProgress(io, {
    isShown: quiet !== true && json !== true,
    position: () => ({
      rows: done(),
      part: done() / Math.max(isCanceling ? payment.leads : payment.total, 1),
    }),
  });
  while (payment.state === 'paying' || payment.state === 'cancelling') {
    if (signal.aborted) {
      const work = isCanceling ? 'the cancellation of payment' : 'payment';
      throw new CliError(`Interrupted: the CRM service continues ${work} ${payment.number}`);
    }
    const hadWork = (await payments.step(batchSize)) !== undefined;
    ({ payment } = await getPayment(payments, principal, created.id, { limit: '1' }));
    if (payment.failure !== undefined) throw new CliError(`Payment ${payment.number}: ${payment.failure}`);
    // Another process works on the payment.
    if (!hadWork) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return payment;
}

const columns: readonly Column<Payment>[] = [
  { header: 'NUMBER', maxWidth: 10, value: ({ number }) => String(number) },
  { header: 'STATE', maxWidth: 10, value: ({ state }) => stateNames[state] },
  { header: 'LEADS', maxWidth: 11, value: ({ leads }) => formatCount(leads) },
  { header: 'AMOUNT', maxWidth: 40, value: ({ amount, currency }) => `${amount} ${currency}` },
  { header: 'DATE', maxWidth: 10, value: ({ date }) => date },
];

const stateNames = {
  paying: 'paying',
  paid: 'paid',
  cancelling: 'canceling',
  cancelled: 'canceled',
} as const satisfies Record<Payment['state'], string>;

/** Returns the lines about a payment. */
function describe(payment: Payment): string[] {
  const { id, number, userId, state, total, leads, amount, currency, skipped, returned, kept } = payment;
  const { note, cancelReason, cancelledAt, failure, retryAt } = payment;
  const lines = [
    `Payment ${number} (${id}) to user ${userId} is ${stateNames[state]}.`,
    `${formatCount(leads)} of ${formatCount(total)} leads were marked as Paid: ${amount} ${currency}.`,
  ];
  if (skipped > 0)
    lines.push(`${formatCount(skipped)} leads were left out: they had changed, or the payment was canceled.`);
  if (returned > 0) lines.push(`${formatCount(returned)} leads are Approved again.`);
  if (kept > 0)
    lines.push(`${formatCount(kept)} leads had changed since, and were not changed by the cancellation.`);
  if (note !== undefined) lines.push(`Note: ${note}`);
  if (cancelledAt !== undefined)
    lines.push(`Canceled at ${formatTime(new Date(cancelledAt))}: ${cancelReason ?? ''}`);
  if (failure !== undefined && retryAt !== undefined)
    lines.push(`${failure} Next attempt: ${formatTime(new Date(retryAt))}`);
  return lines;
}

/** The command line reads the payments of all publishers. */
const readerOf = (workspaceId: string): Principal => ({
  workspaceId,
  userId: '',
  role: 'owner',
  scope: 'full',
});

async function principalOf(
  operator: Operator,
  { user: email, workspace: slug }: ChangeOptions,
): Promise<Principal> {
  const { user, workspace, role } = await findMembership(operator.workspaces, email, slug);
  return { workspaceId: workspace.id, userId: user.id, role, scope: 'full' };
}

/** Returns the id of a user, who may have left the workspace. */
async function findUserId({ workspaces }: Operator, email: string): Promise<string> {
  const user = await workspaces.findUser(email);
  if (user === undefined) throw new CliError(`User ${email} does not exist`);
  return user.id;
}

/** The options of the fields whose name differs. */
const optionNames: Readonly<Record<string, string>> = { userId: 'publisher', campaignCode: 'campaign' };

/** The errors of payments in terms of the options of the commands. */
const errorTexts = {
  messages: {
    not_found: 'The workspace has no such payment; `leads payment list` shows the ids',
    forbidden: '--user must be an owner or a manager to pay, and an owner to cancel',
    idempotency_key_reused: '--idempotency-key was used for another payment',
  },
  nameOf(path: string) {
    const field = path.slice(1);
    return `--${optionNames[field] ?? field}`;
  },
};
