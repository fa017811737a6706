const number = new Intl.NumberFormat('en');

/** Returns a number of leads in words, such as `1 lead` and `2,000 leads`. */
export const leadsOf = (count: number) => `${number.format(count)} ${count === 1 ? 'lead' : 'leads'}`;
