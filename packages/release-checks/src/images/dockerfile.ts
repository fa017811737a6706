import { DockerfileParser, type Flag, type Instruction, type Property } from 'dockerfile-ast';

/** A stage of a Dockerfile. */
export interface Stage {
  /** The name after `AS`; the last stage has none. */
  readonly name: string | undefined;
  /** The base image, or the name of an earlier stage. */
  readonly from: string;
  readonly steps: readonly Step[];
}

/** An instruction; `line` is its line in the file, from 1. Variables are not yet replaced. */
export type Step = { readonly line: number; readonly text: string } & (
  | { readonly kind: 'arg' | 'env' | 'label'; readonly values: readonly (readonly [string, string])[] }
  | { readonly kind: 'workdir' | 'user' | 'expose'; readonly value: string }
  | {
      readonly kind: 'copy';
      /** The stage to copy from; undefined for the build context. */
      readonly from: string | undefined;
      readonly sources: readonly string[];
      readonly target: string;
    }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'cmd' | 'healthcheck'; readonly command: readonly string[] }
);

/** Flags without effect on the result: caches, and the schedule of the health check. */
const harmlessFlags = new Set(['mount', 'interval', 'timeout', 'start-period', 'start-interval', 'retries']);

/**
 * Parses a Dockerfile.
 *
 * @throws Error for an unsupported instruction, flag or form.
 */
export function parseDockerfile(text: string): { args: ReadonlyMap<string, string>; stages: Stage[] } {
  const args = new Map<string, string>();
  const stages: { name: string | undefined; from: string; steps: Step[] }[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const stage = stages.at(-1);
    if (instruction.getKeyword() === 'FROM') {
      const [from, as, name] = wordsOf(instruction);
      if (from === undefined || (as !== undefined && as.toUpperCase() !== 'AS'))
        throw unsupported(instruction);
      stages.push({ from, name, steps: [] });
    } else if (stage === undefined) {
      if (instruction.getKeyword() !== 'ARG') throw unsupported(instruction);
      for (const [name, value] of propertiesOf(instruction)) args.set(name, value);
    } else {
      stage.steps.push(stepOf(instruction));
    }
  }
  if (stages.length === 0) throw new Error('The Dockerfile has no FROM');
  return { args, stages };
}

function stepOf(instruction: Instruction): Step {
  const keyword = instruction.getKeyword();
  const flags = flagsOf(instruction);
  const unknown = flags.find(
    (flag) => !harmlessFlags.has(flag.getName()) && !(keyword === 'COPY' && flag.getName() === 'from'),
  );
  if (unknown !== undefined) throw unsupported(instruction);
  const location = {
    line: instruction.getRange().start.line + 1,
    text: `${keyword} ${contentOf(instruction)}`,
  };
  switch (keyword) {
    case 'ARG':
    case 'ENV':
    case 'LABEL':
      return {
        ...location,
        kind: keyword.toLowerCase() as 'arg' | 'env' | 'label',
        values: propertiesOf(instruction),
      };
    case 'WORKDIR':
    case 'USER':
    case 'EXPOSE':
      return {
        ...location,
        kind: keyword.toLowerCase() as 'workdir' | 'user' | 'expose',
        value: contentOf(instruction),
      };
    case 'COPY': {
      const words = wordsOf(instruction);
      const target = words.at(-1);
      if (target === undefined || words.length < 2 || words[0]?.startsWith('[') === true)
        throw unsupported(instruction);
      const from = flags.find((flag) => flag.getName() === 'from')?.getValue() ?? undefined;
      return { ...location, kind: 'copy', from, sources: words.slice(0, -1), target };
    }
    case 'RUN': {
      const command = contentOf(instruction);
      if (command.startsWith('[') || command.includes('<<')) throw unsupported(instruction);
      return { ...location, kind: 'run', command };
    }
    case 'CMD':
      return { ...location, kind: 'cmd', command: execForm(instruction, contentOf(instruction)) };
    case 'HEALTHCHECK': {
      const [, command] = /^CMD\s+(.*)$/s.exec(contentOf(instruction)) ?? [];
      return { ...location, kind: 'healthcheck', command: execForm(instruction, command ?? '') };
    }
    default:
      throw unsupported(instruction);
  }
}

/**
 * Parses the exec form, `["node", "server.js"]`. The shell form is rejected, since a shell does not forward
 * signals.
 */
function execForm(instruction: Instruction, text: string): string[] {
  try {
    const words: unknown = JSON.parse(text);
    if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  } catch {
    // Rejected below.
  }
  throw unsupported(instruction);
}

function unsupported(instruction: Instruction): Error {
  return new Error(
    `Line ${instruction.getRange().start.line + 1} is not supported: ${instruction.getKeyword()} ${contentOf(instruction)}`,
  );
}

const contentOf = (instruction: Instruction) => instruction.getArgumentsContent() ?? '';
const wordsOf = (instruction: Instruction) => instruction.getArguments().map((word) => word.getValue());
const flagsOf = (instruction: Instruction & { getFlags?: () => Flag[] }) => instruction.getFlags?.() ?? [];
const propertiesOf = (instruction: Instruction & { getProperties?: () => Property[] }) =>
  (instruction.getProperties?.() ?? []).map(
    (property) => [property.getName(), property.getValue() ?? ''] as const,
  );
