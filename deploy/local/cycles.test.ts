import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

// Tests and measurements may import from every folder.
const isSource = (file: string) => !/\.test\.ts$|(^|\/)(test|bench)\//.test(file)

/** The folder of a feature, or the file itself for a file in the root of a unit. */
const roomOf = (unit: string, file: string) => file.slice(unit.length + 1).split('/')[0] ?? ''

interface Import {
  from: string
  to: string
}

/**
 * The imports between the folders of a unit, and between its folders and its root files. Imports of types from a root
 * file are left out: `deps.ts` names the dependencies of every feature. Cycles of single files are found by lint.
 */
function importsBetweenRooms (unit: string, sources: Map<string, string>): Import[] {
  const imports: Import[] = []
  for (const [from, source] of sources) {
    for (const [, isType, target] of source.matchAll(/^(?:import|export) (type )?[^'"]*from '(\.[^']+)'/gm)) {
      const to = path.posix.join(path.posix.dirname(from), target ?? '')
      const rooms = [roomOf(unit, from), roomOf(unit, to)]
      if (rooms[0] === rooms[1] || rooms.every((room) => room.endsWith('.ts'))) continue
      if (isType && rooms[1]?.endsWith('.ts')) continue
      imports.push({ from, to })
    }
  }
  return imports
}

/** The first cycle among the rooms of a unit, as its imports; undefined if there is none. */
function findCycle (unit: string, imports: Import[]): Import[] | undefined {
  const finished = new Set<string>()
  const visit = (room: string, trail: Import[]): Import[] | undefined => {
    const start = trail.findIndex(({ from }) => roomOf(unit, from) === room)
    if (start >= 0) return trail.slice(start)
    if (finished.has(room)) return
    for (const each of imports.filter(({ from }) => roomOf(unit, from) === room)) {
      const cycle = visit(roomOf(unit, each.to), [...trail, each])
      if (cycle) return cycle
    }
    finished.add(room)
  }
  for (const { from } of imports) {
    const cycle = visit(roomOf(unit, from), [])
    if (cycle) return cycle
  }
}

const describeCycle = (cycle: Import[] = []) => cycle.map(({ from, to }) => `${from} imports ${to}`)

t.test('no folders of a service, of the gateway or of a package import each other in a cycle', async (t) => {
  const { stdout } = spawnSync('git', ['ls-files', 'services/*.ts', 'packages/*.ts', 'gateway/*.ts'], {
    cwd: root,
    encoding: 'utf8'
  })
  const files = stdout.split('\n').filter((file) => file && isSource(file))
  t.ok(files.length > 200)
  const unitOf = (file: string) => file.split('/').slice(0, file.startsWith('gateway/') ? 1 : 2).join('/')
  for (const [unit, names] of Map.groupBy(files, unitOf)) {
    const sources = new Map(names.map((name) => [name, readFileSync(path.join(root, name), 'utf8')]))
    t.strictSame(describeCycle(findCycle(unit, importsBetweenRooms(unit, sources))), [], unit)
  }
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
  t.strictSame(describeCycle(findCycle('services/a', importsBetweenRooms('services/a', sources))), [
    'services/a/posts/actions.ts imports services/a/likes/actions.ts',
    'services/a/likes/actions.ts imports services/a/polls/queries.ts',
    'services/a/polls/queries.ts imports services/a/posts/queries.ts'
  ])
})
