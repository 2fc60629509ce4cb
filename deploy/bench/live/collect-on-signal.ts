// Loaded into the processes that are measured: on this signal they collect their garbage, so that their memory is what
// they hold, and not how long ago they last collected.
const collect = globalThis.gc
process.on('SIGWINCH', () => collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
