import { readBrand } from '@tandem/brand-kit'
import type { FastifyRequest } from 'fastify'

/** The locale of our texts that the client's Accept-Language prefers; undefined if it names none. */
export const preferredLanguage = (request: FastifyRequest) =>
  readBrand().texts.negotiate(request.headers['accept-language'])

/** Like `preferredLanguage`, with a fallback, by default the default locale of the brand. */
export const languageOfRequest = (request: FastifyRequest, fallback?: string) =>
  preferredLanguage(request) ?? readBrand().texts.of(fallback).locale
