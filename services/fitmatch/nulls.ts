import type { FastifyRequest } from 'fastify'

/** A preValidation: to a client that sends null for what it leaves out, null is as good as nothing. */
export async function dropNulls (request: FastifyRequest) {
  const body = request.body
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return
  request.body = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}
