import { readdir, readFile } from 'node:fs/promises'

/** Returns the CPU time of the threads that a process has, in microseconds. */
export async function cpuTime (pid: number) {
  const threads = await readdir(`/proc/${pid}/task`)
  // The first number of schedstat is in nanoseconds. A thread can end meanwhile.
  const times = await Promise.all(
    threads.map(async (thread) =>
      Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')).split(' ')[0])
    )
  )
  return times.reduce((sum, time) => sum + time, 0) / 1_000
}

/** Returns the resident memory of a process, in bytes. */
export async function residentBytes (pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024
}
