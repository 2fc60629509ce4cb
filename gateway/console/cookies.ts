import { readBrand } from '@tandem/brand-kit'
import { languageOfRequest } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'

// With this prefix, browsers accept a cookie over TLS or on localhost only, for one host and every path.
export const SESSION_COOKIE = '__Host-session'
const LANGUAGE_COOKIE = '__Host-language'

const options = { path: '/', secure: true, httpOnly: true, sameSite: 'strict' } as const
const YEAR_SECONDS = 365 * 86_400

/** Identity ends the session; the browser forgets the cookie when it is closed. */
export const setSession = (reply: FastifyReply, session: string) => reply.setCookie(SESSION_COOKIE, session, options)

export const clearSession = (reply: FastifyReply) => reply.clearCookie(SESSION_COOKIE, options)

export const setLanguage = (reply: FastifyReply, language: string) =>
  reply.setCookie(LANGUAGE_COOKIE, language, { ...options, maxAge: YEAR_SECONDS })

/** The language that the operator chose; otherwise that of the browser. */
export function languageOf (request: FastifyRequest): string {
  const chosen = request.cookies[LANGUAGE_COOKIE]
  return readBrand().texts.locales.find((each) => each === chosen) ?? languageOfRequest(request)
}
