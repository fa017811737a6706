import { Anchor, Button, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/* The component library's links, which know the pages of this website and what their addresses hold. */

export const AnchorLink = createLink(Anchor<'a'>);
export const ButtonLink = createLink(Button<'a'>);
export const NavigationLink = createLink(NavLink<'a'>);
