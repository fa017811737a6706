import '@mantine/notifications/styles.css';
import { useMediaQuery } from '@mantine/hooks';
import { Notifications as NotificationStack, useNotifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';

/** The events after which other content can be below the notifications. */
const moves = ['focusin', 'keyup', 'scroll', 'resize'] as const;
/** The distance to the edge of the window. The library uses the same at the bottom. */
const marginPx = 16;
const stackSelector = '.mantine-Notifications-root[data-position="bottom-center"]';

/**
 * Notifications at the bottom of the window. While they would cover the focused element or the actions on a selection, they
 * are at its top.
 */
export function Notifications() {
  const isShown = useNotifications().notifications.length > 0;
  const isAtTop = useAvoidsFocus(isShown);
  // Several notifications below each other would fill a low window, such as one at 400 % zoom.
  const isLow = useMediaQuery('(max-height: 25em)');
  return (
    <NotificationStack
      position="bottom-center"
      limit={3}
      layout={isLow ? 'stacked' : 'default'}
      {...(isAtTop && { style: { top: marginPx, bottom: 'auto' } })}
    />
  );
}

/** Returns whether the notifications must be at the top of the window to leave the focus visible (WCAG 2.2, 2.4.11). */
function useAvoidsFocus(isShown: boolean): boolean {
  const [isAtTop, setAtTop] = useState(false);
  useEffect(() => {
    const stack = document.querySelector<HTMLElement>(stackSelector);
    if (!isShown || stack === null) return;
    let isTop = false;
    const place = () => {
      if (stack.contains(document.activeElement)) return;
      const { top, bottom } = coveredAt(stack);
      // They move only if the other place is better, because a user is reading them.
      isTop = isTop ? top <= bottom : bottom > top;
      setAtTop(isTop);
    };
    const resizes = new ResizeObserver(place);
    resizes.observe(stack);
    for (const name of moves) window.addEventListener(name, place, { capture: true, passive: true });
    return () => {
      resizes.disconnect();
      for (const name of moves) window.removeEventListener(name, place, { capture: true });
    };
  }, [isShown]);
  return isAtTop;
}

/**
 * Returns how much of the focused elements and of a toolbar a stack of notifications covers at the top and at the bottom, in
 * pixels.
 */
function coveredAt(stack: HTMLElement): { readonly top: number; readonly bottom: number } {
  const { left, right, height } = stack.getBoundingClientRect();
  const reach = height + marginPx;
  const focused = document.activeElement;
  const active = document.getElementById(focused?.getAttribute('aria-activedescendant') ?? '');
  const toolbar = document.querySelector('[role="toolbar"]');
  const covered = { top: 0, bottom: 0 };
  for (const box of [focused, active, toolbar].map((element) => element?.getBoundingClientRect())) {
    // A higher element is never hidden as a whole. The list of leads nearly fills the window.
    if (box === undefined || box.height > innerHeight / 2 || box.left > right || box.right < left) continue;
    covered.top += Math.max(0, Math.min(box.bottom, reach) - Math.max(box.top, 0));
    covered.bottom += Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(box.top, innerHeight - reach));
  }
  return covered;
}
