import type { IncomingHttpHeaders } from 'node:http'

const PLATFORMS = ['ios', 'android', 'web'] as const

/** The app that sends a request, as it says in `x-platform` and `x-app-version`. What cannot be read is undefined. */
export function readApp ({ 'x-platform': platform, 'x-app-version': version }: IncomingHttpHeaders) {
  return {
    platform: typeof platform === 'string' ? PLATFORMS.find((each) => each === platform.toLowerCase()) : undefined,
    version: typeof version === 'string' ? readVersion(version) : undefined
  }
}

/** The numbers of a version, without what follows them, such as `-beta` or ` (42)`. */
export function readVersion (text: string) {
  const [numbers] = /^\d{1,6}(\.\d{1,6}){0,3}(?=$|[-+ ])/.exec(text.trim()) ?? []
  return numbers?.split('.').map(Number)
}
