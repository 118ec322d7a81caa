/**
 * Runs scripts in Firefox, each on the page loaded anew in the same profile.
 * Takes one JSON argument {executable, address, scripts}, each script an expression; gives one JSON
 * list of their values. Does not know what they do.
 */
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const puppeteer = require('puppeteer-core');

const DEADLINE_MS = 180_000;
const { executable, address, scripts } = JSON.parse(process.argv[2]);

const browser = await puppeteer.launch({
  browser: 'firefox',
  executablePath: executable,
  headless: true,
  protocolTimeout: DEADLINE_MS,
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  const values = [];
  for (const script of scripts) {
    await page.goto(address);
    await page.waitForSelector('html[data-boot="ready"]');
    values.push(await page.evaluate(script));
  }
  process.stdout.write(`${JSON.stringify(values)}\n`);
} finally {
  await browser.close();
}
