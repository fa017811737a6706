import type { Page } from 'playwright-core';

/* What users see of a page, as figures: heights, weights, badges, contrast, motion, and content that is cut off. */

/** What {@link lookOf} returns for every page, in each color scheme and density. */
export const oneLook = {
  otherHeights: [] as string[],
  otherWeights: [] as string[],
  otherBadges: [] as string[],
  otherOrders: [] as string[],
  faintBorders: [] as string[],
};

/**
 * Returns what deviates from the look of the website. Controls are 32 px high, and small buttons 28 px. The theme has 3
 * font weights and one style of badges, and the statuses have one order. The border or the fill of an input has a contrast
 * of at least 3:1 to what is around it (WCAG 2.2, 1.4.11).
 */
export function lookOf(page: Page): Promise<typeof oneLook> {
  return page.evaluate(() => {
    type Color = readonly [red: number, green: number, blue: number, alpha: number];
    const visible = (selector: string) =>
      [...document.querySelectorAll<HTMLElement>(selector)].filter((each) => {
        const { width } = each.getBoundingClientRect();
        return width > 1 && each.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      });
    const nameOf = (element: Element) =>
      `${element.tagName.toLowerCase()} "${element.getAttribute('aria-label') ?? element.textContent.trim()}"`;
    const parse = (color: string): Color => {
      const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
      const scale = color.startsWith('color(') ? 255 : 1;
      return [red * scale, green * scale, blue * scale, alpha];
    };
    const over = ([red, green, blue, alpha]: Color, below: Color): Color => [
      red * alpha + below[0] * (1 - alpha),
      green * alpha + below[1] * (1 - alpha),
      blue * alpha + below[2] * (1 - alpha),
      1,
    ];
    const backgroundOf = (element: Element | null): Color =>
      element === null
        ? [255, 255, 255, 1]
        : over(parse(getComputedStyle(element).backgroundColor), backgroundOf(element.parentElement));
    const linear = (value: number) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    const luminance = ([red, green, blue]: Color) =>
      0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    const contrast = (one: Color, other: Color) => {
      const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };

    const heightOf = (element: Element) => Math.round(element.getBoundingClientRect().height);
    const controls = visible(
      '.mantine-Button-root:not([data-size^="compact"]), input.mantine-Input-input, select, .mantine-SegmentedControl-root',
    ).filter((each) => heightOf(each) !== 32);
    const smallControls = visible(
      '.mantine-Button-root[data-size^="compact"], .mantine-CloseButton-root',
    ).filter((each) => heightOf(each) !== 28);
    const icons = visible('.mantine-ActionIcon-root').filter((each) => ![28, 32].includes(heightOf(each)));

    const weights = visible('body *').filter(
      (each) => !['400', '500', '600'].includes(getComputedStyle(each).fontWeight),
    );

    const body = getComputedStyle(document.body);
    const badgeStyle = {
      fontSize: '12px',
      fontWeight: '500',
      textTransform: 'none',
      letterSpacing: 'normal',
      borderRadius: '1000px',
      borderTopWidth: '1px',
      borderTopStyle: 'solid',
      color: body.color,
      backgroundColor: body.backgroundColor,
    };
    // A pending status is dashed and dimmed. A long warning has several lines.
    const badges = visible('.mantine-Badge-root, [class*="_status_"]:not([data-pending])').filter((each) => {
      const style = getComputedStyle(each);
      const isOther = Object.entries(badgeStyle).some(
        ([property, value]) => style[property as keyof typeof badgeStyle] !== value,
      );
      return isOther || heightOf(each) % 20 !== 0;
    });

    const statuses = ['On hold', 'Approved', 'Paid', 'Trashed'];
    const statusAt = (element: Element) => {
      const text = element.textContent.trim().replace(/^Mark as /, '');
      return element.childElementCount === 0 || element.matches('button, option, th')
        ? statuses.indexOf(text)
        : -1;
    };
    // A table of campaigns has the statuses of each.
    const groups = visible(
      'tr, select, fieldset, figure, dl, [role="group"]:not(:has(table)),[role="listbox"], [role="menu"], [role="toolbar"]',
    ).filter((group) => {
      const order = [...group.querySelectorAll('*')].map(statusAt).filter((each) => each !== -1);
      const distinct = order.filter((each, index) => order.indexOf(each) === index);
      return distinct.some((each, index) => each < (distinct[index - 1] ?? -1));
    });

    const inputs = visible(
      'select, textarea, .mantine-Input-input, .mantine-Checkbox-input, .mantine-Radio-radio, .mantine-Switch-track, .mantine-SegmentedControl-indicator, [aria-pressed="true"]',
    ).filter((each) => {
      const style = getComputedStyle(each);
      // Browsers draw a control of their own with enough contrast. The search field of the palette is its whole head.
      if (each.matches(':disabled, [role="combobox"][aria-haspopup="listbox"][maxlength]')) return false;
      if (style.appearance === 'auto') return false;
      const around = backgroundOf(each.parentElement);
      const fill = backgroundOf(each);
      const border =
        Number.parseFloat(style.borderTopWidth) > 0 ? over(parse(style.borderTopColor), fill) : fill;
      return Math.max(contrast(border, around), contrast(fill, around)) < 3;
    });

    const describe = (elements: readonly Element[], value: (element: Element) => string = () => '') => [
      ...new Set(elements.map((each) => `${nameOf(each)} ${value(each)}`.trim())),
    ];
    return {
      otherHeights: describe([...controls, ...smallControls, ...icons], (each) => `${heightOf(each)}px`),
      otherWeights: describe(weights, (each) => getComputedStyle(each).fontWeight),
      otherBadges: describe(badges),
      otherOrders: describe(groups),
      faintBorders: describe(inputs, (each) => getComputedStyle(each).borderTopColor),
    };
  });
}

