import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { screen } from '@tandem/local-servers/screen.ts'

const FIRST_OPERATOR = 'operator@tandem.localhost'

/**
 * Invites the first operator of the console, until one has a passkey.
 * @param cli identity's command line
 * @returns the link to add a passkey; undefined if there is one already
 */
export async function inviteFirstOperator (cli: string, environment: NodeJS.ProcessEnv) {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [cli, 'staff', 'invite-first', FIRST_OPERATOR], {
      env: { ...environment, LOG_LEVEL: 'warn' },
      timeout: 30_000
    })
    return /\bhttps?:\S+/.exec(stdout)?.[0]
  } catch (error) {
    screen.warn(`No operator could be invited: ${(error as Error).message}`)
    return undefined
  }
}
