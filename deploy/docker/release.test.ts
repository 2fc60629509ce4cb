import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { serviceNames } from '../../gateway/routes.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }
const digestOf = (name: string) => `sha256:${Buffer.from(name).toString('hex')}`

/** A repository with what the script reads, and a docker that writes digests instead of building images. */
async function givenRepository (t: Test, changelog = `## [${version}]\n`) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-release-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [repository, bin] = [path.join(folder, 'tandem'), path.join(folder, 'bin')]
  await mkdir(path.join(repository, 'deploy'), { recursive: true })
  await mkdir(bin)
  for (const file of ['package.json', 'deploy/release.sh', '.gitignore']) {
    await cp(path.join(root, file), path.join(repository, file))
  }
  await writeFile(path.join(repository, 'CHANGELOG.md'), changelog)
  for (const main of ['gateway', ...serviceNames.map((name) => `services/${name}`)]) {
    await mkdir(path.join(repository, main), { recursive: true })
    await writeFile(path.join(repository, main, 'main.ts'), '')
  }
  await writeFile(
    path.join(bin, 'docker'),
    `#!/usr/bin/env bash
echo "$*" >> "${folder}/docker.log"
while [ $# -gt 0 ]; do case $1 in --metadata-file) file=$2;; SERVICE=*) name=\${1#SERVICE=};; esac; shift; done
echo "{ \\"containerimage.digest\\": \\"sha256:$(printf %s "$name" | od -An -tx1 | tr -d ' \\n')\\" }" > "$file"
`
  )
  await chmod(path.join(bin, 'docker'), 0o755)
  const env = { ...process.env, PATH: `${bin}:/usr/bin:/bin`, REGISTRY: 'registry.test' }
  const git = async (...args: string[]) =>
    (await run('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: repository })).stdout.trim()
  await git('init', '-q')
  await git('config', 'user.name', 't')
  await git('config', 'user.email', 't@t')
  await git('add', '-A')
  await git('commit', '-qm', 'first')
  const release = async (given = version) =>
    await run(path.join(repository, 'deploy/release.sh'), [given], { env, cwd: repository })
  return { folder, repository, git, release }
}

t.test('a release builds each image with its version and commit, and names it by digest in an overlay', async (t) => {
  const { folder, repository, git, release } = await givenRepository(t)
  await release()
  const { images, resources } = parse(
    await readFile(path.join(repository, 'deploy/kubernetes/overlays/release/kustomization.yaml'), 'utf8')
  ) as { images: object[], resources: string[] }
  t.strictSame(resources, ['../production'])
  t.strictSame(
    images,
    ['gateway', ...serviceNames.toSorted()].map((name) => ({
      name: `registry.example.org/tandem/${name}`,
      newName: `registry.test/tandem/${name}`,
      digest: digestOf(name)
    }))
  )
  const commit = await git('rev-parse', 'HEAD')
  t.match(
    await readFile(path.join(folder, 'docker.log'), 'utf8'),
    `--build-arg VERSION=${version} --build-arg COMMIT=${commit}`
  )
  t.equal(await git('rev-parse', `v${version}^{commit}`), commit)
})

t.test('a release is refused with uncommitted changes, another version, or without a changelog', async (t) => {
  const { repository, release } = await givenRepository(t)
  await t.rejects(release('9.9.9'), /package.json has another version/)
  await writeFile(path.join(repository, 'new.txt'), '')
  await t.rejects(release(), /not committed/)
  const other = await givenRepository(t, '## [0.0.1]\n')
  await t.rejects(other.release(), /CHANGELOG.md has no section/)
})

t.test('the changelog has a section for the version of package.json, and one for what comes next', async (t) => {
  const headings = (await readFile(path.join(root, 'CHANGELOG.md'), 'utf8')).match(/^## \[[^\]]+\]/gm) ?? []
  t.strictSame(headings.slice(0, 2), ['## [Unreleased]', `## [${version}]`])
})

t.test('the production overlay names the images that a release replaces, in the version of package.json', async (t) => {
  const file = path.join(root, 'deploy/kubernetes/overlays/production/kustomization.yaml')
  const { images } = parse(await readFile(file, 'utf8')) as { images: { newName: string, newTag: string }[] }
  t.strictSame(
    images.map(({ newName }) => newName).sort(),
    ['gateway', ...serviceNames].map((name) => `registry.example.org/tandem/${name}`).sort()
  )
  for (const { newTag } of images) t.equal(newTag, version)
})
