import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { BUILT_IN } from './brand.ts'
import { checkBrand, createTexts, loadBrand, loadExerciseNames } from './index.ts'
import { findTextFaults } from './messages.ts'

/** A folder with `files`: texts as they are, everything else as JSON. */
async function givenFolder (t: Test, files: Record<string, unknown>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'brand-'))
  t.teardown(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

t.test('the built-in brand is complete, and its texts are without faults', async (t) => {
  const brand = loadBrand()
  const english = brand.texts['en']!
  for (const locale of ['en', 'id', 'es']) {
    const texts = JSON.parse(await readFile(path.join(BUILT_IN, `texts/${locale}.json`), 'utf8')) as Record<string,
      string>
    t.strictSame(findTextFaults({ file: locale, locale, texts, english }), [])
    t.strictSame(Object.keys(texts), Object.keys(english), `${locale} has every text, in the same order`)
  }
})

t.test('what a folder does not have, the built-in brand has', async (t) => {
  const folder = await givenFolder(t, {
    'brand.json': { name: 'Fitly', colours: { light: { accent: '#112233' } }, locales: ['en', 'fr'] },
    'texts/fr.json': { 'mails.reset.title': 'Bonjour', 'options.sport.curling': 'Curling' },
    'options/sport.json': [{ id: 'curling', icon: '🥌', category: 'outdoor', sortOrder: 1 }]
  })
  const brand = loadBrand(folder)
  t.match(brand, { name: 'Fitly', supportEmail: 'hello@tandem.example', colours: { light: { onAccent: '#ffffff' } } })
  t.strictSame(brand.options.sport.map(({ id }) => id), ['curling'])
  t.equal(brand.options.motivation.length, 4)
  t.ok(checkBrand(brand).includes('texts/fr.json: mails.reset.subject is missing'))

  const missing: object[] = []
  const texts = createTexts(brand, (each) => missing.push(each)).of('fr-CA')
  t.equal(texts.locale, 'fr')
  t.equal(texts.format('mails.reset.title'), 'Bonjour')
  for (const _ of [1, 2]) t.equal(texts.format('mails.reset.subject'), 'Choose a new password for Fitly')
  t.strictSame(missing, [{ key: 'mails.reset.subject', locale: 'fr', usedLocale: 'en' }], 'reported once')
  t.equal(texts.find('options.sport.curling'), 'Curling')
  t.equal(texts.find('options.sport.chess'), undefined)
})

t.test('a faulty folder is refused with the file, the key and the fault', async (t) => {
  const faulty = [
    [{ 'brand.json': '{' }, /^brand\.json is not JSON: /],
    [{ 'brand.json': { nmae: 'Fitly' } }, 'brand.json: nmae is unknown'],
    [
      { 'brand.json': { colours: { dark: { accent: 'red' } } } },
      'brand.json: colours.dark.accent must be a colour such as #0f7a5c'
    ],
    [{ 'brand.json': { features: { storys: false } } }, 'brand.json: features.storys is unknown'],
    [{ 'brand.json': { features: { stories: 'no' } } }, 'brand.json: features.stories must be true or false'],
    [{ 'brand.json': { limits: { swipes: 3 } } }, 'brand.json: limits.swipes is unknown'],
    [
      { 'brand.json': { limits: { storiesPerDay: 0 } } },
      'brand.json: limits.storiesPerDay must be a whole number from 1 to 1000'
    ],
    [{ 'brand.json': { locales: ['id'] } }, 'brand.json: locales must contain en, the defaultLocale'],
    [{ 'brand.json': { logo: { svg: 'a.svg', png: 'a.png' } } }, /logo names a\.svg, which is not in the folder/],
    [{ 'texts/en.json': { 'mails.reset.titel': 'Hi' } }, 'texts/en.json: mails.reset.titel is unknown'],
    [{ 'texts/en.json': { 'mails.reset.title': '{nme}' } }, /mails\.reset\.title has the placeholder \{nme\}/],
    [{ 'texts/en.json': { 'mails.reset.title': '{' } }, /mails\.reset\.title is not an ICU message/],
    [
      { 'texts/en.json': { 'pushes.fastGoalReached.body': '{hours, plural, other {# hours}}' } },
      'texts/en.json: pushes.fastGoalReached.body lacks the plural form one'
    ],
    [{ 'options/sport.json': [{ id: 'A B', icon: '', sortOrder: 1 }] }, /sport\.json: 0\.id must be an id/],
    [{ 'options/sport.json': [] }, 'options/sport.json: must be a list of at least one option'],
    [
      { 'options/availability.json': [1, 2].map((sortOrder) => ({ id: 'noon', icon: null, sortOrder })) },
      'options/availability.json: 1.id must be another than noon, which the list has already'
    ],
    [{ 'mails/layout.html': '{{title}}{{content}}' }, 'mails/layout.html lacks the slot {{footer}}'],
    [{ 'options/sports.json': [] }, /^options\/sports\.json is unknown/]
  ] as const
  for (const [files, message] of faulty) {
    const folder = await givenFolder(t, files)
    t.throws(() => loadBrand(folder), { name: 'ConfigError', message })
  }
  t.throws(() => loadBrand('/nowhere'), { message: 'BRAND_DIR names a folder that does not exist: /nowhere' })
})

t.test('without FitMatch there is nothing that needs a profile, and other features stay on', async (t) => {
  const folder = await givenFolder(t, { 'brand.json': { features: { fitmatch: false }, limits: { storiesPerDay: 3 } } })
  const { features, limits } = loadBrand(folder)
  t.strictSame(Object.entries(features).filter(([, isOn]) => !isOn).map(([name]) => name), [
    'fitmatch',
    'activities',
    'chatImages'
  ])
  t.match(limits, { storiesPerDay: 3, freeSwipesPerDay: 10 })
})

t.test('the limits of the built-in brand are those of the published API', (t) => {
  t.strictSame(loadBrand().limits, {
    freeSwipesPerDay: 10,
    storiesPerDay: 10,
    storyVideoSeconds: 60,
    videoSeconds: 60,
    videoMegabytes: 50,
    usernameMinCharacters: 3,
    usernameMaxCharacters: 30,
    profilePhotos: 6,
    fitmatchVenues: 5,
    minimumAge: 18
  })
  t.end()
})

t.test('a ConfigMap has files without folders', async (t) => {
  const folder = await givenFolder(t, { 'texts.en.json': { 'mails.reset.title': 'Hi' } })
  t.equal(createTexts(loadBrand(folder)).of('en').format('mails.reset.title'), 'Hi')
})

t.test('a language names exercises in a file of its own, and unknown ones are refused', async (t) => {
  const ids = (await readFile(path.join(BUILT_IN, 'texts/exercises/es.json'), 'utf8')).match(/(?<=^ {2}")[^"]+/gm) ?? []
  const spanish = await givenFolder(t, {
    'texts.exercises.es.json': { [ids[0]!]: 'Mis abdominales' },
    'texts/exercises/fr.json': { [ids[0]!]: 'Mes abdominaux' }
  })
  t.ok(loadBrand(spanish))
  const { fr, es } = loadExerciseNames(ids, spanish)
  t.strictSame(fr, { [ids[0]!]: 'Mes abdominaux' })
  t.strictSame([Object.keys(es!).length, es![ids[0]!]], [ids.length, 'Mis abdominales'])
  const faulty = await givenFolder(t, { 'texts/exercises/es.json': { 'Moon_Walk': 'Caminata lunar', [ids[0]!]: ' ' } })
  t.throws(() => loadExerciseNames(ids, faulty), {
    name: 'ConfigError',
    message: `texts/exercises/es.json: ${ids[0]} must be a text of 1 to 100 characters\n` +
      'texts/exercises/es.json: there is no exercise Moon_Walk'
  })
})

t.test('the check names missing texts, long pushes, pale colours and a forgotten name', async (t) => {
  t.strictSame(checkBrand(loadBrand()), [])
  const folder = await givenFolder(t, {
    'brand.json': {
      name: 'Fitly',
      locales: ['en', 'es', 'fr'],
      colours: { light: { accent: '#ffcc00' } },
      supportEmail: 'help@fitly.example',
      securityContact: 'mailto:help@fitly.example',
      fromAddress: 'Fitly <hello@fitly.example>'
    },
    'texts/en.json': { 'pushes.followed.title': 'x'.repeat(70) }
  })
  const found = checkBrand(loadBrand(folder)).filter((line) => !line.startsWith('texts/fr.json'))
  t.strictSame(found, [
    'texts/en.json: pushes.followed.title has up to 70 characters, and a phone shows 65',
    'brand.json: colours.light.accent has a contrast of 1.5 to onAccent; it needs 4.5',
    'brand.json: colours.light.accent has a contrast of 1.4 to background; it needs 4.5',
    'brand.json: legalName still names Tandem'
  ])
  t.ok(checkBrand(loadBrand(folder)).includes('texts/fr.json: mails.reset.title is missing'))
})
