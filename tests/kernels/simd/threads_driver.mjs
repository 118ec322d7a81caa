/**
 * Replays a recorded script on the kernel module for threads, with a number of seats.
 * Takes {module, image, script, scratch, teams, stacks, stack_bytes, stack_end, seats, lose}; prints
 * {differences, lost}: the steps whose bytes were not the recorded ones, and the index of the call
 * that reported a lost thread, after `lose` calls had been made and one thread was ended.
 */

import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const PAGE = 65536;
const MOST_PAGES = 65535;

function instantiate(module, memory, stackEnd) {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  exports.__stack_pointer.value = stackEnd;
  return exports;
}

function sit({ module, memory, team, seat, stackEnd }) {
  const { serve } = instantiate(module, memory, stackEnd);
  serve(team, seat);
}

async function startTeam(order, module, memory) {
  const team = order.teams[order.seats - 1];
  const words = new Uint32Array(memory.buffer);
  words[team / 4] = order.seats;
  const threads = [];
  for (let seat = 1; seat < order.seats; seat += 1) {
    const stackEnd = order.stacks + (seat + 1) * order.stack_bytes;
    const thread = new Worker(new URL(import.meta.url), {
      workerData: { module, memory, team, seat, stackEnd },
    });
    threads.push(thread);
  }
  while (Atomics.load(words, team / 4 + 1) < order.seats - 1) await setImmediate();
  words[order.scratch / 4] = order.seats > 1 ? team : 0;
  return threads;
}

async function replay(order) {
  const image = readFileSync(order.image);
  const initial = image.length / PAGE;
  const memory = new WebAssembly.Memory({ initial, maximum: MOST_PAGES, shared: true });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(image);
  const module = new WebAssembly.Module(readFileSync(order.module));
  const exports = instantiate(module, memory, order.stack_end);
  const threads = await startTeam(order, module, memory);
  const result = { differences: [], lost: -1 };
  let calls = 0;
  for (const [index, [kind, first, second]] of order.script.entries()) {
    if (kind === 'clear') bytes.fill(0, first, first + second);
    if (kind === 'write') bytes.set(Buffer.from(second, 'base64'), first);
    if (kind === 'expect') {
      const wanted = Buffer.from(second, 'base64');
      const found = Buffer.from(bytes.subarray(first, first + wanted.length));
      if (!found.equals(wanted)) result.differences.push(index);
    }
    if (kind === 'call') {
      if (calls === order.lose) await threads[0].terminate();
      calls += 1;
      if (exports[first](...second)) {
        result.lost = index;
        break;
      }
    }
  }
  for (const thread of threads) await thread.terminate();
  return result;
}

if (isMainThread) {
  const order = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  process.stdout.write(JSON.stringify(await replay(order)));
} else {
  sit(workerData);
}
