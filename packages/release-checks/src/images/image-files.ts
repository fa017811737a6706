import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Image } from './build-image.ts';

/** The number and size of the files below a path of an image. */
export interface ImageFiles {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** Returns the files that were copied into an image, path by path, in the order of its Dockerfile. */
export function listImageFiles(image: Image): ImageFiles[] {
  return image.copied.map((path) => {
    const sizes = filesBelow(join(image.root, path)).map((file) => lstatSync(file).size);
    return { path, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
}

/** Returns every file of an image with its size and modification time, to detect writes. */
export function imageState(image: Image): string {
  return filesBelow(image.root)
    .toSorted()
    .map((file) => {
      const { size, mtimeMs } = lstatSync(file);
      return `${file} ${size} ${mtimeMs}`;
    })
    .join('\n');
}

function filesBelow(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}
