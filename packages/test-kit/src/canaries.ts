/**
 * What tests send as a lead's personal data: no log line may hold any of it. A test that needs a text of its own
 * puts a canary into it.
 */
export const canary = {
  name: 'Canary Vogelsang',
  phone: '+44 20 7946 0958',
  address: '17 Canary Wharf',
  email: 'canary.vogelsang@nest.io',
  s1: 'canary-click-17',
  description: 'A canary that sings.',
} as const;

/** The parts of {@link canary} to look for; the phone number in its normalised form too. */
export const canaries: readonly string[] = [
  'Vogelsang',
  'vogelsang',
  '7946 0958',
  '79460958',
  'Canary Wharf',
  'canary-click',
  'canary that sings',
];

/** What else tests, examples and benchmarks send of people. */
const others = ['Lovelace', 'Hopper', '202 555 01', '+120255501', 'Arlington Ridge', 'correct horse'];

/** API keys (their prefixes too) and JWTs. */
const secrets = /lk_[0-9A-Za-z]{4}|eyJ[\w-]{8}/;

/** Whether a text holds a secret or personal data that a test sent: logs, metrics, traces and error bodies must not. */
export function isIndiscreet(text: string): boolean {
  return (
    canaries.some((each) => text.includes(each)) ||
    others.some((each) => text.includes(each)) ||
    secrets.test(text)
  );
}
