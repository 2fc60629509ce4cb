import t from 'tap'
import { generatedFolder, generateSdk, readFolder } from './generate.ts'

t.test('the SDK is generated from the recorded API document', async (t) => {
  const [committed, generated] = [readFolder(generatedFolder), await generateSdk()]
  t.same([...committed.keys()].sort(), [...generated.keys()].sort())
  for (const [name, content] of generated) {
    t.ok(committed.get(name) === content, `${name}: run "npm run contracts" and commit what it writes`)
  }
})
