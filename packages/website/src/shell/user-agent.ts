import { common as t } from '../texts/common.ts';

/* Most browsers also claim to be others, so the first match wins. */
const browsers = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrom(?:e|ium)\/|HeadlessChrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
] as const;
const systems = [
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
] as const;

/** Returns the browser and the system of a `User-Agent`, such as "Firefox on Linux". Returns an unknown one unchanged. */
export function describeClient(userAgent: string): string {
  const browser = browsers.find(([shape]) => shape.test(userAgent))?.[1];
  const system = systems.find(([shape]) => shape.test(userAgent))?.[1];
  if (browser === undefined && system === undefined && userAgent !== '') return userAgent;
  return t.browserOn(browser ?? t.unknownBrowser, system ?? t.unknownSystem);
}
