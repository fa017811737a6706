/** The personal data of the leads that tests send. No log line, metric, trace or error body may contain it. */
export const personalData = {
  name: 'Canary Vogelsang',
  phone: '+44 20 7946 0958',
  address: '17 Canary Wharf',
  email: 'canary.vogelsang@nest.io',
  s1: 'canary-click-17',
  description: 'A canary that sings.',
} as const;

/** Substrings that identify {@link personalData}, including the normalized phone number. */
export const personalTexts: readonly string[] = [
  'Vogelsang',
  'vogelsang',
  '7946 0958',
  '79460958',
  'Canary Wharf',
  'canary-click',
  'canary that sings',
];

/** Personal data in examples and benchmarks. */
const otherPersonalTexts = [
  'Lovelace',
  'Hopper',
  '202 555 01',
  '+120255501',
  'Arlington Ridge',
  'correct horse',
];

/** Secrets of webhooks, API keys, prefixes of API keys, and JWTs. */
const secrets = /whsec_|lk_[0-9A-Za-z]{4}|eyJ[\w-]{8}/;

/** Returns whether a text contains a secret or personal data that a test sent. */
export function isConfidential(text: string): boolean {
  return (
    personalTexts.some((each) => text.includes(each)) ||
    otherPersonalTexts.some((each) => text.includes(each)) ||
    secrets.test(text)
  );
}
