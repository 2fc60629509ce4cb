import { readFileSync } from 'node:fs'

/**
 * What the variable `name` holds, or the file that `name`_FILE names: container platforms hand secrets out in files. An
 * empty variable counts as unset.
 * @throws if the file cannot be read
 */
export function readVariable (name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const file = env[`${name}_FILE`]
  return env[name] || !file ? env[name] : readFileSync(file, 'utf8').trim()
}
