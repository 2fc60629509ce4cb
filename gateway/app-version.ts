import { readApp, readVersion, UpgradeRequired } from '@tandem/http-kit'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Config } from './config.ts'
import { BASE_PATH } from './routes.ts'

type Settings = Pick<Config, 'MIN_APP_VERSION_IOS' | 'MIN_APP_VERSION_ANDROID' | 'IOS_STORE_URL' | 'ANDROID_STORE_URL'>

/** How an app learns that it is too old. */
const META = `${BASE_PATH}/meta`

/**
 * Returns a hook that refuses requests of versions of the app that are too old. A request without a version, or
 * with one that cannot be read, is not refused.
 */
export function requireAppVersion (settings: Settings): onRequestHookHandler {
  const oldest = new Map<string, { version: number[], storeUrl: string | undefined }>([
    ['ios', { version: readVersion(settings.MIN_APP_VERSION_IOS) ?? [], storeUrl: settings.IOS_STORE_URL }],
    ['android', { version: readVersion(settings.MIN_APP_VERSION_ANDROID) ?? [], storeUrl: settings.ANDROID_STORE_URL }]
  ])
  const findRefusal = ({ url, method, headers }: FastifyRequest) => {
    const { platform, version } = readApp(headers)
    if (!platform || !version) return
    if (!url.startsWith(BASE_PATH) || url.split('?', 1)[0] === META || method === 'OPTIONS') return
    const supported = oldest.get(platform)
    if (supported && isBefore(version, supported.version)) return new UpgradeRequired(supported.storeUrl)
  }
  return (request, _reply, done) => done(findRefusal(request))
}

/** A missing number is 0. */
function isBefore (version: number[], other: number[]) {
  const place = other.findIndex((number, index) => number !== (version[index] ?? 0))
  return place !== -1 && (version[place] ?? 0) < other[place]!
}
