import type { StoredLead } from '../lead/lead.ts';
import { parsePhone } from '../lead/phone.ts';

/** The data of a lead that identifies a person. */
export interface LeadTraces {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
  /** Current and former numbers, each in E.164 if it is valid. */
  readonly phones: readonly { readonly phone: string; readonly e164?: string | undefined }[];
  readonly emails: readonly string[];
}

type Contact = Pick<StoredLead, 'id' | 'workspaceId' | 'createdAt' | 'phone' | 'phoneE164' | 'email'> & {
  /** JSON text or its value. */
  readonly extra?: unknown;
};

export function tracesOf({
  id,
  workspaceId,
  createdAt,
  phone,
  phoneE164,
  email,
  extra,
}: Contact): LeadTraces {
  return {
    id,
    workspaceId,
    createdAt,
    phones: [{ phone, e164: phoneE164 }],
    emails: [...(email === undefined ? [] : [email]), ...emailsIn(extra)],
  };
}

/** Returns the traces in the `fields` of an entry in a lead's history. */
export function tracesOfChange(
  lead: Pick<StoredLead, 'id' | 'workspaceId' | 'createdAt' | 'country'>,
  fields: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>,
): LeadTraces {
  const valuesOf = (field: string) => [fields[field]?.from, fields[field]?.to];
  const phones = valuesOf('phone').filter((value) => typeof value === 'string');
  return {
    id: lead.id,
    workspaceId: lead.workspaceId,
    createdAt: lead.createdAt,
    phones: phones.map((phone) => ({ phone, e164: parsePhone(phone, lead.country)?.e164 })),
    emails: [...valuesOf('email'), ...valuesOf('extra')].flatMap(emailsIn),
  };
}

/** Returns all texts with an `@` in a value or in its JSON text. Landing pages send addresses in fields of any name. */
function emailsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    if (!value.includes('@')) return [];
    return value.startsWith('{') ? emailsIn(parsed(value)) : [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(emailsIn) : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
