import t from 'tap'
import { ConfigError, readConfig } from '@tandem/process-kit'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { createRootKey } from '@tandem/http-kit/testing'
import { Config, createStores } from './config.ts'

const needed = {
  PORT: '0',
  IDENTITY_ROOT_PUBLIC_KEYS: createRootKey().publicText,
  DATABASE_URL: 'postgres://a/b',
  NATS_URL: 'nats://a',
  CDN_URL: 'https://cdn.example',
  MEDIA_SIGNING_KEY: mediaSigningKey
}
const storesWith = (env: NodeJS.ProcessEnv) => createStores(readConfig(Config, { ...needed, ...env }))
const s3 = { S3_ENDPOINT: 'http://s3.example', S3_BUCKET: 'media', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' }

t.test('selfies are never stored where media are served from', async (t) => {
  t.ok(storesWith({ MEDIA_DIR: '/data/media' }))
  t.ok(storesWith({ MEDIA_DIR: '/data/media', SELFIE_DIR: '/data/media-selfies' }))
  t.ok(storesWith({ ...s3, S3_PRIVATE_BUCKET: 'selfies' }))
  for (
    const env of [
      {},
      { MEDIA_DIR: '/' },
      { MEDIA_DIR: '/data/selfies' },
      { MEDIA_DIR: '/data/media', SELFIE_DIR: '/data/media' },
      { MEDIA_DIR: '/data/media', SELFIE_DIR: '/data/media/a/b' },
      { MEDIA_DIR: '/data/media', SELFIE_DIR: '/data' },
      s3,
      { ...s3, S3_PRIVATE_BUCKET: 'media' },
      { S3_ENDPOINT: 'http://s3.example', S3_PRIVATE_BUCKET: 'selfies' },
      // Without keys, as compose has them until an operator writes them: their files are empty.
      { S3_ENDPOINT: 'http://s3.example', S3_BUCKET: 'media', S3_PRIVATE_BUCKET: 'selfies', MEDIA_DIR: '/data/media' }
    ]
  ) t.throws(() => storesWith(env), ConfigError, JSON.stringify(env))
  t.match(readConfig(Config, needed), { MEDIA_URLS_ONLY_OWN: false })
})
