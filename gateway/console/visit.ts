import type { ServiceFile } from './service-client.ts'
import type { ServiceName } from './services.ts'
import type { Html } from './html.ts'
import type { Texts } from './texts.ts'

export interface Staff {
  id: string
  email: string
  role: 'SUPPORT' | 'MODERATOR' | 'ADMIN'
  provedAt: string
  rights: string[]
}

export type Query = Record<string, string | number | undefined>

/** One request of an operator, with a token that is valid for one minute. */
export interface Visit {
  staff: Staff
  texts: Texts
  language: string
  /** The path and query of this page. */
  path: string
  query: Record<string, string>
  params: Record<string, string>
  /** The services that did not respond, which the page names. */
  unavailable: Set<ServiceName>
  can(right: string): boolean
  /** @throws ServiceRefused, ServiceUnavailable */
  get<T>(service: ServiceName, path: string, query?: Query): Promise<T>
  /** The same, but undefined while the service does not respond: the rest of the page stands. */
  find<T>(service: ServiceName, path: string, query?: Query): Promise<T | undefined>
  /** @throws ServiceRefused, ServiceUnavailable */
  send<T>(service: ServiceName, method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<T>
  fetchPicture(service: ServiceName, path: string): Promise<Buffer>
  /** A picture, or the part of a video that the browser asks for. */
  fetchFile(service: ServiceName, path: string): Promise<ServiceFile>
}

export interface Page {
  title: string
  content: Html
  status?: number
}

/** A path with those values of the query that are defined. */
export function withQuery (path: string, query: Query) {
  const given = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]])
  return given.length > 0 ? `${path}?${new URLSearchParams(given).toString()}` : path
}
