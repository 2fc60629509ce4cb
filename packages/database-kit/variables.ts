import { readFileSync } from 'node:fs'

/**
 * What the variable `name` holds, or the file that `name`_FILE names: container platforms hand secrets out in files.
 */
export function readVariable (name: string): string | undefined {
  const file = process.env[`${name}_FILE`]
  return process.env[name] ?? (file ? readFileSync(file, 'utf8').trim() : undefined)
}
