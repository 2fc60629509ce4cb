import { readBrand } from '@tandem/brand-kit'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { kinds, type Kind } from './kinds.ts'
import { renderText } from './texts.ts'

const source = (kind: Kind, params = {}, others = 0) => ({ kind, actorName: 'Ana', othersCount: others, params })

t.test('every kind has its texts', (t) => {
  const { en = {} } = readBrand().brand.texts
  for (const kind of Object.keys(kinds)) t.ok(en[`pushes.${kind}.title`] && en[`pushes.${kind}.body`], kind)
  t.end()
})

t.test('every kind is requested somewhere', (t) => {
  const service = path.join(import.meta.dirname, '..')
  const sources = globSync(['*/*.ts'], { cwd: service, exclude: ['texts/*', 'test/*', '**/*.test.ts'] })
    .map((file) => readFileSync(path.join(service, file), 'utf8')).join('\n')
  const unused = Object.keys(kinds).filter((kind) => !sources.includes(`'${kind}'`))
  t.same(unused, [], 'kinds that no entry of notifications/registry.ts and no other action requests')
  t.end()
})

t.test('plurals follow the language', (t) => {
  const likes = (others: number, language: 'en' | 'id') =>
    renderText(source('postLiked', { excerpt: null }, others), language, 'UTC').body
  t.equal(likes(0, 'en'), 'Ana likes your post')
  t.equal(likes(1, 'en'), 'Ana and 1 other like your post')
  t.equal(likes(1_234, 'en'), 'Ana and 1,234 others like your post')
  t.equal(likes(0, 'id'), 'Ana menyukai postingan Anda')
  t.equal(likes(4, 'id'), 'Ana dan 4 lainnya menyukai postingan Anda')
  t.equal(likes(1_234, 'id'), 'Ana dan 1.234 lainnya menyukai postingan Anda')
  t.equal(renderText(source('fastingFinished', { hours: 1 }), 'en', 'UTC').body, 'You fasted for 1 hour. Well done!')
  t.equal(
    renderText(source('fastingFinished', { hours: 16.5 }), 'id', 'UTC').body,
    'Anda berpuasa selama 16,5 jam. Hebat!'
  )
  t.end()
})

t.test('each achievement and badge has its own text in every language', (t) => {
  const { brand, texts } = readBrand()
  const achievements = Object.keys(brand.texts['en'] ?? {})
    .flatMap((key) => /^achievements\.(\w+)\.title$/.exec(key)?.[1] ?? [])
  achievements.push('one of tomorrow')
  // As fitmatch defines them.
  const badges = ['PHOTO_VERIFIED', 'CONSISTENT', 'PR_ACHIEVER', 'VETERAN', 'EARLY_ADOPTER', 'one of tomorrow']
  for (const language of texts.locales) {
    t.equal(
      new Set(
        achievements.map((achievement) =>
          renderText(source('achievementEarned', { achievement }), language, 'UTC').body
        )
      ).size,
      achievements.length,
      language
    )
    t.equal(
      new Set(badges.map((badge) => renderText(source('badgeEarned', { badge }), language, 'UTC').body)).size,
      badges.length,
      language
    )
  }
  t.end()
})

t.test('user text is never parsed, whatever it contains, and has no markup', (t) => {
  const { body } = renderText(
    {
      kind: 'postCommented',
      actorName: '{name} # <b',
      othersCount: 0,
      params: { excerpt: "it's {x, plural} '{' <i>x</i> <3" }
    },
    'en',
    'UTC'
  )
  t.equal(body, "{name} # commented on your post: “it's {x, plural} '{' x <3”")
  t.equal(renderText({ ...source('followed'), actorName: null }, 'id', 'UTC').body, 'Seseorang kini mengikuti Anda')
  t.end()
})

t.test('times are in the reader’s time zone', (t) => {
  const booking = source('reservationConfirmed', { title: 'Yoga', startsAt: '2026-11-21T20:00:00.000Z' })
  t.match(renderText(booking, 'en', 'America/New_York').body, /^Yoga, Saturday, November 21, 2026 at 3:00\sPM$/)
  t.match(renderText(booking, 'en', 'Asia/Jakarta').body, /^Yoga, Sunday, November 22, 2026 at 3:00\sAM$/)
  t.end()
})
