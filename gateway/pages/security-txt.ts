import { readBrand } from '@tandem/brand-kit'
import { NotFound } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const VALID_DAYS = 180

type Options = Pick<Config, 'SECURITY_CONTACT' | 'SECURITY_EXPIRES' | 'PUBLIC_URL'>

/**
 * GET /.well-known/security.txt (RFC 9116): how to report a vulnerability. By default it expires half a year from now.
 * An expired file is not served, because its content may be outdated.
 */
export async function serveSecurityText (
  app: FastifyInstance,
  { SECURITY_CONTACT, SECURITY_EXPIRES, PUBLIC_URL }: Options
) {
  const { brand } = readBrand()
  const contacts = SECURITY_CONTACT.length > 0 ? SECURITY_CONTACT : [brand.securityContact]
  const fixed = SECURITY_EXPIRES === undefined ? undefined : Date.parse(SECURITY_EXPIRES)
  if (fixed !== undefined && fixed <= Date.now()) {
    app.log.warn({ expires: SECURITY_EXPIRES }, 'security.txt has expired and is not served')
  }

  app.get('/.well-known/security.txt', { config: { public: true } }, async (_request, reply) => {
    const expires = fixed ?? (Math.floor(Date.now() / DAY_MS) + VALID_DAYS) * DAY_MS
    if (expires <= Date.now()) throw new NotFound()
    const lines = [
      ...contacts.map((contact) => `Contact: ${contact}`),
      `Expires: ${new Date(expires).toISOString()}`,
      `Preferred-Languages: ${brand.locales.join(', ')}`,
      ...(PUBLIC_URL ? [`Canonical: ${new URL('/.well-known/security.txt', PUBLIC_URL).href}`] : [])
    ]
    return reply.type('text/plain; charset=utf-8').header('cache-control', 'public, max-age=3600').send(
      `${lines.join('\n')}\n`
    )
  })
}
