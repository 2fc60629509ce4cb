import { NotFound } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'

/** The links that an app can open by itself, with the code or token in them. */
const APP_PATHS = ['/sign-in', '/verify-email', '/reset-password', '/invite/*']

/**
 * The files by which phones learn that links of this address open in the app: `/.well-known/apple-app-site-association`
 * and `/.well-known/assetlinks.json`. Each is served once its app is set.
 */
export async function serveAppLinks (
  app: FastifyInstance,
  { IOS_APP_IDS, ANDROID_APPS }: Pick<Config, 'IOS_APP_IDS' | 'ANDROID_APPS'>
) {
  const serveJson = (path: string, apps: string[], body: unknown) =>
    app.get(path, { config: { public: true } }, async (_request, reply) => {
      if (apps.length === 0) throw new NotFound()
      // Apple asks for this type, although the name of its file has no extension.
      return reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=3600')
        .send(JSON.stringify(body))
    })

  serveJson('/.well-known/apple-app-site-association', IOS_APP_IDS, {
    applinks: { details: [{ appIDs: IOS_APP_IDS, components: APP_PATHS.map((path) => ({ '/': path })) }] },
    webcredentials: { apps: IOS_APP_IDS }
  })

  const fingerprints = ANDROID_APPS.map((each) => each.split('=') as [name: string, fingerprint: string])
  const androidApps = Map.groupBy(fingerprints, ([name]) => name)
  serveJson(
    '/.well-known/assetlinks.json',
    ANDROID_APPS,
    [...androidApps].map(([name, ofApp]) => ({
      relation: ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds'],
      target: {
        namespace: 'android_app',
        package_name: name,
        sha256_cert_fingerprints: ofApp.map(([, fingerprint]) => fingerprint)
      }
    }))
  )
}
