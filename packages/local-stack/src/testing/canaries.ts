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
