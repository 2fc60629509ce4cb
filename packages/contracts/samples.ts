import { readFile } from 'node:fs/promises'
import type { EventDefinition, RpcDefinition } from './definitions.ts'

/** A published message: `samples/<type>.json`. Every consumer of the event must still be able to parse it. */
export const readSample = async (event: EventDefinition): Promise<unknown> => await read(event.type)

/** The samples of an event (`data`) or an RPC (`request` and `response`), as far as they exist. */
export async function readSamples (
  definition: EventDefinition | RpcDefinition
): Promise<{ data?: unknown, request?: unknown, response?: unknown }> {
  const { type } = definition
  const find = async (name: string) =>
    await read(name).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  if ('data' in definition) return { data: await find(type) }
  return { request: await find(`${type}.request`), response: await find(`${type}.response`) }
}

async function read (name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`samples/${name}.json`, import.meta.url), 'utf8'))
}
