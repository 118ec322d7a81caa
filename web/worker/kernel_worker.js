/**
 * One more thread of the kernels: sits in its seat of a team until it is terminated.
 * Takes the compiled module, the shared memory and its seat in one message; answers nothing, since
 * the team's record in that memory says all.
 */

/**
 * @typedef {object} SeatOrder
 * @property {WebAssembly.Module} module
 * @property {WebAssembly.Memory} memory
 * @property {number} team address of the team's record
 * @property {number} seat
 * @property {number} stackEnd where this thread's stack begins; it grows down
 */

self.onmessage = (/** @type {MessageEvent<SeatOrder>} */ { data }) => {
  const { module, memory, team, seat, stackEnd } = data;
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const stackPointer = /** @type {WebAssembly.Global} */ (exports.__stack_pointer);
  stackPointer.value = stackEnd;
  /** @type {(team: number, seat: number) => void} */ (exports.serve)(team, seat);
};
