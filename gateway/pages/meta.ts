import { readBrand } from '@tandem/brand-kit'
import { Data, listErrors, named, NOT_MODIFIED, NotModified } from '@tandem/http-kit'
import { buildInfo } from '@tandem/process-kit'
import { Type } from 'typebox'
import type { FastifyInstance } from 'fastify'
import type { Config, Limit } from '../config.ts'
import { BASE_PATH, DEFAULT_BODY_BYTES, UPLOAD_BODY_BYTES } from '../routes.ts'

const Colours = Type.Object({ accent: Type.String(), onAccent: Type.String(), background: Type.String() })

const Meta = Data(named(
  'Meta',
  Type.Object({
    name: Type.String({ description: 'Of the app' }),
    colours: Type.Object({ light: Colours, dark: Colours }, { description: 'Of the app, such as #0f7a5c' }),
    links: Type.Record(Type.String(), Type.String(), { description: 'Addresses such as `terms` and `privacy`' }),
    supportEmail: Type.String(),
    locales: Type.Array(Type.String(), { description: 'Of the texts; send one as Accept-Language' }),
    features: Type.Record(Type.String(), Type.Boolean(), {
      description: 'Hide what is false: its operations do not exist'
    }),
    apiVersion: Type.String(),
    serverVersion: Type.String(),
    commit: Type.String({ description: 'Of the image; empty outside of one' }),
    minAppVersion: Type.Object({ ios: Type.String(), android: Type.String() }, {
      description: 'Older versions must update: every other operation answers them with 426'
    }),
    limits: Type.Object({
      bodyBytes: Type.Integer({ description: 'The default body limit' }),
      uploadBytes: Type.Integer({
        description: 'The limit of a form with a file; the file itself is limited to 5 MiB'
      }),
      rates: Type.Array(Type.Object({ route: Type.String(), max: Type.Integer(), windowSeconds: Type.Integer() }), {
        description: 'Per client address'
      }),
      product: Type.Record(Type.String(), Type.Integer(), {
        description: 'Of the product, such as `freeSwipesPerDay` and `videoSeconds`'
      })
    })
  })
))

const example = {
  success: true,
  data: {
    name: 'Fitly',
    colours: {
      light: { accent: '#0f7a5c', onAccent: '#ffffff', background: '#f4f6f5' },
      dark: { accent: '#7fe0bd', onAccent: '#10231c', background: '#101412' }
    },
    links: {},
    supportEmail: 'help@fitly.example',
    locales: ['en', 'es'],
    features: {
      fitmatch: true,
      stories: false,
      polls: true,
      activities: true,
      fasting: true,
      dashboardPrograms: true,
      chatImages: true,
      video: true
    },
    apiVersion: 'v1',
    serverVersion: '1.0.0',
    commit: '3f2a9c1',
    minAppVersion: { ios: '1.0.0', android: '1.0.0' },
    limits: {
      bodyBytes: DEFAULT_BODY_BYTES,
      uploadBytes: UPLOAD_BODY_BYTES,
      rates: [{ route: 'POST /auth/login', max: 5, windowSeconds: 60 }],
      product: {
        freeSwipesPerDay: 10,
        storiesPerDay: 10,
        storyVideoSeconds: 60,
        videoSeconds: 60,
        videoMegabytes: 50,
        usernameMinCharacters: 3,
        usernameMaxCharacters: 30,
        profilePhotos: 6,
        fitmatchVenues: 5,
        minimumAge: 18
      }
    }
  }
}

/** GET /meta in the OpenAPI document. */
export const describeMeta = () => ({
  '/meta': {
    get: {
      operationId: 'getMeta',
      summary: 'Read API versions and limits',
      description: 'An app older than `minAppVersion` must ask the person to update it.',
      'x-extension': true,
      security: [],
      'x-errors': listErrors({ method: 'GET', config: { public: true } }),
      responses: {
        200: { description: 'Versions and limits', content: { 'application/json': { schema: Meta, example } } },
        304: { description: NOT_MODIFIED }
      }
    }
  }
})

type Options = Pick<Config, 'SERVER_VERSION' | 'MIN_APP_VERSION_IOS' | 'MIN_APP_VERSION_ANDROID'> & {
  limits: Map<string, Limit[]>
}

/** GET /meta: the first request of an app. */
export async function serveMeta (app: FastifyInstance, { limits, ...config }: Options) {
  const { brand } = readBrand()
  const response = {
    success: true,
    data: {
      name: brand.name,
      colours: brand.colours,
      links: brand.links,
      supportEmail: brand.supportEmail,
      locales: brand.locales,
      features: brand.features,
      apiVersion: 'v1',
      serverVersion: config.SERVER_VERSION,
      commit: buildInfo.commit,
      minAppVersion: { ios: config.MIN_APP_VERSION_IOS, android: config.MIN_APP_VERSION_ANDROID },
      limits: {
        bodyBytes: DEFAULT_BODY_BYTES,
        uploadBytes: UPLOAD_BODY_BYTES,
        rates: [...limits].flatMap(([route, each]) =>
          each.map(({ max, windowMs }) => ({ route, max, windowSeconds: windowMs / 1_000 }))
        ),
        product: brand.limits
      }
    }
  }
  app.get(
    `${BASE_PATH}/meta`,
    { config: { public: true }, schema: { response: { 304: NotModified } } },
    async (_request, reply) => reply.header('cache-control', 'public, max-age=60').send(response)
  )
}
