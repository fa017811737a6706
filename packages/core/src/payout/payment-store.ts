import type { LeadScope } from '../lead/lead-scope.ts';
import type { Payment, PaymentLead } from './payment.schema.ts';

/** A payment to store. */
interface PaymentToCreate {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly createdBy: string;
  /** The leads were created from this time on, and before `to`. */
  readonly from: Date;
  readonly to: Date;
  readonly campaignCode?: string | undefined;
  readonly currency: string;
  /** A day, such as `2026-01-31`. */
  readonly date: string;
  readonly note?: string | undefined;
}

/** A payment after a request, and whether the request has created or cancelled it. A repeated request has not. */
export interface ChangedPayment {
  readonly payment: Payment;
  readonly isChanged: boolean;
}

/** The position of a payment in a list, newest first. */
interface PaymentPosition {
  readonly at: Date;
  readonly id: string;
}

/** What a step of a payment has done. */
interface PaymentStep {
  readonly paymentId: string;
  readonly workspaceId: string;
  /** Why it has changed nothing. The payment waits, and other payments go on. */
  readonly error?: Error;
}

/** A store of payments. Methods throw LeadsError `unavailable` without the database. */
export interface PaymentStore {
  /**
   * Stores a payment with all leads that it shall mark as Paid. A payment with the same id stays as it is.
   *
   * @param maxLeads the maximum number of leads.
   * @throws LeadsError `conflict` if there is no lead to pay; `limit_reached` for too many leads, and if too many payments
   *   of the workspace are in progress.
   */
  create(payment: PaymentToCreate, maxLeads: number): Promise<ChangedPayment>;

  /** Lists payments, newest first. @param scope limits the list to the payments to one user. */
  list(scope: LeadScope, limit: number, after?: PaymentPosition): Promise<Payment[]>;
  /** Returns a payment; undefined if the scope has no such payment. */
  find(scope: LeadScope, id: string): Promise<Payment | undefined>;
  /** Lists the leads of a payment in the order of their ids. @param afterId the id before the first lead. */
  listLeads(
    payment: { readonly workspaceId: string; readonly id: string },
    limit: number,
    afterId?: string,
  ): Promise<PaymentLead[]>;

  /**
   * Begins the cancellation of a payment, also of one in progress. A cancelled payment stays as it is.
   *
   * @returns undefined if the workspace has no such payment.
   */
  cancel(
    payment: { readonly workspaceId: string; readonly id: string },
    by: { readonly userId: string; readonly reason: string },
  ): Promise<ChangedPayment | undefined>;

  /**
   * Changes the next leads of a payment in progress, in one transaction. The leads, their history and the payment change
   * together, so an interrupted step changes nothing. Several processes can work on different payments at once. A payment
   * whose step fails waits for 5 s, and twice as long after each further failure, up to 15 minutes.
   *
   * @param limit the maximum number of leads.
   * @returns undefined if no payment is due.
   */
  step(limit: number): Promise<PaymentStep | undefined>;

  /**
   * Returns the time of the last step that succeeded, of the payment in progress whose last step is the oldest. Before its
   * first step, a payment has the time of its creation. Undefined if no payment is in progress.
   */
  oldestStepAt(): Promise<Date | undefined>;
}
