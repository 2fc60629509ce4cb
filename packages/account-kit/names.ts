import { readBrand } from '@tandem/brand-kit'
import { ValidationError } from '@tandem/http-kit'

// A name that consists only of these words and the fillers would impersonate the service. Any other word makes it
// acceptable, as in "Joe Root".
const RESERVED =
  `admin admins administrator mod mods moderator moderation support helpdesk help official staff system root
  security service team billing payments abuse postmaster webmaster noreply api bot fitmatch verified everyone
  null undefined`.split(/\s+/)
const FILLERS = 'the app fit fitness account customer care desk id indonesia real my user'.split(' ')

// Letters of other scripts, digits and symbols that look like a Latin letter. The ones that look like each other (i, l
// and 1) all become an i.
const LOOKALIKES = new Map(
  Object.entries({
    a: 'аα@4',
    b: 'вβ8',
    c: 'сϲ',
    d: 'ԁđ',
    e: 'еεє3',
    g: 'ɡ',
    h: 'нһ',
    i: 'іιıӏl1|!ł',
    j: 'ј',
    k: 'кκ',
    m: 'мμ',
    n: 'пոη',
    o: 'оοσօø0',
    p: 'рρ',
    r: 'г',
    s: 'ѕ$5',
    t: 'тτ7',
    u: 'սυ',
    v: 'νѵ',
    w: 'ѡω',
    x: 'хχ',
    y: 'уγ'
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter]))
)

/** Reduces a name to what it looks like: without case, accents, spaces and symbols. */
const skeletonOf = (name: string) =>
  name.normalize('NFKD').toLowerCase().replace(/./gsu, (letter) => LOOKALIKES.get(letter) ?? letter)
    .replace(/[^\p{L}\p{N}]/gu, '').replaceAll('rn', 'm').replaceAll('vv', 'w')

let impersonation: RegExp | undefined

/** Matches what looks like the brand or its staff. */
function readImpersonation () {
  if (impersonation) return impersonation
  const reserved = [readBrand().brand.name, ...RESERVED].map(skeletonOf)
  const words = [...reserved, ...FILLERS.map(skeletonOf)].join('|')
  impersonation = new RegExp(`^(?=.*(?:${reserved.join('|')}))(?:${words})+$`, 'u')
  return impersonation
}

const isReserved = (name: string) =>
  [name, name.replace(/\p{Nd}/gu, '')].some((each) => readImpersonation().test(skeletonOf(each)))

// Joiners belong to the spelling of scripts whose letters join, and to emoji. Any other invisible character is
// rejected.
const joined = String
  .raw`(?<=[\p{sc=Arab}\p{sc=Deva}\p{sc=Beng}\p{sc=Gujr}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Taml}\p{sc=Telu}])[\u200C\u200D]`
const emoji = String
  .raw`(?<=\p{Emoji})\uFE0F|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})`
const visible = new RegExp(`^(?:${joined}|${emoji}|[^\\p{DI}\\p{Cc}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}\\u2800])*$`, 'u')

type NameError = 'invisibleCharacters' | 'reservedName' | 'shapeOfUsername' | 'tooShortName'

/** Why `name` cannot be a name or username; undefined if it can. */
export function findNameError (name: string): NameError | undefined {
  if (!visible.test(name)) return 'invisibleCharacters'
  if (isReserved(name)) return 'reservedName'
}

const MIN_OWN_NAME_CHARACTERS = 2

/** Why people cannot choose `name` as their own; undefined if they can. */
export function findOwnNameError (name: string): NameError | undefined {
  return Array.from(name).length < MIN_OWN_NAME_CHARACTERS ? 'tooShortName' : findNameError(name)
}

/**
 * The source of a pattern for what a username can be: letters, digits and underscores, with single dots between them.
 * Mentions end where a username can end.
 */
export const USERNAME = String.raw`\w+(?:\.\w+)*`

const usernamePattern = new RegExp(`^${USERNAME}$`)

/** Why `username` cannot be chosen; undefined if it can. */
export function findUsernameError (username: string): NameError | undefined {
  return usernamePattern.test(username) ? findNameError(username) : 'shapeOfUsername'
}

/**
 * Validates a name that people choose: of an account, a username or a matching profile. The rule is the same
 * everywhere.
 * @param current their current name, which stays valid even if the rules have changed since
 * @throws ValidationError
 */
export function validateName (
  field: string,
  name: string | undefined,
  current?: string,
  findError: (name: string) => NameError | undefined = findNameError
) {
  const error = name === undefined || name === current ? undefined : findError(name)
  if (error) throw new ValidationError(error, [field], { field })
}
