import { readFileSync } from 'node:fs';

/** An entry of /etc/passwd. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Returns the accounts of the system; empty if /etc/passwd does not exist. */
export function accounts(): Account[] {
  let text: string;
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/** Returns the error message for a path that belongs to another user. */
export function describeForeignOwner(path: string, owner: number, caller: number): string {
  const name = (uid: number) => accounts().find((account) => account.uid === uid)?.name ?? String(uid);
  return (
    `${path} belongs to the user ${name(owner)}: start as that user or as root, ` +
    `or change its owner: sudo chown -R ${name(caller)} ${path}`
  );
}
