import { Anchor, Button, type ButtonProps, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

/* The component library's links, typed with the website's routes and search parameters. */

export const AnchorLink = createLink(Anchor<'a'>);
export const ButtonLink = createLink((props: ButtonProps & ComponentPropsWithRef<'a'>) => (
  <Button component="a" {...props} />
));
export const NavigationLink = createLink(NavLink<'a'>);
