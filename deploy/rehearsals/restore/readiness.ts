import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_INTERVAL_MS = 10

/** Waits until `/health/ready` of a service that is about to start returns 200 for the first time. */
export async function waitUntilReady (dataDir: string, service: string) {
  // stack.json comes too late: it is written when everything is ready.
  const log = path.join(dataDir, 'logs', `${service}.log`)
  for (;; await sleep(POLL_INTERVAL_MS)) {
    const text = await readFile(log, 'utf8').catch(() => '')
    const url = /Server listening at (http:[^"]+)/.exec(text)?.[1]
    const response = url && await fetch(`${url}/health/ready`).catch(() => undefined)
    if (response && response.ok) return
  }
}
