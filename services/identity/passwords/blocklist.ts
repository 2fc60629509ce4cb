import { readFile } from 'node:fs/promises'
import { CommonPassword } from '../errors.ts'

const SHORTEST = 8
const LONGEST_LIST = 10_000

export interface Blocklist {
  /** @throws CommonPassword */
  refuse (password: string): Promise<void>
}

/** The 10,000 most common passwords that are long enough to be chosen here, in whatever case; read when the first one is asked about. */
export function createBlocklist (on: boolean): Blocklist {
  let common: Promise<Set<string>> | undefined

  return {
    async refuse (password) {
      if (!on) return
      common ??= readCommon().catch((error: unknown) => { common = undefined; throw error })
      if ((await common).has(password.normalize('NFKC').toLowerCase())) throw new CommonPassword()
    }
  }
}

// Most common first, and in small letters. The file alone, as the package would keep in memory what is not needed here.
async function readCommon () {
  const list = JSON.parse(await readFile(new URL(import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json')), 'utf8')) as string[]
  return new Set(list.filter((each) => each.length >= SHORTEST).slice(0, LONGEST_LIST).map((each) => each.toLowerCase()))
}
