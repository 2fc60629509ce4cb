import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { git, listFiles, readFileOf } from '@tandem/local-servers/git.ts'
import { screen, UserError } from '@tandem/local-servers/screen.ts'
import { serviceNames } from '../../gateway/routes.ts'
import type { OpenapiDocument } from '../../gateway/pages/join-documents.ts'
import { ownedPaths } from '../contracts/baseline.ts'
import { compareDocuments, documentFile } from '../contracts/openapi.ts'
import { readRelease, recordFile, type Release } from '../contracts/records.ts'
import { buildImage } from './image.ts'
import { findMisfits, type Version } from './neighbours.ts'
import { readReleased } from './versions.ts'

export const processNames = ['gateway', ...serviceNames]

interface Options {
  version: string
  /** Of one service or several; all processes if it is empty. */
  names: string[]
  registry: string
  /** What the work tree would release. */
  readWorkTree: (root: string, names: string[], version: string) => Promise<Version[]>
  /** Runs the tests of these processes. @throws if one fails */
  test: (names: string[]) => Promise<void>
}

/** Tests, builds, pushes and records a version of all processes, or of the named ones. */
export async function release (root: string, { version, names, registry, readWorkTree, test }: Options) {
  const isWhole = names.length === 0
  const released = isWhole ? processNames : names
  checkVersion(root, version, names)
  const commit = git(root, 'rev-parse', 'HEAD')?.trim() ?? ''
  const versions = await readWorkTree(root, released, version)
  checkNeighbours(root, versions)
  await test(released)
  // All images before the first record: after a failed build the work tree is as before, and the release can be repeated.
  const records = versions.map(({ name, consumes, calls, provides, prefixes }): Release => {
    const image = `${registry}/tandem/${name}`
    const digest = buildImage(root, { name, image, version, commit })
    return { name, version, commit, image, digest, consumes, calls, provides, prefixes }
  })
  for (const record of records) {
    const file = path.join(root, recordFile(record.name))
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`)
  }
  const title = isWhole ? `Tandem ${version}` : `${names.join(', ')} ${version}`
  const tags = [...released.map((name) => `${name}-v${version}`), ...isWhole ? [`v${version}`] : []]
  run(root, 'add', ...released.map(recordFile))
  run(root, 'commit', '--quiet', '--message', `Release ${title}`)
  for (const tag of tags) run(root, 'tag', '--annotate', tag, '--message', title)
  screen.done(`released ${title}. Roll it out: deploy/kubernetes/roll-out.sh release ${names.join(' ')}`.trimEnd())
  screen.line(`  Publish it, and merge the commit into main: git push origin HEAD ${tags.join(' ')}`)
}

function checkVersion (root: string, version: string, names: string[]) {
  const unknown = names.find((name) => !processNames.includes(name))
  if (unknown) throw new UserError(`There is no process ${unknown}: name one of ${processNames.join(', ')}`)
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new UserError(`${version} is no version such as 1.2.0`)
  if (git(root, 'status', '--porcelain') !== '') throw new UserError('The work tree has changes that are not committed')
  const packageVersion =
    (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }).version
  if (names.length === 0 && packageVersion !== version) {
    throw new UserError(`package.json has another version than ${version}`)
  }
  const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')
  for (const section of names.length === 0 ? [version] : names.map((name) => `${name} ${version}`)) {
    if (!changelog.includes(`\n## [${section}]`)) throw new UserError(`CHANGELOG.md has no section [${section}]`)
  }
  for (const name of names.length === 0 ? processNames : names) {
    if (git(root, 'rev-parse', '--quiet', '--verify', `refs/tags/${name}-v${version}`)) {
      throw new UserError(`${name} ${version} was released already`)
    }
  }
}

/** @throws if one of `versions` breaks a deployed neighbour, or clients of its last release */
function checkNeighbours (root: string, versions: Version[]) {
  const released = versions.map(({ name }) => name)
  const deployed = listDeployed(root)
  const neighbours = deployed.filter(({ name }) => !released.includes(name)).map((each) => readReleased(root, each))
  const { problems, remarks } = findMisfits([...versions, ...neighbours], released)
  const before = deployed.filter(({ name }) => released.includes(name))
  refuse([...problems, ...before.flatMap((each) => comparePast(root, each))])
  for (const remark of remarks) screen.warn(remark)
  for (const { name, consumes, calls } of versions) {
    const last = before.find((each) => each.name === name)
    const added = last
      ? [...consumes, ...calls].filter((each) => ![...last.consumes, ...last.calls].includes(each))
      : []
    if (added.length > 0) {
      screen.warn(`${name} needs new permissions on NATS for ${added.join(', ')}: restart NATS first`)
    }
  }
  if (neighbours.length > 0) {
    screen.done(`fits ${neighbours.map(({ name, version }) => `${name} ${version}`).join(', ')}`)
  }
}

/** What a client of the last release, or its database, would miss. */
function comparePast (root: string, { name, version, commit }: Release): string[] {
  const isOwn = (owner: string) => owner === name
  const before = ownedPaths(JSON.parse(readFileOf(root, commit, documentFile)) as OpenapiDocument, isOwn)
  const now = JSON.parse(readFileSync(path.join(root, documentFile), 'utf8')) as OpenapiDocument
  // Those of kits run in the schema of each service.
  const migrations = [`services/${name}/migrations`, 'packages/*/migrations/*']
  const edited = listFiles(root, 'diff', '--name-only', '--diff-filter=MDR', commit, '--', ...migrations)
  return [
    ...compareDocuments(before, now).map((change) => `The API of ${name} ${version}: ${change}.`),
    ...edited.map((file) => `${file} was released with ${name} ${version}: add another migration.`)
  ]
}

/** Compares the deployed versions with each other, as after a roll-back of `names`: all of them without a name. */
export function checkDeployed (root: string, names: string[]) {
  const deployed = listDeployed(root)
  if (deployed.length === 0) throw new UserError('Nothing was released: deploy/release/records has no record')
  const unknown = names.find((name) => !deployed.some((each) => each.name === name))
  if (unknown) {
    throw new UserError(`${unknown} was never released: name one of ${deployed.map(({ name }) => name).join(', ')}`)
  }
  const versions = deployed.map((each) => readReleased(root, each))
  const { problems, remarks } = findMisfits(versions, names.length > 0 ? names : versions.map(({ name }) => name))
  refuse(problems)
  for (const remark of remarks) screen.warn(remark)
  screen.done(`these fit each other: ${versions.map(({ name, version }) => `${name} ${version}`).join(', ')}`)
}

const listDeployed = (root: string) => processNames.flatMap((name) => readRelease(root, name) ?? [])

function refuse (problems: string[]) {
  if (problems.length === 0) return
  for (const problem of problems) screen.error(problem)
  throw new UserError('It would break what is deployed. Nothing was released')
}

function run (root: string, ...args: string[]) {
  if (git(root, ...args) === undefined) throw new UserError(`git ${args.join(' ')} failed`)
}
