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

/** Returns the browser and the system of a `User-Agent`, if they are known. */
export function readUserAgent(text: string): { browser?: string; system?: string } {
  const browser = browsers.find(([shape]) => shape.test(text))?.[1];
  const system = systems.find(([shape]) => shape.test(text))?.[1];
  return { ...(browser !== undefined && { browser }), ...(system !== undefined && { system }) };
}