/** Returns the transitions and animations that a page would run, by the class of their elements. */
export function motionOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const longest = (durations: string) =>
      Math.max(...durations.split(',').map((each) => Number.parseFloat(each)));
    const found = new Set<string>();
    for (const element of document.querySelectorAll('*')) {
      for (const part of [undefined, '::before', '::after']) {
        const style = getComputedStyle(element, part);
        const at = `${element.getAttribute('class') ?? element.tagName}${part ?? ''}`;
        if (style.transitionProperty !== 'none' && longest(style.transitionDuration) > 0)
          found.add(`transition of ${style.transitionProperty} at ${at}`);
        if (style.animationName !== 'none' && longest(style.animationDuration) > 0)
          found.add(`animation ${style.animationName} at ${at}`);
        if (style.scrollBehavior === 'smooth') found.add(`smooth scrolling at ${at}`);
      }
    }
    for (const animation of document.getAnimations()) found.add(`running: ${animation.id}`);
    return [...found];
  });
}

/**
 * Returns texts and controls that are outside of the window or are cut off by an element around them, and whether the
 * page scrolls horizontally. Content of an element that scrolls can be reached. In the grid of leads, a column can be
 * widened, and the panel shows the whole values.
 */
export function cutOffOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = new Set<string>();
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.add(`the page scrolls by ${scrollWidth - clientWidth} px`);
    const isCutBy = (box: DOMRect, element: Element): boolean => {
      const { overflowX, overflowY } = getComputedStyle(element);
      const around = element.getBoundingClientRect();
      const hides = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
      return (
        (hides(overflowX) && (box.left < around.left - 1 || box.right > around.right + 1)) ||
        // The lines of a text are higher than its letters.
        (hides(overflowY) && (box.top < around.top - 3 || box.bottom > around.bottom + 3))
      );
    };
    const scrolls = (element: Element) => {
      const { overflowX, overflowY } = getComputedStyle(element);
      return [overflowX, overflowY].some((each) => each === 'auto' || each === 'scroll');
    };
    /** The boxes of the own text of an element, and of the element if it is a control. */
    const boxesOf = (element: Element): DOMRect[] => {
      const boxes: DOMRect[] = [];
      for (const node of element.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE || node.nodeValue?.trim() === '') continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        boxes.push(range.getBoundingClientRect());
      }
      if (element.matches('button, a[href], input, select, textarea'))
        boxes.push(element.getBoundingClientRect());
      // Texts for screen readers have a size of 1 px, and of 2 px in a browser with large text.
      return boxes.filter(({ width, height }) => width > 2 && height > 2);
    };
    const isReachable = (box: DOMRect, element: Element): boolean => {
      for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement) {
        if (at.getBoundingClientRect().width <= 2 || scrolls(at)) return true;
        if (isCutBy(box, at)) return false;
        if (getComputedStyle(at).position === 'fixed') break;
      }
      return box.left >= -1 && box.right <= innerWidth + 1;
    };
    for (const element of document.body.querySelectorAll('*')) {
      const isShown = element.checkVisibility({ visibilityProperty: true });
      if (!isShown || element.closest('svg, style, [role="grid"], .skip-link') !== null) continue;
      const isCut = boxesOf(element).some((box) => !isReachable(box, element));
      // The chosen text of a select cannot be scrolled.
      const isLong =
        element.matches('input[readonly][role="combobox"]') && element.scrollWidth > element.clientWidth + 1;
      if (!isCut && !isLong) continue;
      const { value } = element as HTMLInputElement;
      found.add(`${element.tagName.toLowerCase()} "${isLong ? value : element.textContent.trim()}"`);
    }
    return [...found];
  });
}
