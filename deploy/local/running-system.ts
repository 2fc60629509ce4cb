import { readFile } from 'node:fs/promises'
import path from 'node:path'

interface Stack {
  postgres: { url: string }
  /** Variables that commands share with the running services. A system that was started before has none. */
  settings?: Record<string, string>
}

/** The folder of `npm start`. */
const dataDir = process.env['DATA_DIR'] ?? path.resolve(import.meta.dirname, '../../.data')

/**
 * Sets the variables with which a command of a service reaches its running system: those of `npm start`, unless
 * DATABASE_URL is set. @returns whether there is one
 */
export async function useRunningSystem (service: string): Promise<boolean> {
  if (process.env['DATABASE_URL'] || process.env['DATABASE_URL_FILE']) return true
  const stack = await readJson<Stack>('stack.json')
  if (!stack) return false
  const url = new URL(stack.postgres.url)
  url.searchParams.set('options', `-c search_path=${service}`)
  process.env['DATABASE_URL'] = url.href
  for (const [name, value] of Object.entries(stack.settings ?? {})) process.env[name] ??= value
  if (service === 'identity') {
    process.env['LEDGER_DIR'] ??= path.join(dataDir, 'ledger')
    const secret = (await readJson<{ identity?: string }>('secrets.json'))?.identity
    if (secret !== undefined) process.env['SECRET'] ??= secret
  }
  return true
}

async function readJson<Content> (name: string): Promise<Content | undefined> {
  const text = await readFile(path.join(dataDir, name), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : JSON.parse(text) as Content
}
