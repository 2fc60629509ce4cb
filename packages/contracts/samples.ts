import { readFile } from 'node:fs/promises'
import type { EventDefinition } from './definitions.ts'

/** One message as it was once published: `samples/<type>.json`. Whoever hears the event must go on understanding it. */
export async function readSample (event: EventDefinition): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`samples/${event.type}.json`, import.meta.url), 'utf8'))
}
