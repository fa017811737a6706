import { parseArgs } from 'node:util';

/** An option of a command: its help text, its default, and how its value is parsed. */
export interface Option<Value> {
  readonly help: string;
  /** The text after the flag in the help text. A flag without a value has none. */
  readonly placeholder?: string;
  readonly default?: string;
  /** @throws Error with one line that names the flag and the rule. */
  read(given: string, flag: string): Value;
}

type OptionTable = Readonly<Record<string, Option<unknown>>>;
type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>;
};

interface RunContext {
  /** The parent of the temporary directory, or the directory of persistent data. */
  readonly dataDir: string | undefined;
  readonly onProgress: (line: string) => void;
  /** Aborted by SIGINT and SIGTERM. */
  readonly stop: AbortSignal;
}

/** A command of `npm run bench`. */
export interface Command<Table extends OptionTable = OptionTable> {
  readonly summary: string;
  readonly options: Table;
  /** The command stops its processes itself after a stop signal, and the program waits for it. */
  readonly handlesStop?: boolean;
  /** @returns the figures, and whether all guarantees hold if the command checks some. */
  run(options: OptionValues<Table>, context: RunContext): Promise<{ figures: object; passed?: boolean }>;
}

/** Returns the command unchanged. It infers the types of the options. */
export const defineCommand = <Table extends OptionTable>(command: Command<Table>): Command => command;

/** Parses the options of a command. @throws Error with one line about the first invalid argument. */
export function readOptions<Table extends OptionTable>(
  table: Table,
  args: readonly string[],
): OptionValues<Table> {
  const flags = Object.fromEntries(
    Object.entries(table).map(([name, { placeholder }]) => [
      kebabCase(name),
      { type: placeholder === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { values } = parseArgs({ args: [...args], options: flags });
  const read = ([name, option]: [string, Option<unknown>]) => {
    const given = values[kebabCase(name)] ?? option.default;
    return [name, given === undefined ? undefined : option.read(String(given), `--${kebabCase(name)}`)];
  };
  return Object.fromEntries(Object.entries(table).map(read)) as OptionValues<Table>;
}

/** Returns the help text, a line for each option. */
export function helpOf(table: OptionTable): string {
  const line = ([name, { placeholder, help, default: usual }]: [string, Option<unknown>]) => {
    const left = `  --${kebabCase(name)} ${placeholder ?? ''}`.padEnd(25);
    return `${left} ${help}${placeholder === undefined || usual === undefined ? '' : ` (default: ${usual})`}`;
  };
  return Object.entries(table).map(line).join('\n');
}

const kebabCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const flag = (help: string): Option<boolean> => ({
  help,
  default: 'false',
  read: (given) => given === 'true',
});

/** Creates an option with a value that `parse` reads. `parse` returns undefined for an invalid value. */
const valueOption = <Value>(
  placeholder: string,
  about: { usual: string | undefined; help: string },
  rule: string,
  parse: (given: string) => Value | undefined,
): Option<Value> => ({
  help: about.help,
  placeholder,
  ...(about.usual !== undefined && { default: about.usual }),
  read(given, long) {
    const value = parse(given);
    if (value === undefined) throw new Error(`${long} takes ${rule}, not ${given}`);
    return value;
  },
});

export const text = (help: string): Option<string | undefined> =>
  valueOption('<text>', { usual: undefined, help }, 'text', (given) => given);

export const number = (min: number, max: number, usual: string, help: string): Option<number> =>
  valueOption('<number>', { usual, help }, `numbers from ${min} to ${max}`, (given) =>
    Number(given) >= min && Number(given) <= max ? Number(given) : undefined,
  );

export const integer = (max: number, usual: string | undefined, help: string): Option<number> =>
  valueOption('<number>', { usual, help }, `whole numbers from 1 to ${max}`, (given) =>
    /^[1-9]\d*$/.test(given) && Number(given) <= max ? Number(given) : undefined,
  );

/** Creates an option for a number of leads. */
export const size = (usual: string, help: string): Option<number> =>
  valueOption('<size>', { usual, help }, 'sizes from 10k to 100m, such as 10k,1m', (given) => {
    const [, digits, unit] = /^([1-9]\d{0,8})([km]?)$/i.exec(given) ?? [];
    const leads = Number(digits) * ({ k: 1_000, m: 1_000_000 }[unit?.toLowerCase() ?? ''] ?? 1);
    return leads >= 10_000 && leads <= 100_000_000 ? leads : undefined;
  });

export const oneOf = <Name extends string>(names: readonly Name[], usual: string, help: string) =>
  valueOption('<name>', { usual, help: `${help}: ${names.join(', ')}` }, names.join(', '), (given) =>
    names.find((each) => each === given),
  );

/** Creates an option for several values, separated by commas. */
export const listOf = <Value>(option: Option<Value>): Option<readonly Value[]> => ({
  ...option,
  placeholder: `${option.placeholder},...`,
  read: (given, long) => given.split(',').map((each) => option.read(each, long)),
});

export const optional = <Value>(option: Option<Value>): Option<Value | undefined> => option;
