const you = 'You';
/** The name of a user within a sentence. */
const inSentence = (who: string) => (who === you ? 'you' : who);

/** The texts of the history of a lead. */
export const leadHistory = {
  you,
  events: {
    created: (who: string) => `Created by ${inSentence(who)}`,
    updated: (who: string) => `Changed by ${inSentence(who)}`,
    noteAdded: (who: string) => `Note added by ${inSentence(who)}`,
    assigneeRemoved: (who: string) => `Unassigned, because ${inSentence(who)} left the workspace`,
    held: (who: string, why: string) => `Kept from automatic approval by ${inSentence(who)}: “${why}”`,
    released: (who: string) => `Automatic approval allowed by ${inSentence(who)}`,
    holdEnded: 'Approved at the end of the hold time',
    statusChanged: (who: string, from: string, to: string) => `${from} to ${to} by ${inSentence(who)}`,
  },
  fieldChange: (field: string, from: string, to: string) => `${field}: ${from} to ${to}`,
  payoutSet: (to: string, from: string | undefined) =>
    from === undefined ? `Payout set to ${to}` : `Payout changed from ${from} to ${to}`,
  payoutTakenAway: (from: string) => `Payout taken away: ${from}`,
  nothing: 'empty',
} as const;
