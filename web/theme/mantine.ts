import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  rem,
  type VariantColorResolverResult,
} from '@mantine/core';

/** Light to dark. The steps that Mantine uses for filled buttons are the `--gw-accent` of each theme. */
const petrol: MantineColorsTuple = [
  '#eef7f8',
  '#dfeeef',
  '#b4dadd',
  '#58c4cf',
  '#35a3ae',
  '#1f8893',
  '#13747e',
  '#0b6670',
  '#09545c',
  '#06262a',
];

/** From text to background; Mantine builds its dark theme from them. */
const slate: MantineColorsTuple = [
  '#e7ebec',
  '#c3cacd',
  '#9ca7ac',
  '#707c82',
  '#3a454a',
  '#2c3539',
  '#1b2124',
  '#14181a',
  '#0e1214',
  '#090c0d',
];

/** `--gw-motion`. */
const APPEAR = { duration: 120, transition: 'fade' } as const;

const PLAIN = { color: 'var(--gw-accent)', hover: 'var(--gw-accent-soft)' };
const ACCENTED: Record<string, Partial<VariantColorResolverResult>> = {
  filled: { color: 'var(--gw-on-accent)' },
  subtle: PLAIN,
  transparent: { color: 'var(--gw-accent)' },
  light: { ...PLAIN, background: 'var(--gw-accent-soft)' },
  outline: { ...PLAIN, border: '1px solid var(--gw-accent)' },
};

/** The last step of something final. */
const FINAL: Partial<VariantColorResolverResult> = {
  background: 'var(--gw-bad)',
  hover: 'color-mix(in srgb, var(--gw-bad) 88%, var(--gw-ink))',
  color: 'var(--gw-paper)',
};

/** The theme of docs/style.md for Mantine. */
export const theme = createTheme({
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 3 },
  variantColorResolver(input) {
    const colours = defaultVariantColorsResolver(input);
    if (input.color === 'red' && input.variant === 'filled') return { ...colours, ...FINAL };
    if (input.color !== undefined && input.color !== 'petrol') return colours;
    // Mantine's own choices only consider the light theme.
    return { ...colours, ...ACCENTED[input.variant] };
  },
  colors: { petrol, dark: slate },
  fontFamily: 'var(--gw-sans)',
  fontFamilyMonospace: 'var(--gw-mono)',
  headings: { fontFamily: 'var(--gw-sans)', fontWeight: '600' },
  fontSizes: { xs: rem(12), sm: rem(14), md: rem(14), lg: rem(16), xl: rem(20) },
  lineHeights: { xs: '1.5', sm: '1.5', md: '1.5', lg: '1.5', xl: '1.2' },
  spacing: { xs: rem(4), sm: rem(8), md: rem(16), lg: rem(24), xl: rem(32) },
  defaultRadius: 'var(--gw-radius)',
  focusRing: 'auto',
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    ModalRoot: { defaultProps: { transitionProps: APPEAR } },
    Modal: { defaultProps: { transitionProps: APPEAR } },
  },
});

/** Replaces Mantine's colours with the tokens, which adapt to light and dark by themselves. */
const colours = {
  '--mantine-color-body': 'var(--gw-paper)',
  '--mantine-color-text': 'var(--gw-ink)',
  '--mantine-color-bright': 'var(--gw-ink)',
  '--mantine-color-dimmed': 'var(--gw-muted)',
  '--mantine-color-placeholder': 'var(--gw-muted)',
  '--mantine-color-anchor': 'var(--gw-accent)',
  '--mantine-color-error': 'var(--gw-bad)',
  '--mantine-color-success': 'var(--gw-good)',
  '--mantine-color-default': 'var(--gw-surface)',
  '--mantine-color-default-hover': 'var(--gw-sunken)',
  '--mantine-color-default-color': 'var(--gw-ink)',
  '--mantine-color-default-border': 'var(--gw-line-strong)',
  '--mantine-color-disabled': 'var(--gw-sunken)',
  '--mantine-color-disabled-color': 'var(--gw-muted)',
  '--mantine-color-disabled-border': 'var(--gw-line)',
  '--mantine-primary-color-contrast': 'var(--gw-on-accent)',
};

/** Set per theme, like Mantine's own, whose selector overrides `:root`. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: colours,
  dark: colours,
});
