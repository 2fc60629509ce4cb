import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { showSources } from './stacks.ts'

/** The address of a bundle with a map that has these mappings to the sources. */
function givenBundle (t: Test, mappings: string, sources: string[]) {
  const folder = t.testdir({ 'main.mjs.map': JSON.stringify({ version: 3, sources, mappings }) })
  return { folder, place: `${pathToFileURL(folder).href}/main.mjs:1:9` }
}

t.test('a place in a bundle becomes that in its source', async (t) => {
  const { folder, place } = givenBundle(t, 'AAAA,IACE', ['src/main.ts'])
  t.equal(showSources(`Error\n    at run (${place})`), `Error\n    at run (${folder}/src/main.ts:2:3)`)
})

t.test('a place that no map explains stays as it is', async (t) => {
  const { place } = givenBundle(t, 'A', [])
  for (const each of [place, 'file:///nowhere/main.mjs:1:9', 'file:///a/b.ts:1:2', '']) t.equal(showSources(each), each)
  t.equal(showSources(undefined), undefined)
})
