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

// Of /proc, on every architecture of Linux.
const TICK_US = 10_000

/** Returns the CPU time of a process and of all children that it has or had, such as of Postgres, in microseconds. */
export async function cpuTimeWithChildren (pid: number) {
  // The 16th and 17th number are the ticks of the children that have ended, such as closed connections.
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')
  const [userTicks, systemTicks] = fields.split(' ').slice(13, 15)
  let sum = await cpuTime(pid) + (Number(userTicks) + Number(systemTicks)) * TICK_US
  for (const child of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${child}/stat`, 'utf8').catch(() => '')
    if (Number(stat.split(') ')[1]?.split(' ')[1]) === pid) sum += await cpuTime(Number(child)).catch(() => 0)
  }
  return sum
}

/** Returns the resident memory of a process, in bytes. */
export async function residentBytes (pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024
}
