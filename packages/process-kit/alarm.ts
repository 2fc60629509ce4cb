/** A wait that another part of the process can end early. */
export function createAlarm () {
  let isRung = false
  let end = () => {}
  return {
    /** Ends the running wait. If none is running, it ends the next one. */
    ring () {
      isRung = true
      end()
    },
    /** Waits for `ms`, for a ring or for the end of `signal`. @returns whether it was rung */
    async wait (ms: number, signal: AbortSignal) {
      if (!isRung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        end = resolve
        signal.addEventListener('abort', end)
        await promise
        signal.removeEventListener('abort', end)
        clearTimeout(timer)
      }
      const wasRung = isRung
      isRung = false
      return wasRung
    }
  }
}
