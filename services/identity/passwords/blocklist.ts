import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { CommonPassword } from '../errors.ts'

const MIN_LENGTH = 8
const MAX_ENTRIES = 10_000

export interface Blocklist {
  /** @throws CommonPassword */
  assertUncommon(password: string): Promise<void>
}

/**
 * The 10,000 most common passwords that are long enough to be allowed here, case-insensitive. The list is loaded on
 * first use.
 */
export function createBlocklist (isEnabled: boolean): Blocklist {
  let common: Promise<Set<string>> | undefined

  return {
    async assertUncommon (password) {
      if (!isEnabled) return
      common ??= readCommon().catch((error: unknown) => {
        common = undefined
        throw error
      })
      if ((await common).has(password.normalize('NFKC').toLowerCase())) throw new CommonPassword()
    }
  }
}

// Most common first, lower case. Only the file is read, because the package would keep data in memory that is not
// needed here.
async function readCommon () {
  const require = createRequire(import.meta.url)
  const file = require.resolve('@zxcvbn-ts/language-common/src/passwords.json')
  const list = JSON.parse(await readFile(file, 'utf8')) as string[]
  return new Set(
    list.filter((each) => each.length >= MIN_LENGTH).slice(0, MAX_ENTRIES).map((each) => each.toLowerCase())
  )
}
