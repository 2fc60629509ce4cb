import type { ServiceName } from './services.ts'

/** A service does not respond. */
export class ServiceUnavailable extends Error {
  override name = 'ServiceUnavailable'
  readonly service: ServiceName

  constructor (service: ServiceName, options?: ErrorOptions) {
    super(`${service} does not respond`, options)
    this.service = service
  }
}

interface Refusal {
  service: ServiceName
  statusCode: number
  code: string
  /** In the operator's language. */
  text: string
}

/** A service refuses a request. */
export class ServiceRefused extends Error {
  override name = 'ServiceRefused'
  readonly refusal: Refusal

  constructor (refusal: Refusal) {
    super(`${refusal.service} refuses: ${refusal.code}`)
    this.refusal = refusal
  }
}

/** The operator has no session, or it has ended. */
export class SignedOut extends Error {
  override name = 'SignedOut'
}

/** There is no such page. */
export class PageNotFound extends Error {
  override name = 'PageNotFound'
}
