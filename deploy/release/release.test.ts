import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { serviceNames } from '../../gateway/routes.ts'
import type { Release } from '../contracts/records.ts'
import type { Version } from './neighbours.ts'
import { checkDeployed, processNames, release } from './release.ts'
import { listTests } from './tests.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
const LIKED = 'social.post.liked.v1'
const liked = { data: { fields: { '': { types: ['object'] } }, sample: '' } }
const paths = { '/feed': { get: { responses: { 200: { content: {} } } } } }

/** A repository with what a release reads, and a docker that reports digests instead of building images. */
function givenRepository (t: Test) {
  const folder = t.testdir({ bin: {}, tandem: {} })
  const repository = path.join(folder, 'tandem')
  const write = (file: string, content: string | object) => {
    mkdirSync(path.dirname(path.join(repository, file)), { recursive: true })
    writeFileSync(path.join(repository, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  write('package.json', { version })
  write('CHANGELOG.md', `# Changelog\n\n## [social 9.0.0]\n\n## [${version}]\n`)
  write('packages/contracts/published.json', { [LIKED]: liked })
  write('gateway/openapi.json', { paths })
  write('services/social/migrations/001-posts.sql', 'create table posts ()')
  write('packages/mail-kit/migrations/001-mails.sql', 'create table mails ()')
  for (const file of ['deploy/kubernetes/roll-out.sh', 'deploy/kubernetes/overlays/production/kustomization.yaml']) {
    mkdirSync(path.dirname(path.join(repository, file)), { recursive: true })
    cpSync(path.join(root, file), path.join(repository, file))
  }
  const docker = path.join(folder, 'bin/docker')
  writeFileSync(
    docker,
    `#!/usr/bin/env bash
echo "$*" >> "${folder}/docker.log"
while [ $# -gt 0 ]; do case $1 in --metadata-file) file=$2;; SERVICE=*) name=\${1#SERVICE=};; esac; shift; done
[ -e "${folder}/fails" ] && [ "$name" = "$(cat "${folder}/fails")" ] && exit 1
[ -z "$file" ] || echo "{ \\"containerimage.digest\\": \\"sha256:$name\\" }" > "$file"
`
  )
  chmodSync(docker, 0o755)
  const before = process.env['PATH']
  process.env['PATH'] = `${path.dirname(docker)}:/usr/bin:/bin`
  t.teardown(() => {
    process.env['PATH'] = before
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch', 'main')
  git('config', 'user.name', 't')
  git('config', 'user.email', 't@t')
  const commit = () => {
    git('add', '-A')
    git('commit', '--quiet', '--message', 'change')
  }
  commit()
  const tested: string[][] = []
  const run = async (given: string, names: string[] = []) =>
    await release(repository, {
      version: given,
      names,
      registry: 'registry.test',
      readWorkTree: async () => (names.length > 0 ? names : processNames).map((name) => describe(name, given)),
      test: async (all) => {
        tested.push(all)
      }
    })
  const record = (name: string) =>
    JSON.parse(readFileSync(path.join(repository, `deploy/release/records/${name}.json`), 'utf8')) as Release
  const builds = () =>
    readFileSync(path.join(folder, 'docker.log'), 'utf8').split('\n').filter((line) => line.startsWith('buildx build'))
  return { folder, repository, git, commit, write, run, record, builds, tested }
}

const describe = (name: string, version: string): Version => ({
  name,
  version,
  consumes: name === 'notification' ? [LIKED] : [],
  calls: [],
  provides: [],
  published: { [LIKED]: liked },
  paths: []
})

t.test('a release builds, records and tags every process', async (t) => {
  const { git, run, record, builds, tested } = givenRepository(t)
  const commit = git('rev-parse', 'HEAD')
  await run(version)
  t.strictSame(tested, [processNames])
  t.equal(builds().length, processNames.length)
  t.match(builds()[0], `VERSION=${version} --build-arg COMMIT=${commit}`)
  t.match(record('social'), { version, commit, image: 'registry.test/tandem/social', digest: 'sha256:social' })
  t.equal(git('rev-parse', `v${version}^{commit}`), git('rev-parse', 'HEAD'))
  t.equal(git('status', '--porcelain'), '')
})

t.test('only the image of social gets ffmpeg, and only on request', async (t) => {
  const { run, builds } = givenRepository(t)
  process.env['WITH_FFMPEG'] = '1'
  t.teardown(() => {
    delete process.env['WITH_FFMPEG']
  })
  await run(version)
  const withFfmpeg = () => builds().filter((build) => build.includes('--build-arg WITH_FFMPEG=1'))
  t.match(withFfmpeg(), [/SERVICE=social /])
  t.equal(withFfmpeg().length, 1)
  delete process.env['WITH_FFMPEG']
  await run('9.0.0', ['social'])
  t.equal(withFfmpeg().length, 1)
})

t.test('if an image cannot be built, nothing is recorded, and the release can be repeated', async (t) => {
  const { folder, git, run } = givenRepository(t)
  writeFileSync(path.join(folder, 'fails'), 'profile')
  await t.rejects(run(version), /docker buildx build .* failed/)
  t.equal(git('status', '--porcelain'), '')
  rmSync(path.join(folder, 'fails'))
  await run(version)
})

t.test('a service is released alone, with a version of its own', async (t) => {
  const { git, commit, write, run, record, builds, tested } = givenRepository(t)
  await run(version)
  write('services/social/app.ts', '')
  commit()
  await run('9.0.0', ['social'])
  t.equal(builds().length, processNames.length + 1)
  t.strictSame(tested[1], ['social'])
  t.match(record('social'), { version: '9.0.0', commit: git('rev-parse', 'HEAD~1') })
  t.equal(record('profile').version, version)
  t.equal(git('rev-parse', 'social-v9.0.0^{commit}'), git('rev-parse', 'HEAD'))
  t.notOk(git('tag', '--list', 'v9.0.0'))
  await t.rejects(run('9.0.0', ['social']), /released already/)
})

t.test('a release is refused if it breaks a deployed neighbour, its clients or its database', async (t) => {
  const { repository, commit, write, run, builds } = givenRepository(t)
  await run(version)
  const refused = async () => {
    commit()
    await t.rejects(run('9.0.0', ['social']), /would break what is deployed/)
  }
  write('gateway/openapi.json', { paths: {} })
  await refused()
  write('gateway/openapi.json', { paths })
  write('services/social/migrations/001-posts.sql', 'create table posts (id uuid)')
  await refused()
  write('services/social/migrations/001-posts.sql', 'create table posts ()')
  write('packages/mail-kit/migrations/001-mails.sql', 'create table mails (id uuid)')
  await refused()
  write('packages/mail-kit/migrations/001-mails.sql', 'create table mails ()')
  commit()
  await t.rejects(
    release(repository, {
      version: '9.0.0',
      names: ['social'],
      registry: 'registry.test',
      readWorkTree: async () => [{ ...describe('social', '9.0.0'), published: {} }],
      test: async () => {}
    }),
    /would break/
  )
  t.equal(builds().length, processNames.length, 'nothing was built')
  await run('9.0.0', ['social'])
})

t.test('a roll-back takes the older record, which is compared with what the others run', async (t) => {
  const { repository, git, commit, write, run, record } = givenRepository(t)
  await run(version)
  write('services/social/app.ts', '')
  commit()
  await run('9.0.0', ['social'])
  git('checkout', `social-v${version}`, '--', 'deploy/release/records/social.json')
  t.equal(record('social').version, version)
  checkDeployed(repository, ['social'])
})

t.test('what was never released is not said to fit', async (t) => {
  const { repository, run } = givenRepository(t)
  t.throws(() => checkDeployed(repository, []), /Nothing was released/)
  await run(version)
  t.throws(() => checkDeployed(repository, ['sozial']), /sozial was never released/)
})

t.test('the overlay of a release names every image by its digest', async (t) => {
  const { folder, repository, run } = givenRepository(t)
  await run(version)
  writeFileSync(path.join(folder, 'bin/kubectl'), '#!/bin/sh\nexit 0\n')
  chmodSync(path.join(folder, 'bin/kubectl'), 0o755)
  execFileSync(path.join(repository, 'deploy/kubernetes/roll-out.sh'), ['release', 'social'])
  const { images, resources } = parse(
    readFileSync(path.join(repository, 'deploy/kubernetes/overlays/release/kustomization.yaml'), 'utf8')
  ) as { images: object[], resources: string[] }
  t.strictSame(resources, ['../production'])
  t.strictSame(
    images,
    ['gateway', ...serviceNames].sort().map((name) => ({
      name: `registry.example.org/tandem/${name}`,
      newName: `registry.test/tandem/${name}`,
      digest: `sha256:${name}`
    }))
  )
})

t.test('a release is rolled out in the overlay that the cluster has', async (t) => {
  const { folder, repository, run } = givenRepository(t)
  await run(version)
  writeFileSync(path.join(folder, 'bin/kubectl'), '#!/bin/sh\nexit 0\n')
  chmodSync(path.join(folder, 'bin/kubectl'), 0o755)
  execFileSync(path.join(repository, 'deploy/kubernetes/roll-out.sh'), ['release'], {
    env: { ...process.env, OVERLAY: 'production-ingress' }
  })
  const { resources } = parse(
    readFileSync(path.join(repository, 'deploy/kubernetes/overlays/release/kustomization.yaml'), 'utf8')
  ) as { resources: string[] }
  t.strictSame(resources, ['../production-ingress'])
})

t.test('a release is refused with uncommitted changes, another version, or without a changelog', async (t) => {
  const { write, commit, run } = givenRepository(t)
  await t.rejects(run('9.9.9'), /package.json has another version/)
  await t.rejects(run('latest', ['social']), /no version/)
  await t.rejects(run(version, ['sozial']), /no process sozial/)
  await t.rejects(run('9.0.1', ['social']), /CHANGELOG.md has no section \[social 9\.0\.1\]/)
  write('new.txt', '')
  await t.rejects(run(version), /not committed/)
  commit()
})

t.test('a service is tested with what reads it, and with the packages that changed since its last release', (t) => {
  const tests = listTests(root, 'social')
  t.match(new Set(tests), new Set(['services/social', 'deploy/contracts/contracts.test.ts']))
  t.match(new Set(tests), new Set(['deploy/kubernetes/migrations.test.ts', 'deploy/docker/compose.test.ts']))
  t.notOk(tests.includes('services/profile'))
  t.notOk(existsSync(path.join(root, 'deploy/release/records/social.json')), 'it was never released')
  t.end()
})

t.test('a release is refused if git does not have the commit of the last one', async (t) => {
  const { repository, write, run, record } = givenRepository(t)
  await run(version)
  write('deploy/release/records/social.json', { ...record('social'), commit: '0'.repeat(40) })
  t.throws(() => listTests(repository, 'social'), /git diff .* failed/)
})

t.test('the changelog has a section for the version of package.json, and one for what comes next', (t) => {
  const headings = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').match(/^## \[[\w.]+\]/gm) ?? []
  t.strictSame(headings.slice(0, 2), ['## [Unreleased]', `## [${version}]`])
  t.end()
})

t.test('the production overlay names the images that a release replaces, in the version of package.json', (t) => {
  const read = (overlay: string) => {
    const file = path.join(root, 'deploy/kubernetes/overlays', overlay, 'kustomization.yaml')
    return (parse(readFileSync(file, 'utf8')) as { images: { newName: string, newTag: string }[] }).images
  }
  const images = read('production')
  t.strictSame(
    images.map(({ newName }) => newName).sort(),
    processNames.map((name) => `registry.example.org/tandem/${name}`).sort()
  )
  for (const { newTag } of images) t.equal(newTag, version)
  // They add a process with the image of the gateway.
  for (const overlay of ['production-console', 'production-realtime']) {
    t.strictSame(read(overlay), images.filter(({ newName }) => newName.endsWith('/gateway')), overlay)
  }
  t.end()
})
