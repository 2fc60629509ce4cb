import type { ProcessSpec } from '@tandem/local-servers/process.ts'
import { origin } from './addresses.ts'

interface Health {
  isReady: boolean
  /** What fails, as a sentence; empty if nothing does. */
  failing: string
}

/** Asks a process how it is. @throws if it does not respond */
export async function readHealth ({ host, port }: Pick<ProcessSpec, 'host' | 'port'>): Promise<Health> {
  const response = await fetch(`${origin(port, host)}/health/ready`, { signal: AbortSignal.timeout(2_000) })
  const { down = [], reasons = {} } = await response.json() as { down?: string[], reasons?: Record<string, string> }
  return { isReady: response.ok, failing: down.map((name) => reasons[name] ?? `${name} fails`).join(', ') }
}
