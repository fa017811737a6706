import { withChosen } from './with-chosen.ts';

interface NamedCampaign {
  readonly code: string;
  readonly name: string;
}

/** Returns the name of a campaign with its code, or the code alone if the name equals it. */
export const campaignLabel = ({ code, name }: NamedCampaign) => (name === code ? code : `${name} (${code})`);

/** Returns the option of a select that has the code of a campaign as its value. */
export const campaignOption = (campaign: NamedCampaign) => ({
  value: campaign.code,
  label: campaignLabel(campaign),
});

/** Returns the options of a select of campaigns, also for a chosen code that is not loaded or does not exist. */
export const campaignOptions = (campaigns: readonly NamedCampaign[], code: string | undefined) =>
  withChosen(campaigns.map(campaignOption), [code], (missing) => missing);

/** Returns the options of the campaigns that landing pages can be mapped to. */
export const landingPageCampaigns = (campaigns: readonly (NamedCampaign & { readonly status: string })[]) =>
  campaigns.filter(({ status }) => status !== 'archived').map(campaignOption);
