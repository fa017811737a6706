import { overview as t } from '../texts/overview.ts';

const number = new Intl.NumberFormat('en');
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

export const formatNumber = (value: number) => number.format(value);
export const formatRate = (rate: number | null) => (rate === null ? t.noRate : percent.format(rate));
