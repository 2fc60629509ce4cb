import { IntlMessageFormat } from 'intl-messageformat'
import t from 'tap'
import { LANGUAGES } from '@tandem/service-kit'
import { kinds, type Kind } from '../inbox/kinds.ts'
import { texts, write } from './texts.ts'

const told = (kind: Kind, params = {}, others = 0) => ({ kind, actorName: 'Ana', others, params })

/** The names of what a message needs. */
function needs (text: string) {
  return [...new Set([...text.matchAll(/\{\s*(\w+)\s*[,}]/g)].map(([, name]) => name))]
}

t.test('every notice has a text in every language, made of the same parts', (t) => {
  for (const kind of Object.keys(kinds) as Kind[]) {
    for (const language of LANGUAGES) {
      const { title, body } = texts[language][kind]
      t.doesNotThrow(() => [title, body].map((text) => new IntlMessageFormat(text, language)), `${language} ${kind}`)
      t.ok(title.length > 0 && body.length > 0)
    }
    if (kind === 'broadcast') continue
    const [english, indonesian] = LANGUAGES.map((language) => needs(texts[language][kind].body).filter((name) => texts.en[kind].body.includes(`{${name}`)))
    t.strictSame(english!.filter((name) => !indonesian!.includes(name)), [], kind)
  }
  t.end()
})

t.test('plurals are those of the language', (t) => {
  const likes = (others: number, language: 'en' | 'id') => write(told('postLiked', { excerpt: null }, others), language, 'UTC').body
  t.equal(likes(0, 'en'), 'Ana likes your post')
  t.equal(likes(1, 'en'), 'Ana and 1 other like your post')
  t.equal(likes(1_234, 'en'), 'Ana and 1,234 others like your post')
  t.equal(likes(0, 'id'), 'Ana menyukai postingan Anda')
  t.equal(likes(4, 'id'), 'Ana dan 4 lainnya menyukai postingan Anda')
  t.equal(likes(1_234, 'id'), 'Ana dan 1.234 lainnya menyukai postingan Anda')
  t.equal(write(told('fastingFinished', { hours: 1 }), 'en', 'UTC').body, 'You fasted for 1 hour. Well done!')
  t.equal(write(told('fastingFinished', { hours: 16.5 }), 'id', 'UTC').body, 'Anda berpuasa selama 16,5 jam. Hebat!')
  t.end()
})

t.test('each achievement and badge has words of its own, in every language', (t) => {
  // As dashboard and fitmatch give them.
  const achievements = [
    'FIRST_WORKOUT', 'TEN_WORKOUTS', 'HUNDRED_WORKOUTS', 'STREAK_7', 'STREAK_30', 'STREAK_100', 'WEEK_STREAK_4', 'FIRST_PR', 'TEN_PRS', 'LEVEL_10', 'one of tomorrow'
  ]
  const badges = ['PHOTO_VERIFIED', 'CONSISTENT', 'PR_ACHIEVER', 'VETERAN', 'EARLY_ADOPTER', 'one of tomorrow']
  for (const language of LANGUAGES) {
    t.equal(new Set(achievements.map((achievement) => write(told('achievementEarned', { achievement }), language, 'UTC').body)).size, achievements.length, language)
    t.equal(new Set(badges.map((badge) => write(told('badgeEarned', { badge }), language, 'UTC').body)).size, badges.length, language)
  }
  t.end()
})

t.test('what people write is text, whatever is in it', (t) => {
  const { body } = write({ kind: 'postCommented', actorName: '{name} # <b>', others: 0, params: { excerpt: "it's {x, plural} '{' <i>" } }, 'en', 'UTC')
  t.equal(body, "{name} # <b> commented on your post: “it's {x, plural} '{' <i>”")
  t.equal(write({ ...told('followed'), actorName: null }, 'id', 'UTC').body, 'Seseorang kini mengikuti Anda')
  t.end()
})

t.test('times are those of the reader', (t) => {
  const booking = told('reservationConfirmed', { title: 'Yoga', startsAt: '2026-11-21T20:00:00.000Z' })
  t.match(write(booking, 'en', 'America/New_York').body, /^Yoga, Saturday, November 21, 2026 at 3:00\sPM$/)
  t.match(write(booking, 'en', 'Asia/Jakarta').body, /^Yoga, Sunday, November 22, 2026 at 3:00\sAM$/)
  t.end()
})
