export const integration = {
  title: (campaign: string) => `Send leads to ${campaign}`,
  lead: (workspace: string) => `A campaign of ${workspace}.`,
  gone: 'This link is not good any more',
  goneLead: 'It was renewed or taken down. Ask whoever gave it to you for the present one.',
  statuses: { active: 'Active', paused: 'Paused', archived: 'Archived' },
  notActive: 'The campaign takes no leads at the moment: leads sent to its code are refused.',
  code: 'Campaign code',
  credentials: 'What you need',
  credentialsLead:
    'An API key of your own, and for the CRM API an access token too: sign in, and create them in your profile. Never use those of others.',
  signIn: 'Sign in',
  reference: 'API reference',
  crm: 'From your server: the CRM API',
  crmLead: (code: string) => `Send the campaign's code, ${code}, as campaignCode.`,
  intake: 'From a landing page: the intake',
  intakeLead: 'Send the name of the landing page as lp_name; it decides that the lead goes to this campaign:',
  noLandingPages:
    'No landing page is mapped to this campaign yet: leads of the intake would go elsewhere. Use the CRM API, or ask for a landing page to be mapped.',
  landingPage: 'Landing page',
  language: 'Language',
} as const;
