import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { screen, UserError } from '@tandem/local-servers/screen.ts'
import { checkDeployed, release } from './release.ts'
import { listTests } from './tests.ts'
import { readWorkTree } from './versions.ts'

const usage =
  `deploy/release.sh <version> [<service> …]   tests, builds, pushes and records it; all processes without a service
deploy/release.sh check [<service> …]       compares the versions in deploy/release/records, as after a roll-back

  REGISTRY              the registry to push to, such as registry.example.org
  PLATFORMS             linux/amd64,linux/arm64
  NODE_IMAGE            the base image
  WITH_FFMPEG=1         the image of social has ffmpeg, for VIDEO_TRANSCODER
  DOCKER_BUILD_NETWORK  the network of the build
  TESTS=passed          CI has run them for this commit`

const root = path.resolve(import.meta.dirname, '../..')
const [command, ...names] = process.argv.slice(2)
const { REGISTRY: registry, TESTS } = process.env
try {
  if (command === 'check') {
    checkDeployed(root, names)
  } else if (command && registry) {
    await release(root, { version: command, names, registry, readWorkTree, test })
  } else {
    screen.error(usage)
    process.exitCode = 2
  }
} catch (error) {
  screen.error(error instanceof UserError ? error.message : String((error as Error).stack))
  process.exitCode = 1
}

async function test (released: string[]) {
  if (TESTS === 'passed') return
  const files = names.length === 0 ? [] : released.flatMap((name) => listTests(root, name))
  const program = path.join(root, 'deploy/local/test.ts')
  const { status } = spawnSync(process.execPath, [program, ...new Set(files)], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new UserError('A test failed. Nothing was released')
}
