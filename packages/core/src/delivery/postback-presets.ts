import type { LeadStatus } from '../lead/lead-transitions.ts';

/** A template for the postback URL of a well-known tracker. */
export interface PostbackPreset {
  readonly id: string;
  readonly name: string;
  /** The template. Its host and the words in capitals are replaced by those of the tracker's account. */
  readonly url: string;
  /** The statuses to send. */
  readonly statuses: readonly LeadStatus[];
  /** The page that documents the parameters. */
  readonly documentation: string;
}

const allStatuses = ['OnHold', 'Approved', 'Paid', 'Trashed'] as const;

/** The presets for postbacks. `s1` is the click id that the tracker has put into the link to the landing page. */
export const postbackPresets: readonly PostbackPreset[] = [
  {
    id: 'keitaro',
    name: 'Keitaro',
    url: 'https://tracker.example/KEY/postback?subid={s1}&tid={order_id}&payout={payout}&currency={currency}&status={status:OnHold=lead,Approved=sale,Paid=sale,Trashed=rejected}',
    statuses: allStatuses,
    documentation: 'https://docs.keitaro.io/en/conversions-and-postback/postback.html',
  },
  {
    id: 'binom',
    name: 'Binom',
    url: 'https://tracker.example/click.php?cnv_id={s1}&payout={payout}&cnv_currency={currency}&cnv_status={status}',
    statuses: allStatuses,
    documentation: 'https://docs.binom.org/postback-url.php',
  },
  {
    // Each request is a conversion. Voluum counts another status only with a custom conversion type (parameter et).
    id: 'voluum',
    name: 'Voluum',
    url: 'https://tracker.example/postback?cid={s1}&payout={payout}&currency={currency}&txid={order_id}',
    statuses: ['Approved'],
    documentation: 'https://doc.voluum.com/en/tracking_conversions_postback.html',
  },
  {
    id: 'altercpa',
    name: 'AlterCPA',
    url: 'https://www.altercpa.red/api/tracker/postback.json?id=TOKEN&click={s1}&uid={order_id}&price={payout}&currency={currency}&status={status:OnHold=new,Approved=approve,Paid=approve,Trashed=trash}',
    statuses: allStatuses,
    documentation: 'https://www.altercpa.red/en/api.html',
  },
  {
    id: 'affise',
    name: 'Affise',
    url: 'https://tracker.example/postback?clickid={s1}&action_id={order_id}&sum={payout}&status={status:OnHold=2,Approved=1,Paid=1,Trashed=3}',
    statuses: allStatuses,
    documentation: 'https://help-center.affise.com/en/articles/6475468-affise-postback-url-parameters',
  },
];
