import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'

const WATCH_INTERVAL_MS = 100
const PAGE_BYTES = 4_096
const TICKS_PER_SECOND = 100

interface Bounds {
  /** On a busy machine that may be a while. */
  cpuSeconds: number
  /** Of memory, also outside of a heap. */
  bytes: number
  deadlineMs: number
}

/**
 * Lets others go first, and kills the process if it takes too much CPU time, memory (both on Linux only) or time.
 * Somebody who uploads a video waits anyway; those who read the feed of this process meanwhile should not.
 */
export function boundProcess (child: ChildProcess, { cpuSeconds, bytes, deadlineMs }: Bounds) {
  let isLate = false
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  const deadline = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, deadlineMs)
  const timer = setInterval(() => {
    void readFile(`/proc/${child.pid}/stat`, 'utf8').then((text) => {
      // What follows the name of the program; see proc_pid_stat(5).
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ').map(Number)
      const usedSeconds = (fields[11]! + fields[12]!) / TICKS_PER_SECOND
      if (usedSeconds > cpuSeconds || fields[21]! * PAGE_BYTES > bytes) child.kill('SIGKILL')
    }, () => {})
  }, WATCH_INTERVAL_MS)
  return {
    /** It has not used its CPU time: the machine is too busy, and the file may be good. */
    isLate: () => isLate,
    /** Returns when its memory is free, so that the next process does not add to it. */
    async end () {
      clearTimeout(deadline)
      clearInterval(timer)
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}
