import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';
import * as texts from './texts/index.ts';

const petrol: MantineColorsTuple = [
  '#e8f6fb',
  '#d5e9f1',
  '#a7d1e2',
  '#77b8d3',
  '#50a3c6',
  '#3896bf',
  '#298fbc',
  '#1b7ba5',
  '#0a6d95',
  '#005f84',
];

/** A calm and dense theme for figures and tables. */
export const theme = createTheme({
  primaryColor: 'petrol',
  // White text has enough contrast on both (WCAG 2.2, 1.4.3).
  primaryShade: { light: 8, dark: 7 },
  colors: { petrol },
  autoContrast: true,
  defaultRadius: 'md',
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  headings: { fontWeight: '600' },
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The close button shows only a cross, also in dialogs and notifications.
    CloseButton: { defaultProps: { 'aria-label': texts.common.close } },
    // An element with a label needs a role.
    Loader: { defaultProps: { role: 'status', 'aria-label': texts.common.loading } },
    Menu: {
      defaultProps: {
        // The placeholder would be the first focusable element of the menu.
        withInitialFocusPlaceholder: false,
        // A menu scrolls within the window. If the page scrolled to its items, the menu would lose its button and close.
        middlewares: { flip: true, shift: true, size: true },
        styles: { dropdown: { overflowY: 'auto' } },
      },
    },
    // At 400 % zoom, the page scrolls to the selected option, and a list would vanish with its field.
    Popover: { defaultProps: { hideDetached: false } },
    // By default, a user of the keyboard cannot see the typed characters.
    PasswordInput: {
      defaultProps: {
        visibilityToggleFocusable: true,
        visibilityToggleButtonProps: { 'aria-label': texts.common.showCharacters },
      },
    },
    // A list that opens with the focus loses its selected option some milliseconds later, and Enter then does nothing.
    Select: { defaultProps: { openOnFocus: false } },
    MultiSelect: { defaultProps: { openOnFocus: false } },
    // Within text, color alone does not distinguish a link.
    Anchor: { defaultProps: { underline: 'always' } },
    Badge: { defaultProps: { tt: 'none', fw: 500, lts: 0 } },
  },
});

/** The library's grays and reds have too little contrast (WCAG 2.2, 1.4.3 and 1.4.11). */
export const readableColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--input-border': 'var(--mantine-color-gray-6)',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-petrol-light-color': '#004a68',
    '--leads-status-onhold': '#8a5a00',
    '--leads-status-approved': '#1b5fa8',
    '--leads-status-paid': '#1c6b30',
    '--leads-status-trashed': '#5c636a',
    '--leads-color-better': '#1c5f2a',
    '--leads-color-worse': '#a61e1e',
    '--mantine-color-green-light-color': '#1c5f2a',
    '--mantine-color-yellow-light-color': '#7a4b00',
    '--mantine-color-red-light-color': '#a61e1e',
  },
  dark: {
    '--input-border': 'var(--mantine-color-dark-2)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-yellow-light': 'rgba(250, 176, 5, 0.15)',
    '--leads-status-onhold': 'var(--mantine-color-yellow-4)',
    '--leads-status-approved': 'var(--mantine-color-blue-3)',
    '--leads-status-paid': 'var(--mantine-color-green-4)',
    '--leads-status-trashed': 'var(--mantine-color-gray-5)',
    '--leads-color-better': 'var(--mantine-color-green-4)',
    '--leads-color-worse': 'var(--mantine-color-red-4)',
  },
});
