export const integration = {
  unavailable: 'The instructions cannot be shown',
  title: (campaign: string) => `Send leads to ${campaign}`,
  lead: (workspace: string) => `This campaign belongs to ${workspace}.`,
  gone: 'This link no longer works',
  goneLead: 'The link was renewed or deleted. Ask the sender of the link for the current one.',
  statuses: { active: 'Active', paused: 'Paused', archived: 'Archived' },
  notActive: 'The campaign accepts no leads at the moment. Leads with its code are rejected.',
  code: 'Campaign code',
  credentials: 'What you need',
  credentialsLead:
    'You need your own API key, and for the CRM API also an access token. Sign in and create them in your profile. Never use the credentials of another person.',
  signIn: 'Sign in',
  reference: 'API reference',
  crm: 'From your server: the CRM API',
  crmLead: (code: string) => `Send the campaign's code, ${code}, as campaignCode.`,
  intake: 'From a landing page: the intake',
  intakeLead: 'Send the name of the landing page as lp_name. It assigns the lead to this campaign:',
  ofDefault:
    'This is the default campaign. A lead without a landing page arrives here, unless its API key has a default campaign of its own.',
  noLandingPages:
    'No landing page is mapped to this campaign yet, so leads of the intake would go to another campaign. Use the CRM API, or ask for a landing page to be mapped.',
  landingPage: 'Landing page',
  language: 'Language',
} as const;
