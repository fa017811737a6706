/*
 * The address of a page after sign-in begins with its workspace: `/w/acme-1a2b3c4d/leads`. The router and all links use
 * addresses without that beginning, such as `/leads`, so no page needs to know its workspace.
 */

/** Pages that belong to no workspace. */
const outside =
  /^\/(?:sign-in|sign-up|forgot-password|reset-password|verify-email|invitations|integration)(?:\/|$)/;

/** The workspace of this document. It never changes, so that no request of a document is for another workspace. */
let slug = /^\/w\/([^/]+)/.exec(location.pathname)?.[1];

/** Returns the slug of the workspace of this document. Undefined on account pages and at addresses without workspace. */
export function workspaceOfPage(): string | undefined {
  return slug;
}

/** Sets the workspace of a document whose address had none. */
export function adoptWorkspace(found: string): void {
  slug ??= found;
}

/** Returns the address in the browser of an address of the router: `/w/acme-1a2b3c4d/leads` for `/leads`. */
export function browserAddress(address: string): string {
  return slug === undefined || outside.test(address) ? address : addressInWorkspace(slug, address);
}

/** Returns the address of a page in any workspace. */
export function addressInWorkspace(workspace: string, address: string): string {
  return `/w/${workspace}${address === '/' ? '' : address}`;
}

/** Loads a page in a new document, which has nothing of another user or workspace. @param to a path of this website. */
export function openPage(to: string): void {
  // Any other origin would make the pages with such a parameter open redirects.
  const isOwn = URL.canParse(to, location.origin) && new URL(to, location.origin).origin === location.origin;
  location.assign(isOwn ? to : '/');
}

/** Converts between the addresses of the router and those of the browser. */
export const workspaceRewrite = {
  input({ url }: { url: URL }): URL {
    const start = `/w/${slug}`;
    if (url.pathname === start) url.pathname = '/';
    else if (url.pathname.startsWith(`${start}/`)) url.pathname = url.pathname.slice(start.length);
    return url;
  },
  output({ url }: { url: URL }): URL {
    url.pathname = browserAddress(url.pathname);
    return url;
  },
};
