import t from 'tap'
import { Type } from 'typebox'
import { ConfigError, List, readConfig, ProcessEnvironment, Url, Urls } from './config.ts'

const schema = Type.Object({
  ...ProcessEnvironment,
  NATS_URL: Url(),
  SECRET: Type.String({ pattern: '^[0-9a-f]{64}$', description: '32 bytes' }),
  CORS_ORIGINS: List()
})
const valid = { PORT: '3001', NATS_URL: 'nats://127.0.0.1:4222', SECRET: 'ab'.repeat(32) }

t.test('variables are converted to the types of the schema', async (t) => {
  const config = readConfig(schema, { ...valid, TRUST_PROXY: '10.0.0.0/8, ::1', UNRELATED: 'x' })
  t.strictSame(config, {
    HOST: '127.0.0.1',
    PORT: 3001,
    LOG_LEVEL: 'info',
    MAX_EVENT_LOOP_DELAY_MS: 1_000,
    TRUST_PROXY: ['10.0.0.0/8', '::1'],
    NATS_URL: valid.NATS_URL,
    SECRET: valid.SECRET,
    CORS_ORIGINS: []
  })
})

t.test('an empty variable counts as unset', async (t) => {
  const config = readConfig(schema, { ...valid, HOST: '', METRICS_PORT: ' ', TRUST_PROXY: '' })
  t.equal(config.HOST, '127.0.0.1')
  t.equal(config.METRICS_PORT, undefined)
  t.strictSame(config.TRUST_PROXY, [])
})

t.test('the error names every invalid variable, one per line and without its value', async (t) => {
  const invalid = {
    PORT: 'eighty',
    NATS_URL: 'nowhere',
    SECRET: 'hunter2',
    LOG_LEVEL: 'loud',
    TRUST_PROXY: '10.0.0.0/99'
  }
  t.throws(
    () => readConfig(schema, invalid),
    new ConfigError([
      'PORT must be an integer',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      'TRUST_PROXY must be IP addresses or CIDR ranges, separated by commas',
      'NATS_URL must be a URL such as scheme://host:port',
      'SECRET must match ^[0-9a-f]{64}$ (32 bytes)'
    ].join('\n'))
  )
  t.throws(() => readConfig(schema, {}), new ConfigError('PORT is missing\nNATS_URL is missing\nSECRET is missing'))
})

t.test('a URL can have several hosts where that is allowed', async (t) => {
  const list = Type.Object({ NATS_URL: Urls() })
  for (
    const url of ['nats://a:1', 'nats://user:secret@a:4222,b:4222', 'nats://a:1,nats://b:2', 'postgres://u@a,b:2/c?d=e']
  ) {
    t.equal(readConfig(list, { NATS_URL: url }).NATS_URL, url)
  }
  for (const url of ['a,b', 'nats://a:1,b:x']) t.throws(() => readConfig(list, { NATS_URL: url }), /must be a URL/)
  t.throws(() => readConfig(Type.Object({ SMTP_URL: Url() }), { SMTP_URL: 'smtp://a:1,b:2' }), /must be a URL/)
})
