import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { listAffected, listReaders, readersByPath } from './affected.ts'

const root = path.resolve(import.meta.dirname, '../..')

t.test('a change selects the tests that read it by its path', (t) => {
  const selects = (file: string, ...tests: string[]) => t.match(new Set(listReaders([file])), new Set(tests), file)
  selects('services/social/migrations/001-posts.sql', 'deploy/kubernetes/migrations.test.ts')
  selects('docker-compose.yml', 'deploy/docker/compose.test.ts', 'deploy/observability/observability.test.ts')
  selects('deploy/kubernetes/base/social/deployment.yaml', 'deploy/kubernetes/manifests.test.ts')
  selects('services/social/config.ts', 'deploy/docker/compose.test.ts', 'deploy/kubernetes/manifests.test.ts')
  selects('deploy/docker/monitoring/prometheus.yml', 'deploy/observability/observability.test.ts')
  selects('services/social/likes/routes.ts', 'deploy/contracts/contracts.test.ts', 'deploy/docker/image-files.test.ts')
  selects('services/social/likes/routes.ts', 'packages/brand-kit/own-name.test.ts')
  selects('deploy/kubernetes/roll-out.sh', 'deploy/release/release.test.ts')
  selects('docs/build-an-app.md', 'deploy/clients/build-an-app.system.test.ts')
  t.notOk(listReaders(['docs/console.md']).includes('deploy/kubernetes/migrations.test.ts'))
  t.end()
})

t.test('a text of the brand affects brand-kit and what depends on it', (t) => {
  const packageOf = (name: string, ...dependencies: string[]) =>
    JSON.stringify({ name, dependencies: Object.fromEntries(dependencies.map((each) => [each, ''])) })
  const folder = t.testdir({
    brand: { 'en.json': '{}' },
    packages: {
      'brand-kit': { 'package.json': packageOf('brand-kit') },
      'queue-kit': { 'package.json': packageOf('queue-kit') }
    },
    services: { social: { 'package.json': packageOf('social', 'brand-kit') } }
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '.')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '--quiet', '--message', 'brand')
  t.strictSame(listAffected(folder).folders, [])
  writeFileSync(path.join(folder, 'brand/en.json'), '{"title":"Hi"}')
  t.strictSame(listAffected(folder).folders.sort(), ['packages/brand-kit', 'services/social'])
  t.end()
})

t.test('every test of deploy that reads the files of others is known, and every known one exists', (t) => {
  for (const file of Object.keys(readersByPath)) t.ok(existsSync(path.join(root, file)), file)
  const reading = globSync('deploy/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
    // The slow ones start the whole system, which `npm test` does.
    .filter((file) => !/\.(serial|waiting)\.test\.ts$/.test(file))
    .filter((file) => /'\.\.\/\.\.'|'\.\.\/\.\.\/services'/.test(readFileSync(path.join(root, file), 'utf8')))
  // These read what their own package contains.
  const own = ['deploy/local/affected.test.ts', 'deploy/local/operator.test.ts']
  t.strictSame(reading.filter((file) => !(file in readersByPath) && !own.includes(file)), [])
  t.end()
})
