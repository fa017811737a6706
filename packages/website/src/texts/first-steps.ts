export const firstSteps = {
  title: 'Welcome. Your first steps',
  lead: 'Each step is ticked when it is done, here or elsewhere.',
  hide: 'Hide',
  hideLabel: 'Hide the first steps',
  progress: (done: number, all: number) => `${done} of ${all} done.`,
  done: 'Done:',
  steps: {
    apiKey: {
      title: 'Create an API key',
      lead: 'It identifies the sender of leads.',
      action: 'Create a key',
    },
    lead: {
      title: 'Send the first lead',
      lead: 'From your page, your tracker or an example.',
      action: 'Show examples',
    },
    landingPage: {
      title: 'Map a landing page',
      lead: 'Its leads then go to the campaign that you choose.',
      action: 'Map a page',
    },
    invitation: {
      title: 'Invite a member',
      lead: 'Managers work on leads. Publishers send them.',
      action: 'Invite a member',
    },
  },
  /** The name of the key that a click creates. */
  keyName: 'First key',
  keyTitle: 'Your new API key',
  example: 'This command sends a lead with it:',
  exampleLabel: 'curl',
  copyExample: 'Copy the example',
  sendTest: 'Send a test lead',
  sent: 'The lead is stored. It is in the list of leads.',
  notSent: (status: number) =>
    `The intake answered with status ${status}. Open Examples to see the whole answer.`,
} as const;
