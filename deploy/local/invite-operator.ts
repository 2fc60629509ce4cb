import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { screen } from '@tandem/local-servers/screen.ts'

const FIRST_OPERATOR = 'operator@tandem.localhost'

const ATTEMPTS = 5
const TIMEOUT_MS = 60_000
const RETRY_PAUSE_MS = 2_000

/**
 * Invites the first operator of the console, until one has a passkey.
 * @param cli identity's command line
 * @returns the link to add a passkey; undefined if there is one already
 */
export async function inviteFirstOperator (cli: string, environment: NodeJS.ProcessEnv, signal: AbortSignal) {
  for (let attempt = 1;; attempt++) {
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [cli, 'staff', 'invite-first', FIRST_OPERATOR], {
        env: { ...environment, LOG_LEVEL: 'warn' },
        timeout: TIMEOUT_MS,
        signal
      })
      return /\bhttps?:\S+/.exec(stdout)?.[0]
    } catch (error) {
      const { stderr } = error as { stderr?: string }
      if (signal.aborted) return undefined
      if (attempt === ATTEMPTS) {
        screen.warn(`No operator could be invited (${stderr?.trim()}). The next start tries it again`)
        return undefined
      }
      // A busy machine can be too slow for its timeouts.
      await sleep(RETRY_PAUSE_MS)
    }
  }
}
