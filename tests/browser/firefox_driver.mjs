/**
 * Drives the page in Firefox through WebDriver BiDi, for one turn.
 * Takes one JSON argument {executable, address, controls, model, message, ask, order}; gives one JSON
 * line {boot, answer, asked}. Controls are XPaths. Does not know what the page should say.
 */
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const puppeteer = require('puppeteer-core');

const DEADLINE_MS = 180_000;
const order = JSON.parse(process.argv[2]);
const control = (name) => `::-p-xpath(${order.controls[name]})`;

const browser = await puppeteer.launch({
  browser: 'firefox',
  executablePath: order.executable,
  headless: true,
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  await page.goto(order.address);
  await page.waitForSelector('html[data-boot="ready"], html[data-boot="failed"]');
  const boot = await page.$eval('html', (root) => root.dataset.boot);
  const option = await page.waitForSelector(control('option'));
  const value = await option.evaluate((element) => element.value);
  const model = await page.waitForSelector(control('Model'));
  await model.select(value);
  await page.locator(control('Load model')).click();
  await page.waitForSelector(control('loaded'));
  await page.locator(control('Message')).fill(order.message);
  await page.locator(control('Send')).click();
  await page.waitForSelector(control('finished'));
  const answer = await page.waitForSelector(control('answer'));
  const result = {
    boot,
    answer: await answer.evaluate((element) => element.textContent),
    asked: await page.evaluate(`(${order.ask})(${JSON.stringify(order.order)})`),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
} finally {
  await browser.close();
}
