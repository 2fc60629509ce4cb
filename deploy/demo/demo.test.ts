import sharp from 'sharp'
import t from 'tap'
import { drawFace } from './faces.ts'
import { describeHistory } from './history.ts'
import { describePeople } from './people.ts'
import { drawScene, sceneNames } from './scenes.ts'

const now = new Date('2026-03-01T12:00:00Z')

t.test('the same seed makes the same people, faces and workouts, another one makes others', async (t) => {
  const [person] = describePeople('one')
  const describe = {
    people: (seed: string) => describePeople(seed),
    faces: (seed: string) => drawFace(seed, 'FEMALE'),
    scenes: (seed: string) => drawScene(seed, 'run'),
    history: (seed: string) => describeHistory(seed, person!, { isMain: false, now })
  }
  for (const [name, make] of Object.entries(describe)) {
    // As text: comparing large structures takes tap minutes.
    const [first, again, other] = ['one', 'one', 'two'].map((seed) => JSON.stringify(make(seed)))
    t.ok(first === again, `${name} of one seed`)
    t.ok(first !== other, `${name} of two seeds`)
  }
})

t.test('there are sixty people with addresses and usernames of their own', async (t) => {
  const people = describePeople('one')
  t.equal(people.length, 60)
  for (const field of ['email', 'username'] as const) {
    t.equal(new Set(people.map((person) => person[field])).size, 60)
  }
  t.notOk(people.some(({ name }) => name.startsWith(' ')), 'everybody has a first name')
})

t.test('no two faces are the same', async (t) => {
  t.equal(new Set(describePeople('one').map(({ name, look }) => drawFace(name, look))).size, 60)
})

t.test('every scene and every portrait is a picture that sharp can read', async (t) => {
  for (const scene of sceneNames) {
    const { width, height } = await sharp(Buffer.from(drawScene('one', scene, { width: 720, height: 1280 }))).metadata()
    t.same({ width, height }, { width: 720, height: 1280 }, scene)
  }
  t.match(await sharp(Buffer.from(drawFace('one', 'OTHER', 'beach'))).metadata(), { width: 600, height: 600 })
})

t.test('a history covers eight weeks, never the future, and the main people have logged every day', async (t) => {
  const [person] = describePeople('one')
  const logs = describeHistory('one', person!, { isMain: true, now })
  const days = new Set(logs.map(({ at }) => at.slice(0, 10)))
  t.equal(days.size, 56)
  t.notOk(logs.some(({ at }) => new Date(at) > now))
  t.equal(new Set(logs.map(({ clientId }) => clientId)).size, logs.length)
})
