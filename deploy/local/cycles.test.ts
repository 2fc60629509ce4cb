import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

// Tests and measurements may import from every folder. Nobody reads generated files.
const isSource = (file: string) => !/\.(test|gen)\.ts$|(^|\/)test\/|^services\/\w+\/bench\//.test(file)

/** The folder of a feature, or the file itself for a file in the root of a unit. */
const roomOf = (unit: string, file: string) => file.slice(unit.length + 1).split('/')[0] ?? ''

interface Import {
  from: string
  to: string
}

/** The imports by relative path in some files. */
function importsOf (sources: Map<string, string>): (Import & { isType: boolean })[] {
  return [...sources].flatMap(([from, source]) =>
    [...source.matchAll(/^(?:import|export) (type )?[^'"]*from '(\.[^']+)'/gm)].map(([, type, target = '']) => ({
      from,
      to: path.posix.join(path.posix.dirname(from), target),
      isType: type !== undefined
    }))
  )
}

/**
 * The imports between the folders of a unit, and between its folders and its root files. Imports of types from a root
 * file are left out: `deps.ts` names the dependencies of every feature.
 */
function importsBetweenRooms (unit: string, sources: Map<string, string>): Import[] {
  return importsOf(sources).filter(({ from, to, isType }) => {
    const rooms = [roomOf(unit, from), roomOf(unit, to)]
    if (rooms[0] === rooms[1] || rooms.every((room) => room.endsWith('.ts'))) return false
    return !(isType && rooms[1]?.endsWith('.ts'))
  })
}

/** The first cycle among the rooms that `toRoom` names for files, as its imports; undefined if there is none. */
function findCycle (imports: Import[], toRoom: (file: string) => string): Import[] | undefined {
  const finished = new Set<string>()
  const byRoom = Map.groupBy(imports, ({ from }) => toRoom(from))
  const visit = (room: string, trail: Import[]): Import[] | undefined => {
    const start = trail.findIndex(({ from }) => toRoom(from) === room)
    if (start >= 0) return trail.slice(start)
    if (finished.has(room)) return
    for (const each of byRoom.get(room) ?? []) {
      const cycle = visit(toRoom(each.to), [...trail, each])
      if (cycle) return cycle
    }
    finished.add(room)
  }
  for (const room of byRoom.keys()) {
    const cycle = visit(room, [])
    if (cycle) return cycle
  }
}

const describeCycle = (cycle: Import[] = []) => cycle.map(({ from, to }) => `${from} imports ${to}`)

function readSources (...patterns: string[]) {
  const { stdout } = spawnSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
  const files = stdout.split('\n').filter((file) => file && isSource(file))
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
}

t.test('no folders of a service, of the gateway or of a package import each other in a cycle', async (t) => {
  const sources = [...readSources('services/*.ts', 'packages/*.ts', 'gateway/*.ts')]
  t.ok(sources.length > 200)
  const unitOf = (file: string) => file.split('/').slice(0, file.startsWith('gateway/') ? 1 : 2).join('/')
  for (const [unit, own] of Map.groupBy(sources, ([file]) => unitOf(file))) {
    const cycle = findCycle(importsBetweenRooms(unit, new Map(own)), (file) => roomOf(unit, file))
    t.strictSame(describeCycle(cycle), [], unit)
  }
})

t.test('no files import each other in a cycle, not even for a type', async (t) => {
  const sources = readSources('services/*.ts', 'packages/*.ts', 'gateway/*.ts', 'deploy/*.ts')
  const cycle = findCycle(importsOf(sources).filter(({ to }) => sources.has(to)), (file) => file)
  t.strictSame(describeCycle(cycle), [])
})

t.test('a cycle is reported with the imports that form it', async (t) => {
  const sources = new Map([
    ['services/a/app.ts', "import { x } from './posts/routes.ts'"],
    ['services/a/deps.ts', "import type { x } from './posts/actions.ts'"],
    ['services/a/feed/queries.ts', "import { x } from '../posts/queries.ts'"],
    [
      'services/a/posts/actions.ts',
      "import type { Deps } from '../deps.ts'\nimport {\n  x\n} from '../likes/actions.ts'"
    ],
    ['services/a/posts/queries.ts', "import { x } from './actions.ts'"],
    ['services/a/likes/actions.ts', "import type { X } from '../polls/queries.ts'"],
    ['services/a/polls/queries.ts', "import { x } from '../posts/queries.ts'"]
  ])
  t.strictSame(
    describeCycle(findCycle(importsBetweenRooms('services/a', sources), (file) => roomOf('services/a', file))),
    [
      'services/a/posts/actions.ts imports services/a/likes/actions.ts',
      'services/a/likes/actions.ts imports services/a/polls/queries.ts',
      'services/a/polls/queries.ts imports services/a/posts/queries.ts'
    ]
  )
})
