import { Anchor, Button, type ButtonProps, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

/* The component library's links, which know the pages of this website and what their addresses hold. */

export const AnchorLink = createLink(Anchor<'a'>);
export const ButtonLink = createLink((props: ButtonProps & ComponentPropsWithRef<'a'>) => (
  <Button component="a" {...props} />
));
export const NavigationLink = createLink(NavLink<'a'>);
