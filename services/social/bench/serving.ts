import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts a process that serves the feeds of the schema at `url`, with tokens for these people. */
export async function startServing (
  url: string,
  folder: string,
  people: string[],
  mode: 'default' | 'shows-hidden' = 'default'
) {
  const child = fork(new URL('serving-process.ts', import.meta.url), [url, folder, mode], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  const [port] = await once(child, 'message') as [number]
  child.send(people)
  const [tokens] = await once(child, 'message') as [Record<string, string>[]]
  return {
    pid: child.pid!,
    port,
    requests: (path: string) => tokens.map((headers) => ({ path, headers })),
    stop: () => child.disconnect()
  }
}
