import { readFileSync } from 'node:fs'
import { Gauge } from 'prom-client'
import { registry } from './metrics.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** The version in the package.json of the repository, and the commit of the image; empty outside of an image. */
export const buildInfo = { version, commit: process.env['TANDEM_COMMIT'] ?? '' }

new Gauge({
  name: 'build_info',
  help: 'The version and commit of the process',
  labelNames: ['version', 'commit'] as const,
  registers: [registry]
}).set(buildInfo, 1)
