import { timingSafeEqual } from 'node:crypto'
import { linkTo } from '../mailed-links.ts'
import type { Secrets } from '../secrets.ts'

/** The link in the mail about a decision, with which people appeal who cannot sign in. */
export const createAppealUrl = (secrets: Secrets, publicUrl: string, decisionId: string) =>
  linkTo(`${publicUrl}/appeal`, { token: `${decisionId}.${macOf(secrets, decisionId)}` })

/** The decision that a token is for; undefined if this service did not make the token. */
export function readAppealToken (secrets: Secrets, token: string) {
  const [decisionId = '', mac = ''] = token.split('.')
  const expected = Buffer.from(macOf(secrets, decisionId))
  const given = Buffer.from(mac)
  return given.length === expected.length && timingSafeEqual(given, expected) ? decisionId : undefined
}

const macOf = (secrets: Secrets, decisionId: string) => secrets.digest('appeal', decisionId).toString('base64url')
